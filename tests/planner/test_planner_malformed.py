"""Malformed logs are read or refused with a message; none crashes, hangs or leaves a file."""

from __future__ import annotations

import gzip

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

import fwrl
from fwrl.errors import FwrlError

NAMES = ["state", "next_state", "action", "reward", "trip", "time", "from", "", "état", "reward", "x y", '"q"']
VALUES = [
    *["a", "b", "c", "1", "02", "-1", "0.5", "nan", "inf", "-inf", "1e400", "", " ", "NULL", "ä", "\0", '"', '""', "'"],
    *["2024-01-01", "25:61", "true", "[1]", "{}", "a,b", "a;b", "\t", "x" * 300, "9" * 40, "\ufeff", "\U0001f697"],
]


def text_log(rng, delimiter):
    width = int(rng.integers(0, 7))
    names = list(rng.choice(NAMES[:6] if rng.random() < 0.7 else NAMES, width, replace=bool(rng.random() < 0.2)))
    lines = [delimiter.join(names)]
    for _ in range(int(rng.integers(0, 12))):
        n = width if rng.random() < 0.8 else int(rng.integers(0, 9))
        lines.append(delimiter.join(rng.choice(VALUES, n)))
    return rng.choice(["\n", "\r\n", "\r"]).join(lines) + ("\n" if rng.random() < 0.8 else "")


def json_log(rng):
    lines = []
    for _ in range(int(rng.integers(0, 10))):
        values = [
            "1",
            '"a"',
            "null",
            "-1.5",
            "true",
            "[1,2]",
            '{"x":1}',
            "1e999",
            "NaN",
            '"\\ud800"',
            "12345678901234567890",
        ]
        pairs = [f'"{name}":{rng.choice(values)}' for name in rng.choice(NAMES[:6], int(rng.integers(0, 7)))]
        lines.append("{" + ",".join(pairs) + ("}" if rng.random() < 0.9 else ""))
    if rng.random() < 0.2:
        lines.append(rng.choice(["[", "]", "garbage", "{}", "[1]", '"text"', "3"]))
    return "\n".join(lines)


def parquet_log(path, rng):
    kinds = [
        pa.array([1, 2, None]),
        pa.array(["a", "b", "c"]),
        pa.array([1.5, float("nan"), -1.0]),
        pa.array([True, False, None]),
        pa.array([[1], [2], []]),
        pa.array([b"x", b"y", b"\xff"]),
        pa.array([2**63, 1, 2], pa.uint64()),
        pa.array([0, 1, 2], pa.timestamp("us")),
        pa.array([None, None, None]),
    ]
    names = list(rng.choice(NAMES[:6], int(rng.integers(1, 7)), replace=False))
    pq.write_table(pa.table({name: kinds[rng.integers(len(kinds))] for name in names}), path)


def malformed(folder, k, rng):
    kind = k % 5
    if kind == 0:
        path = folder / "log.csv"
        path.write_text(text_log(rng, str(rng.choice([",", ";", "\t", "|"]))), newline="")
    elif kind == 1:
        path = folder / "log.jsonl"
        path.write_text(json_log(rng))
    elif kind == 2:
        path = folder / "log.parquet"
        parquet_log(path, rng)
    elif kind == 3:
        path = folder / str(rng.choice(["log.csv", "log.jsonl", "log.parquet", "log.csv.gz"]))
        path.write_bytes(rng.bytes(int(rng.integers(0, 200))))
    else:
        path = folder / "log.csv.gz"
        whole = bytearray(gzip.compress(text_log(rng, ",").encode()))
        del whole[rng.integers(len(whole)) :]
        path.write_bytes(bytes(whole))
    return path


def fuzz(folder, count):
    rng = np.random.default_rng(11)
    refused, said = 0, []
    for k in range(count):
        path = malformed(folder, k, rng)
        try:
            planner = fwrl.fit(path, skip_bad=bool(rng.random() < 0.4))
            assert planner.summary.transitions > 0
            planner.plan(planner.states[0], planner.states[0])
        except FwrlError as error:
            refused += 1
            said.append(str(error))
        assert list(folder.iterdir()) == [path]
        path.unlink()
    assert all(text and "\n" not in text for text in said)
    return refused


def test_an_array_of_bytes_that_are_no_text_is_refused_in_words(tmp_path):
    (tmp_path / "log.json").write_bytes(b"[\xa2\xef5")
    with pytest.raises(FwrlError, match=r"expected JSON objects in .*log\.json.*; write one in each line"):
        fwrl.fit(tmp_path / "log.json")


def test_malformed_logs_are_read_or_refused_in_words(tmp_path):
    assert fuzz(tmp_path, 60) > 30


@pytest.mark.stress
def test_ten_thousand_malformed_logs_are_read_or_refused_in_words(tmp_path):
    assert fuzz(tmp_path, 10_000) > 5_000
