"""Reads logs with DuckDB into `TransitionCounts`. A log passes these chapters in order; imports point the other way:

1. `read_options`: how a log is read. `discover`: which files are meant. `reader`: DuckDB, what it scans, its limits.
2. `sources`: everything that may be given as a log, as something that DuckDB can scan: files (`csv` has a
   separate chapter), tables in memory, Python objects (`rows`).
3. `columns`: which columns are state, next_state, action, reward, trip, time; `column_sql` and `times`: those in SQL.
4. `log`: all of them together, and the names of the DuckDB tables that the next steps share.
5. `visits`: visits to transitions. `group`: transitions to edges, with their latest trips. `encode`: edges to arrays.

`read_log` runs all of it, and knows files again by their content.
"""
