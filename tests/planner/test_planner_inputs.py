"""Pipes, files of any name, archives with more than logs in them, and Python objects as programs have them."""

from __future__ import annotations

import datetime
import io
import os
import threading
import unicodedata
import warnings

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.dataset  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

import fwrl
from fwrl.errors import FileError, FwrlError, OptionError
from fwrl.planner.ingest.read_options import FitOptions, LogError, reading_options
from systems import unix

TEXT = "state,next_state\na,b\nb,c\n"
TABLE = pa.table({"state": ["a", "b"], "next_state": ["b", "c"]})


def length(source, **options):
    """Number of steps from a to c."""
    return len(fwrl.fit(source, **options).plan("a", "c").steps)


@unix
@pytest.mark.parametrize("name", ["pipe", "pipe.csv"])
def test_a_pipe_is_read_once_to_its_end(tmp_path, name):
    os.mkfifo(tmp_path / name)
    writer = threading.Thread(target=(tmp_path / name).write_text, args=(TEXT,), daemon=True)
    writer.start()
    assert length(tmp_path / name) == 2
    writer.join(60)


@unix
def test_an_open_file_is_read_by_the_name_that_shells_give_it(tmp_path):
    reading, writing = os.pipe()
    os.write(writing, TEXT.encode())
    os.close(writing)
    try:
        assert length(f"/dev/fd/{reading}") == 2
    finally:
        os.close(reading)


def test_a_file_of_any_name_is_read_as_what_it_begins_with(tmp_path):
    (tmp_path / "today.log").write_text(TEXT)
    (tmp_path / "lines").write_text('{"state": "a", "next_state": "b"}\n{"state": "b", "next_state": "c"}\n')
    pq.write_table(TABLE, tmp_path / "table.0")
    for name in ("today.log", "lines", "table.0"):
        assert length(tmp_path / name) == 2, name
    (tmp_path / "picture").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    with pytest.raises(FileError, match="expected a log that ends in one of"):
        fwrl.fit(tmp_path / "picture")


def test_arrow_streams_are_read_from_files_and_from_standard_input(tmp_path):
    buffer = pa.BufferOutputStream()
    with pa.ipc.new_stream(buffer, TABLE.schema) as stream:
        stream.write_table(TABLE)
    (tmp_path / "log.arrow").write_bytes(buffer.getvalue())
    assert length(tmp_path / "log.arrow") == length(io.BytesIO(buffer.getvalue())) == 2


def test_what_describes_logs_is_none_itself(tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "log.csv").write_text(TEXT)
    (tmp_path / "logs" / "license.txt").write_text("Do what you like.\n")
    assert length(tmp_path / "logs") == 2


def test_text_streams_are_read_and_bytes_are_no_log(tmp_path):
    (tmp_path / "log.csv").write_text(TEXT)
    with (tmp_path / "log.csv").open() as file:
        assert length(file) == length(io.StringIO(TEXT)) == 2
    with pytest.raises(FwrlError, match="got bytes"):
        fwrl.fit(TEXT.encode())


def test_moments_with_a_zone_are_moments_without_a_warning():
    zone = datetime.timezone(datetime.timedelta(hours=2))
    times = [datetime.datetime(2024, 3, 1, 1, tzinfo=zone), datetime.datetime(2024, 3, 1, 0, tzinfo=datetime.UTC)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        planner = fwrl.fit([{"trip": 1, "time": time, "state": state} for time, state in zip(times, "ab", strict=True)])
    assert planner.plan("a", "b").states == ("a", "b")  # one in the morning there is eleven at night here
    assert planner.edges()["last"].to_pylist() == [datetime.datetime(2024, 2, 29, 23)]


def test_missing_values_of_pandas_are_missing():
    pandas = pytest.importorskip("pandas")
    times = [pandas.Timestamp(2024, 3, 1), pandas.NaT, pandas.Timestamp(2024, 3, 3, tz="Europe/Zurich")]
    visits = [{"trip": 1, "time": time, "state": state} for time, state in zip(times, "abc", strict=True)]
    with pytest.raises(LogError, match="row 2: expected a value as time, got nothing"):
        fwrl.fit(visits)
    assert length(visits, skip_bad=True) == 1
    assert fwrl.fit([("a", "b"), ("b", pandas.NA)], skip_bad=True).summary.skipped == 1


def test_an_index_with_a_name_is_a_column():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"trip": [1, 1, 1], "time": [1, 2, 3], "state": list("abc")})
    assert length(frame.set_index(["trip", "time"])) == 2


