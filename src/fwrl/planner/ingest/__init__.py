"""Reads logs with DuckDB into an `Experience`.

The steps run in this order and share the DuckDB tables that `schema` declares:

1. `sources`: what was given as a log, as one or more things that DuckDB can scan (`found_files`, `copies`,
   `file_formats`, `csv_format`, `csv_beginning`; `rows`, `column_arrays`).
2. `log`: which of their columns are state, next_state, action, reward, trip and time (`columns`, `expressions`), as SQL
   (`label_terms`, `number_terms`, `times`, `cell_terms`); `options` and `period` say how a log is read.
3. `grouping`: rows to transitions (`visits`), and transitions to edges; bad rows are refused or skipped (`bad_rows`).
4. `latest`: the latest trips of each edge.
5. `encoding`: labels to codes (`label_codes`), and tables to the arrays of an `Experience`, also the ends of trips of
   visits (`trip_ends`).
6. `connections`: which states single trips connect.

`learning` runs all of them (`attempts`: again in another way where DuckDB needs it), and `log_files` knows files again
by their content. What is learned from several logs is put together by `planner.merging`. `coverage` reads a log again
for the trips of a route.
"""
