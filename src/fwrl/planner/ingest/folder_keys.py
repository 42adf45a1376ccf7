"""Columns of CSV logs that folders name, as in `day=2024-05-01/log.csv` (Hive's partitions).

DuckDB reads those of Parquet itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from fwrl.planner.ingest.scan import FILE, name_in_duckdb
from fwrl.planner.ingest.sql import identifier, listed, quoted

KEY = re.compile(r"([^=]+)=(.*)")
MISSING = "__HIVE_DEFAULT_PARTITION__"  # what Hive writes for a missing value


def folder_keys(path: str) -> dict[str, str]:
    """The columns that the folders of a file name, and their values.

    >>> folder_keys("logs/day=2024-05-01/line=S%201/log.csv")
    {'day': '2024-05-01', 'line': 'S 1'}
    """
    found = (KEY.fullmatch(part) for part in Path(path).parts[:-1])
    return {unquote(match[1]): unquote(match[2]) for match in found if match is not None}


def with_folder_keys(scan: str, keys: tuple[str, ...], shown: Mapping[str, str]) -> str:
    """`scan` of files with further columns for `keys`; `shown` has the original path of each file."""
    if not keys:
        return scan
    files = f"[{listed(quoted(name_in_duckdb(path)) for path in shown)}]"
    terms = []
    for key in keys:
        values = [folder_keys(path)[key] for path in shown.values()]
        texts = ("NULL" if value in ("", MISSING) else quoted(value) for value in values)
        value = f"list_extract(CAST([{listed(texts)}] AS VARCHAR[]), list_position({files}, {FILE}))"
        terms.append(f"{value} AS {identifier(key)}")
    return f"(SELECT *, {listed(terms)} FROM {scan})"
