"""Odd logs at the shell: each is read, or refused in one sentence that names a remedy, and nothing is left behind."""

from __future__ import annotations

import io
import sys

import pyarrow as pa  # type: ignore[import-untyped]
import pytest

REFUSED = {
    "empty": ("", "leave it out, or write it again"),
    "header-only": ("state,next_state\n", "give rows of transitions, or at least two visits of one trip"),
    "latin-1": ("state,next_state\nZürich,Genève\n".encode("latin-1"), "--encoding"),
    "duplicate-columns": ("state,state,next_state\na,b,c\n", "--columns"),
    "positive-cycle": ("state,next_state,reward\na,b,1\nb,a,2\n", "name their column cost"),
    "missing-trip": ("trip,time,state\n1,1,a\n,2,b\n1,3,c\n", "--skip-bad"),
    "huge-field": (f"state,next_state\n{'x' * 3_000_000},b\nb,c\n", "--skip-bad"),
    "misspelt-column": ("stăte,next_state\na,b\n", "--columns"),
    "not-a-number": ("state,next_state,reward\na,b,nan\nb,c,-inf\n", "--skip-bad"),
    "open-quote": ('state,next_state\n"a,b\nc,d\n', "--skip-bad"),
    "decimal-comma": ("state;next_state;reward\na;b;-1,5\nb;c;-2,5\n", "--decimal ,"),
    "prose": ("hello world, this is not a log\n", "--columns"),
    "columns-of-blanks": ("state next_state  reward\na b -1.5\n", "put commas there, as with tr -s ' ' ,"),
    "broken-line.jsonl": ('{"state":1,"next_state":2}\n{"state":1,\n', "--skip-bad"),
    "broken-array.json": ('[{"state":1,"next_state":2},\n {"state":1 "next_state":3}]', "write one in each line"),
    "no-objects.json": ("[1, 2, 3]", "write one in each line"),
    "false.parquet": ("state,next_state\na,b\n", "name it after the format that it has"),
}
READ = {
    "one-row": ("state,next_state\na,b\n", ["a", "b"]),
    "utf-16": ("state,next_state\nZürich,Genève\n".encode("utf-16"), ["Genève", "Zürich"]),
    "huge-ids": ("state,next_state\n18446744073709551615,99999999999999999999999999\n", None),
    "time-zones": ("trip,time,state\n1,2024-03-31T03:30+02:00,b\n1,2024-03-31T01:15+01:00,a\n", ["a", "b"]),
    "emoji": ("state,next_state\n🚲,東京\n東京,naïve café\n", ["naïve café", "東京", "🚲"]),
    "long-name": (f"state,next_state\n{'x' * 300_000},b\n", ["b", "x" * 300_000]),
    "blanks": (" state , next_state \n a , b \n", ["a", "b"]),
    "capitals": ("State,NEXT_STATE,Reward\na,b,-1\n", ["a", "b"]),
}


def written(folder, name, text):
    path = folder / (name if "." in name else f"{name}.csv")
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path.name


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_in_one_sentence_with_a_remedy(call, tmp_path, name):
    text, remedy = REFUSED[name]
    file = written(tmp_path, name, text)
    code, out, err = call("fit", file, "-o", "t.fwrl")
    assert (code, out) == (2, "")
    assert err.startswith("fwrl: ")
    assert err.count("\n") == 1
    assert remedy in err
    assert [path.name for path in tmp_path.iterdir()] == [file]


@pytest.mark.parametrize("name", READ)
def test_what_can_be_read_is_read_with_its_names(call, tmp_path, name):
    from fwrl.planner import Planner

    text, states = READ[name]
    assert call("fit", written(tmp_path, name, text), "-o", "t.fwrl").code == 0
    found = Planner.load(tmp_path / "t.fwrl").states
    assert len(found) == 2 if states is None else list(found) == states


def test_zstd_on_standard_input_is_refused_with_how_to_unpack_it(call, tmp_path, monkeypatch):
    packed = pa.Codec("zstd").compress(b"state,next_state\na,b\n", asbytes=True)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
    code, _, err = call("fit", "-", "-o", "t.fwrl")
    assert (code, err) == (2, "fwrl: 'standard input' can't be read packed; unpack it first, as with zstd -d\n")
    assert list(tmp_path.iterdir()) == []
