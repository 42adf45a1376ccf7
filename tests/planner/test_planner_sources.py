"""What real logs look like is read, or refused with the row and what is wrong."""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import json
import lzma
import subprocess
import sys

import duckdb
import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.feather  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

import fwrl
from fwrl.errors import FileError, FwrlError

ROWS = [("a", "b", -1.5), ("b", "c", -2.0)]
NAMES = ("state", "next_state", "reward")
TEXT = "state,next_state,reward\na,b,-1.5\nb,c,-2\n"
TABLE = pa.table([list(column) for column in zip(*ROWS, strict=True)], names=NAMES)
JSON = json.dumps([dict(zip(NAMES, row, strict=True)) for row in ROWS])


def value(source, **options):
    return fwrl.fit(source, **options).value("a", "c")


def log(folder, text, name="log.csv"):
    path = folder / name
    path.write_text(text, newline="")
    return path


TEXTS = {
    "index of pandas": ",state,next_state,reward\n0,a,b,-1.5\n1,b,c,-2.0\n",
    "carriage returns": "state,next_state,reward\ra,b,-1.5\rb,c,-2\r",
    "byte order mark": "\ufeffstate;next_state;reward\na;b;-1.5\nb;c;-2\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("skip_bad", [False, True])
def test_texts_as_programs_write_them(tmp_path, text, skip_bad):
    planner = fwrl.fit(log(tmp_path, text), skip_bad=skip_bad)
    assert (planner.value("a", "c"), planner.summary.skipped) == (-3.5, 0)


@pytest.mark.parametrize("rows", [0, 90_000])
def test_line_endings_that_differ_are_refused_with_a_remedy(tmp_path, rows):
    many = "".join(f"s{k},s{k + 1},-1\n" for k in range(rows))
    path = log(tmp_path, f"state,next_state,reward\n{many}a,b,-1.5\r\nb,c,-2\r\n")
    with pytest.raises(FwrlError, match=r"log\.csv: its lines have different endings; .* dos2unix"):
        fwrl.fit(path)


@pytest.mark.parametrize("nothing", ["", "NA", "null", "NULL", "<NA>", "N/A"])
def test_missing_values_are_bad_rows_however_they_are_written(tmp_path, nothing):
    path = log(tmp_path, f'state,next_state,reward\na,b,-1\nb,{nothing},-1\n"NA",b,-1\n')
    said = r"log\.csv, row 2: expected a value as next_state, got nothing \(empty, NA or null\)"
    with pytest.raises(FwrlError, match=said):
        fwrl.fit(path)
    assert list(fwrl.fit(path, skip_bad=True).states) == ["NA", "a", "b"]  # in quotes it is a name
    if nothing:
        assert nothing in list(fwrl.fit(path, missing=[""]).states)


def test_decimal_commas_are_named_and_read_on_request(tmp_path):
    path = log(tmp_path, 'state,next_state,reward\na,b,-1\nb,c,"-1,5"\n')
    with pytest.raises(
        FwrlError, match=r"row 2: expected a number .* as reward, got '-1,5'; set decimal=',' for decimal commas"
    ):
        fwrl.fit(path)
    assert value(path, decimal=",") == -2.5
    path = log(tmp_path, "trip;time;state;cost\n1;0,5;a;2,5\n1;1,25;b;0\n")
    planner = fwrl.fit(path, decimal=",")
    assert (planner.value("a", "b"), planner.edges()["last"].to_pylist()) == (-2.5, [0.5])
    with pytest.raises(FwrlError, match=r"row 1: expected a number .* as reward, got '-1.500,5'"):
        fwrl.fit(log(tmp_path, "state;next_state;reward\na;b;-1.500,5\n"), decimal=",")
    with pytest.raises(FwrlError, match=r"row 3: expected a number up to .* as reward, got 'much'"):
        fwrl.fit(log(tmp_path, f"{TEXT}c,d,much\n"))


def test_files_without_a_header_are_read_by_number(tmp_path):
    path = log(tmp_path, "a,b,-1.5\nb,c,-2\n")
    by_number = {"state": "1", "next_state": "2", "reward": "#3"}
    assert value(path, columns=by_number) == -3.5
    assert value(log(tmp_path, "a\tb\t-1.5\nb\tc\t-2\n", "log.txt"), columns=by_number) == -3.5
    with pytest.raises(FwrlError, match=r"first line of '.*log.csv' has the name 'next_state'; set header=True"):
        fwrl.fit(log(tmp_path, TEXT), columns=by_number)
    assert value(log(tmp_path, TEXT), columns=by_number, header=True) == -3.5
    with pytest.raises(FwrlError, match="has no column '4' for reward"):
        fwrl.fit(log(tmp_path, "a,b,-1\n"), columns={**by_number, "reward": "4"})
    with pytest.raises(FwrlError, match=r"has #1, #2; name the columns with .*, or give their numbers"):
        fwrl.fit(log(tmp_path, "7,7\n8,9\n"))


DATES = [
    ("13/04/2024 10:00", "14/04/2024 09:00", "day-first"),
    ("13.04.24", "14.04.24", "day-first"),
    ("04-13-2024 09:00 PM", "04-14-2024 08:00 AM", "month-first"),
    ("20240413T1000", "20240414T0900", "%Y%m%dT%H%M"),
]


@pytest.mark.parametrize(("first", "second", "dates"), DATES)
def test_dates_in_any_order_are_read_as_said(tmp_path, first, second, dates):
    path = log(tmp_path, f"trip,time,state\n1,{second},b\n1,{first},a\n")
    planner = fwrl.fit(path, dates=dates)
    assert planner.plan("a", "b").reward == -1
    assert str(planner.explain("a", "b").steps[0].last).startswith("2024-04-13")


def test_dates_that_may_be_either_way_are_asked_about(tmp_path):
    path = log(tmp_path, "trip,time,state\n1,03/04/2024,a\n1,04/04/2024,b\n")
    with pytest.raises(FwrlError, match=r"column 'time' of .* may be dates with the day or the month first; set dates"):
        fwrl.fit(path)
    with pytest.raises(FwrlError, match="expected dates to be one of day-first, month-first"):
        fwrl.fit(path, dates="first-day")
    path = log(tmp_path, "trip,time,state\n1,13/04/2024,a\n1,04/13/2024,b\n1,15/04/2024,c\n")
    with pytest.raises(FwrlError, match=r"row 2: expected a date as time, got '04/13/2024'"):
        fwrl.fit(path, dates="day-first")


SETTLED = [
    (["01/02/2024", "13/02/2024"], "2024-02-01"),
    (["13/02/2024", "01/03/2024", "02/03/2024"], "2024-02-13"),
    (["01/02/2024 08:00", "01/13/2024 09:00"], "2024-01-02"),
    (["01.02.24", "", "25.02.24"], "2024-02-01"),
]


@pytest.mark.parametrize(("times", "first"), SETTLED)
def test_one_date_that_can_only_be_read_one_way_settles_all(tmp_path, times, first):
    rows = "".join(f"{number},{time},s{number},t{number}\n" for number, time in enumerate(times))
    planner = fwrl.fit(log(tmp_path, f"trip,time,state,next_state\n{rows}"), skip_bad=True)
    assert str(planner.explain("s0", "t0").steps[0].last).startswith(first)


def test_a_date_in_one_file_settles_the_others(tmp_path):
    header = "trip,time,state,next_state\n"
    (tmp_path / "a.csv").write_text(f"{header}1,01/02/2024,a,b\n")
    (tmp_path / "b.csv").write_text(f"time,{header.replace('time,', '')}13/02/2024,2,b,c\n")
    planner = fwrl.fit([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert str(planner.explain("a", "b").steps[0].last).startswith("2024-02-01")


def test_dates_that_contradict_each_other_are_asked_about(tmp_path):
    path = log(tmp_path, "trip,time,state\n1,13/02/2024,a\n1,02/14/2024,b\n1,03/04/2024,c\n")
    with pytest.raises(FwrlError, match="may be dates with the day or the month first; set dates"):
        fwrl.fit(path)


LONG = 5_000_000
LONG_LINES = {
    "all in one line": "state,next_state," + "A,B," * (LONG // 4),
    "header": "state,next_state," + "A,B," * (LONG // 4) + "\nA,B\n",
    "first": "state,next_state\nA," + "B" * LONG,
    "middle": "state,next_state\nA,B\n" + "A" * LONG + ",C\nB,C\n",
    "last": "state,next_state\nA,B\nA," + "B" * LONG,
}


@pytest.mark.parametrize("text", LONG_LINES.values(), ids=LONG_LINES)
def test_a_line_of_megabytes_is_told(tmp_path, text):
    with pytest.raises(FwrlError, match=r"a line of .*more than [12],\d{3},\d{3} bytes"):
        fwrl.fit(log(tmp_path, text))


S2 = [9749618446378729472, 9749618446378729473, 7]


def test_unsigned_ids_beyond_63_bits_are_names(tmp_path):
    ids = pa.table({"state": pa.array(S2[:2], pa.uint64()), "next_state": pa.array(S2[1:], pa.uint64())})
    pq.write_table(ids, tmp_path / "log.parquet")
    text = log(tmp_path, "state,next_state\n" + "".join(f"{s},{n}\n" for s, n in itertools.pairwise(S2)))
    for source in (ids, tmp_path / "log.parquet", text, list(itertools.pairwise(S2))):
        assert fwrl.fit(source).plan(S2[0], S2[2]).states == tuple(map(str, S2))
    small = pa.table({"state": pa.array([1], pa.uint64()), "next_state": pa.array([2], pa.uint64())})
    assert list(fwrl.fit(small).states) == [1, 2]


def test_integers_with_gaps_that_arrive_as_floats_are_integers(tmp_path):
    columns = {"state": np.array([1.0, 2.0, np.nan]), "next_state": np.array([2.0, 3.0, 4.0])}
    pq.write_table(pa.table(columns), tmp_path / "log.parquet")
    text = log(tmp_path, "state,next_state\n1,2.0\n2,3.0\n3,\n")
    for source in (columns, pa.table(columns), tmp_path / "log.parquet", text):
        with pytest.raises(FwrlError, match=r"row 3: expected a value as (next_)?state"):
            fwrl.fit(source)
        planner = fwrl.fit(source, skip_bad=True)
        assert (list(planner.states), planner.summary.skipped) == ([1, 2, 3], 1)
    with pytest.raises(
        FwrlError, match=r"expected strings or integers as state, column 'state' of .* has 1.5 in row 2"
    ):
        fwrl.fit(pa.table({"state": [1.0, 1.5], "next_state": [2.0, 3.0]}))
    assert list(fwrl.fit(log(tmp_path, "state,next_state\n1.0,2.1\n")).states) == ["1.0", "2.1"]  # versions, say


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl", "log.json", "log.parquet", "log.arrow"])
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_every_format_is_read_and_text_also_packed(tmp_path, name, packed):
    plain = written(tmp_path, name)
    path = tmp_path / f"packed.{name}{packed}"
    path.write_bytes(gzip.compress(plain.read_bytes()) if packed else plain.read_bytes())
    if packed and name in ("log.parquet", "log.arrow"):
        with pytest.raises(FileError, match="unpack it first, as with"):
            fwrl.fit(path)
    else:
        assert value(path) == -3.5


@pytest.mark.parametrize(
    ("name", "content", "command"),
    [
        ("log.csv.bz2", bz2.compress(TEXT.encode()), "bunzip2"),
        ("log.csv.xz", lzma.compress(TEXT.encode()), "unxz"),
        ("log.csv.zst", pa.Codec("zstd").compress(TEXT.encode(), asbytes=True), "zstd -d"),
        ("logs.zip", b"PK\x03\x04", "unzip"),
    ],
)
def test_a_log_packed_in_another_way_is_refused_with_how_to_unpack_it(tmp_path, name, content, command):
    path, nameless = tmp_path / "logs" / name, tmp_path / "nameless"
    path.parent.mkdir()
    for each in (path, nameless):
        each.write_bytes(content)
    for given in (path, path.parent, nameless, io.BytesIO(content)):
        with pytest.raises(FileError, match=f"unpack it first, as with {command}$"):
            fwrl.fit(given)


def written(folder, name):
    path = folder / name
    if name.endswith("parquet"):
        pq.write_table(TABLE, path)
    elif name.endswith("arrow"):
        pyarrow.feather.write_feather(TABLE, path)
    elif name.endswith("jsonl"):
        path.write_text("".join(json.dumps(row) + "\n" for row in TABLE.to_pylist()))
    else:
        path.write_text(JSON if name.endswith("json") else TEXT)
    return path


WILD = ["trips[1]", "trips[12]", *(() if sys.platform == "win32" else ("trips*", "trips?"))]


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".jsonl", ".json.gz", ".parquet", ".arrow"])
@pytest.mark.parametrize("stem", WILD)
def test_characters_of_patterns_in_the_name_of_a_file_stand_for_themselves(tmp_path, stem, ending):
    plain, packed = written(tmp_path, f"log.{ending.split('.')[1]}"), ending.split(".")[2:]
    if packed and "?" in stem:
        pytest.skip("DuckDB takes what follows a question mark for the query of an address, not for an ending")
    (tmp_path / "g").mkdir()
    (tmp_path / "g" / f"trips1{ending}").write_bytes(b"unreadable")
    path = tmp_path / "g" / f"{stem}{ending}"
    path.write_bytes(gzip.compress(plain.read_bytes()) if packed else plain.read_bytes())
    assert value(path) == -3.5


@pytest.mark.parametrize("folder", ["g", "g[1]"])
@pytest.mark.parametrize("stem", WILD)
def test_a_folder_with_characters_of_patterns_in_names_is_read_once_and_whole(tmp_path, folder, stem):
    for name in {folder, "g1"}:
        (tmp_path / name).mkdir()
        log(tmp_path / name, "state,next_state\na,b\n", f"{stem}.csv")
        log(tmp_path / name, "state,next_state\nx,y\n", "trips1.csv")
    planner = fwrl.fit(tmp_path / folder)
    assert (list(planner.states), planner.summary.transitions) == (["a", "b", "x", "y"], 2)


@pytest.mark.parametrize("given", ["day=1/trips[1].csv", "./day=1/../day=1//trips[1].csv"])
def test_folders_name_columns_of_a_file_with_characters_of_patterns(tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "day=1").mkdir()
    log(tmp_path / "day=1", "state,next_state\na,b\n", "trips[1].csv")
    assert fwrl.fit(given, columns={"trip": "day"}).edges()["trips"].to_pylist() == [[1]]


def test_a_file_that_is_no_parquet_is_named_whatever_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trips[1].parquet").write_bytes(b"state,next_state\n")
    with pytest.raises(FileError, match=r"'\./trips\[1\]\.parquet' is not a whole Parquet file"):
        fwrl.fit("./trips[1].parquet")


@pytest.mark.parametrize("name", ["log.csv.gz", "log.arrow"])
def test_a_damaged_file_is_refused_in_words(tmp_path, name):
    (tmp_path / name).write_bytes(b"nonsense")
    with pytest.raises(FileError, match=rf"cannot read '.*{name}'"):
        fwrl.fit(tmp_path / name)


def test_names_of_event_logs_are_recognised(tmp_path):
    text = "case:concept:name,concept:name,time:timestamp,org:resource\n1,ask,2024-01-01,x\n1,pay,2024-01-02,y\n"
    planner = fwrl.fit(log(tmp_path, text))
    assert (planner.plan("ask", "pay").reward, planner.summary.trips) == (-1, 1)


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl", "log.json", "log.parquet", "log.arrow"])
def test_open_files_are_read(tmp_path, name):
    with written(tmp_path, name).open("rb") as file:
        assert value(file) == -3.5
    assert value(io.BytesIO(gzip.compress(written(tmp_path, name).read_bytes()))) == -3.5


def test_an_open_file_that_was_closed_is_refused_in_words():
    stream = io.BytesIO(TEXT.encode())
    stream.close()
    with pytest.raises(FileError, match="cannot read 'standard input': I/O operation on closed file"):
        fwrl.fit(stream)


def test_standard_input_is_read(tmp_path):
    command = [sys.executable, "-m", "fwrl", "fit", "-", "-o", tmp_path / "x.fwrl"]
    done = subprocess.run(command, input=TEXT + ",d,-1\n", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.split(":")[1]) == (2, " standard input, row 3")
    done = subprocess.run([*command, "--json"], input=TEXT, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["transitions"] == 2


def test_folders_and_partitions_are_read(tmp_path):
    folder = tmp_path / "logs"
    (folder / "day=1" / "line=u").mkdir(parents=True)
    (folder / "day=2" / "line=s").mkdir(parents=True)
    pq.write_table(TABLE.slice(0, 1), folder / "day=1" / "line=u" / "x.parquet")
    pq.write_table(TABLE.slice(1, 1), folder / "day=2" / "line=s" / "x.parquet")
    (folder / "_SUCCESS.csv").write_text("")
    (folder / "notes.md").write_text("")
    assert value(folder) == -3.5
    planner = fwrl.fit(folder, columns={"state": "state+line", "next_state": "next_state+line", "trip": "day"})
    assert planner.plan("a+u", "b+u").reward == -1.5
    assert planner.summary.trips == 2
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="holds no log"):
        fwrl.fit(tmp_path / "empty")


@pytest.mark.parametrize("name", ["log.csv", "log.parquet", "*.jsonl"])
def test_an_address_is_read_by_an_extension_of_duckdb_or_refused_with_its_name(tmp_path, monkeypatch, name):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # no network, whatever there is
    with pytest.raises(FwrlError, match="DuckDB's extension httpfs cannot be loaded, which reads from such addresses"):
        fwrl.fit(f"s3://bucket/{name}")


def test_composite_labels_tell_parts_apart(tmp_path):
    text = "trip,time,station,line\n1,1,a,b+c\n1,2,a+b,c\n1,3,a\\,b\n"
    planner = fwrl.fit(log(tmp_path, text), columns={"state": "station+line"})
    assert sorted(planner.states) == ["a+b\\+c", "a\\+b+c", "a\\\\+b"]
    with pytest.raises(FwrlError, match=r"row 1: expected a value as state, got 'a'"):
        fwrl.fit(log(tmp_path, "trip,time,station,line\n1,1,a,\n1,2,b,x\n"), columns={"state": "station+line"})


def test_frames_and_readers_that_are_read_once():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = TABLE.to_pandas()
    batches = pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches())
    relation = duckdb.sql("SELECT * FROM (VALUES ('a', 'b', -1.5), ('b', 'c', -2)) t(state, next_state, reward)")
    many = (
        frame,
        pandas.DataFrame(frame),
        polars.from_arrow(TABLE),
        polars.from_arrow(TABLE).lazy(),
        batches,
        relation,
    )
    for source in many:
        assert value(source) == -3.5, type(source)


def test_edges_are_fitted_back():
    rng = np.random.default_rng(3)
    rows = [
        (f"s{s}", f"a{a}", -float(r), f"s{n}", f"t{k // 4}", k)
        for k, (s, a, n, r) in enumerate(zip(*rng.integers(0, 6, (3, 300)), rng.random(300), strict=True))
    ]
    for log_ in (rows, [row[:4] for row in rows], [row[:1] + row[3:4] for row in rows]):
        planner = fwrl.fit(log_)
        again = fwrl.fit(planner.edges())
        counted = ["state", "action", "next_state", "count", "best", "probability"]
        one, other = planner.edges(), again.edges()
        assert one.select(counted).equals(other.select(counted))
        np.testing.assert_allclose(one["reward"], other["reward"], rtol=1e-12)
        assert again.summary.transitions == planner.summary.transitions
        assert again.summary.edges == planner.summary.edges


@pytest.mark.parametrize("count", ["0", "1.5", "-1", "x", "1e400"])
def test_a_count_is_a_whole_number(tmp_path, count):
    path = log(tmp_path, f"state,next_state,count\na,b,2\nb,c,{count}\n")
    with pytest.raises(FwrlError, match=r"row 2: expected a whole number from 1 to less than 4,6\S+ as count, got"):
        fwrl.fit(path)
    planner = fwrl.fit(path, skip_bad=True)
    assert (planner.summary.transitions, planner.summary.skipped) == (2, 1)
    assert fwrl.fit(path, columns={"count": ""}).summary.transitions == 2


@pytest.mark.parametrize("packed", [False, True])
def test_folders_name_columns_of_csv_as_of_parquet(tmp_path, packed):
    for day, last in (("1", "b"), ("2%20b", "c"), ("__HIVE_DEFAULT_PARTITION__", "d")):
        folder = tmp_path / "logs" / f"day={day}"
        folder.mkdir(parents=True)
        text = f"time,state\n1,a\n2,{last}\n".encode()
        if packed:
            (folder / "log.csv.gz").write_bytes(gzip.compress(text))
        else:
            (folder / "log.csv").write_bytes(text)
    planner = fwrl.fit(str(tmp_path / "logs"), columns={"trip": "day"}, skip_bad=True)
    trips = planner.experience.evidence.trips
    assert trips is not None
    assert list(trips) == ["1", "2 b"]
    assert (list(planner.states), planner.summary.skipped) == (["a", "b", "c"], 2)
    with pytest.raises(FwrlError, match=r"row 1: expected a value as trip, got nothing"):
        fwrl.fit(str(tmp_path / "logs"), columns={"trip": "day"})


def test_a_column_of_the_file_comes_before_one_of_its_folder(tmp_path):
    folder = tmp_path / "state=x"
    folder.mkdir()
    (folder / "log.csv").write_text("state,next_state\na,b\n")
    assert list(fwrl.fit(str(folder)).states) == ["a", "b"]


def test_counts_that_are_too_large_are_called_so():
    edge = {"state": ["a"], "next_state": ["b"]}
    with pytest.raises(
        FwrlError, match=r"row 1: expected a whole number from 1 to less than 4,6\S+ as count, got 5e\+18"
    ):
        fwrl.fit({**edge, "count": [5e18]})
    twice = {name: values * 2 for name, values in edge.items()}
    with pytest.raises(FwrlError, match=r"the counts of one edge sum up to 4,6\S+ \(2\^62\) or more; scale them down"):
        fwrl.fit({**twice, "count": [4e18, 4e18]})
    many = fwrl.fit({**edge, "count": [4e18]})
    with pytest.raises(FwrlError, match="the counts of one edge sum up to"):
        many.merge(many, many)
    with pytest.raises(FwrlError, match="the rewards of one edge sum up to"):
        fwrl.fit({**edge, "count": [10], "reward": [-1e100]})