def test_a_data_set_of_arrow_is_read(tmp_path):
    pq.write_table(TABLE, tmp_path / "log.parquet")
    assert length(pyarrow.dataset.dataset(tmp_path / "log.parquet")) == 2


def test_columns_without_any_value_are_missing_values(tmp_path):
    for name, nothing in (("reward", "a number"), ("action", "a value"), ("time", "a value")):
        pq.write_table(TABLE.append_column(name, pa.nulls(2)), tmp_path / "log.parquet")
        with pytest.raises(LogError, match=rf"row 1: expected {nothing}.* as {name}, got nothing"):
            fwrl.fit(tmp_path / "log.parquet")


def test_columns_of_different_length_are_named():
    with pytest.raises(FwrlError, match="'state' has 2 values and 'next_state' 1"):
        fwrl.fit({"state": ["a", "b"], "next_state": ["b"]})


def test_one_column_for_both_states_is_a_slip():
    table = {"1": ["x", "y"], "next_state": ["a", "b"]}
    with pytest.raises(LogError, match="state and next_state are the same column of the table, next_state"):
        fwrl.fit(table, columns={"state": "2"})


def test_a_cost_beside_a_reward_is_left_out_by_an_empty_name():
    table = {"state": ["a"], "next_state": ["b"], "cost": [2.0], "reward": [-3.0]}
    with pytest.raises(LogError, match="both a cost and a reward") as error:
        fwrl.fit(table)
    assert error.value.option == "cost"
    assert fwrl.fit(table, columns={"reward": ""}).plan("a", "b").reward == -2


@pytest.mark.parametrize("options", [{}, {"cell_width": 1.0}])
def test_two_coordinates_are_not_enough_for_transitions(options):
    table = {"state": ["a"], "next_state": ["b"], "x": [0.0], "y": [5.0]}
    with pytest.raises(LogError, match="which need four columns of coordinates") as error:
        fwrl.fit(table, cells=["x", "y"], **options)
    assert error.value.option == "visits"


@pytest.mark.parametrize(("kept", "asked"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_a_name_is_found_however_its_accents_are_composed(kept, asked):
    name = unicodedata.normalize(kept, "Zürich")
    planner = fwrl.fit([(name, "b"), ("b", name)])
    other = unicodedata.normalize(asked, "Zürich")
    assert planner.plan(other, "b").start == name
    assert [state.state for state in planner.find_states(other.upper())] == [name]
    both = fwrl.fit([(unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name))])
    assert both.states.find(name) == list(both.states).index(name)


def test_identifiers_near_two_to_the_64_stay_apart(tmp_path):
    largest = 2**64 - 1
    ids = {name: pa.array(column, pa.uint64()) for name, column in (("state", [largest, 5]), ("next_state", [5, 6]))}
    pq.write_table(pa.table(ids), tmp_path / "log.parquet")
    arrays = {name: np.array(column.to_pylist(), np.uint64) for name, column in ids.items()}
    for log in (tmp_path / "log.parquet", arrays, [[largest, 5, 6]]):
        planner = fwrl.fit(log, shape="trajectories") if isinstance(log, list) else fwrl.fit(log)
        assert planner.plan(largest, 6).states == (str(largest), "5", "6")


def test_editors_and_mypy_know_the_options_of_fit():
    declared = {name: each.type for name, each in reading_options().items()}
    assert {name: each.__forward_arg__ for name, each in FitOptions.__annotations__.items()} == declared
    with pytest.raises(OptionError, match=r"half_live.*half_life"):
        fwrl.fit([("a", "b")], half_live="30d")  # type: ignore[call-arg]
