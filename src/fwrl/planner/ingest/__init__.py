"""Reads logs with DuckDB into an `Experience`."""
