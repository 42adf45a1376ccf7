"""Reads logs with DuckDB into an `Experience`.

The steps run in this order and share the DuckDB tables that `schema` declares:

1. `sources`: what was given as a log, as one or more things that DuckDB can scan (`found_files`, `file_formats`,
   `csv_format`; `rows`, `column_arrays`).
2. `log`: which of their columns are state, next_state, action, reward, trip and time (`columns`, `expressions`), as SQL
   (`label_terms`, `number_terms`, `times`, `cell_terms`); `options` and `period` say how a log is read.
3. `grouping`: rows to transitions (`visits`), and transitions to edges; bad rows are refused or skipped (`bad_rows`).
4. `latest`: the latest trips of each edge.
6. `encoding`: labels to codes, and tables to the arrays of an `Experience`.
7. `connections`: which states single trips connect.
"""
