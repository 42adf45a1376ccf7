"""Label encoding: the distinct labels of a log in order, and a table from label to code."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fwrl.planner.ingest.log import Log
from fwrl.planner.ingest.reader import Reader
from fwrl.planner.ingest.sql import listed
from fwrl.planner.labels import IntegerLabels, Labels, TextLabels

AT_ONCE = 200_000  # labels of text fetched at once


def encode(reader: Reader, codes: str, table: str, columns: Sequence[str], log: Log, name: str) -> Labels:
    """The labels in `columns` of `table`, which hold what the log calls `name`; makes the table `codes`."""
    integer = _is_integer(reader, log, name, table, columns)
    each = (f"SELECT DISTINCT {column} AS label FROM {table} WHERE {column} IS NOT NULL" for column in columns)
    typed = "label::BIGINT" if integer else "label::VARCHAR"
    reader.con.execute(
        f"CREATE OR REPLACE TEMP TABLE {codes} AS "
        f"SELECT label, (row_number() OVER (ORDER BY {typed}) - 1)::INTEGER AS code FROM ({' UNION '.join(each)})"
    )
    if integer:
        numbers = reader.columns(f"SELECT {typed} AS label FROM {codes} ORDER BY code")["label"]
        return IntegerLabels(numbers.astype(np.int64))
    return _text_labels(reader, codes)


def _text_labels(reader: Reader, codes: str) -> Labels:
    """The labels of `codes` as text, fetched in pieces: a string of Python takes several times its text."""
    n = int(reader.one(f"SELECT count(*) FROM {codes}")[0])
    text, offsets, end = [], np.zeros(n + 1, np.int64), 0
    for first in range(0, n, AT_ONCE):
        piece = reader.columns(
            f"SELECT label::VARCHAR AS label, strlen(label::VARCHAR) AS size FROM {codes} "
            f"WHERE code >= {first} AND code < {first + AT_ONCE} ORDER BY code"
        )
        text.append("".join(piece["label"]).encode())
        ends = offsets[first + 1 : first + 1 + len(piece["size"])]
        np.cumsum(piece["size"], out=ends)
        ends += end
        end = int(ends[-1])
    return TextLabels(np.frombuffer(b"".join(text), np.uint8), offsets)


def _is_integer(reader: Reader, log: Log, name: str, table: str, columns: Sequence[str]) -> bool:
    """Whether labels are integers; text from CSV is read as integers if every label is the usual text of one."""
    if log.kinds[name] != "undecided":
        return log.kinds[name] == "integer"
    usual = (f"coalesce(try_cast({c} AS BIGINT)::VARCHAR = {c}::VARCHAR, {c} IS NULL)" for c in columns)
    whole = (f"coalesce(bool_and({each}), true)" for each in usual)
    return all(reader.one(f"SELECT {listed(whole)} FROM {table}"))
