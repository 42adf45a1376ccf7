"""States, merging, logs read again, locks and pictures from the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import typer

import fwrl
from fwrl import cli
from fwrl.files import locked
from fwrl.planner import Planner
from fwrl.planner.interop import route_geojson
from systems import unix

TRIPS = "trip,time,state,reward\n1,1,a,-1\n1,2,b,-1\n1,3,c,\n2,5,x,-2\n2,6,b,-3\n2,7,y,\n"
MORE = "trip,time,state,reward\n3,8,y,-1\n3,9,a,-1\n"
PLACES = "id,east,lat\na,0,0\nb,1,0\nc,2,0\nx,0,1\ny,2,1\n"
NAMED = ("--positions", "places.csv", "--position-columns", "state=id,x=east")


@pytest.fixture
def fitted(call, tmp_path):
    (tmp_path / "trips.csv").write_bytes(TRIPS.encode())
    (tmp_path / "more.csv").write_text(MORE)
    (tmp_path / "places.csv").write_text(PLACES)
    assert call("fit", "trips.csv", "-o", "t.fwrl").code == 0
    return tmp_path / "t.fwrl"


def test_states_are_listed_and_searched_with_degree_and_counts(call, fitted):
    lines = call("states", "t.fwrl").out.splitlines()
    assert lines[0].split() == ["state", "next", "states", "previous", "states", "left", "entered"]
    assert lines[2].split() == ["b", "2", "2", "2", "2"]
    assert lines[-1] == "5 states"
    assert call("states", "t.fwrl", "--limit", 2).out.splitlines()[-1] == "5 states; 3 more, see --limit"
    found = json.loads(call("states", "t.fwrl", "--by", "seen", "--json").out)
    assert (found[0]["state"], found[0]["next_states"]) == ("b", 2)
    assert [s["state"] for s in json.loads(call("states", "t.fwrl", "[xy]*", "--json").out)] == ["x", "y"]
    assert call("states", "t.fwrl", "nothing").out == "0 states that match 'nothing'\n"


def test_a_part_of_a_name_finds_the_name():
    planner = fwrl.fit([("SRN@45.6,9.0", "CIA@41.8"), ("CIA@41.8", "old?name"), ("old?name", "SRN@45.6,9.0")])
    for wanted, said in (
        ("SRN", "SRN@45.6,9.0"),
        ("41.8", "CIA@41.8"),
        ("srn@45.6,9.0", "SRN@45.6,9.0"),
        ("d?n", "old"),
    ):
        with pytest.raises(fwrl.FwrlError, match=f"did you mean '{said}"):
            planner.plan(wanted, "old?name")


def test_merge_says_what_one_fit_would(call, fitted):
    assert call("fit", "more.csv", "-o", "m.fwrl").code == 0
    code, out, _ = call("merge", "t.fwrl", "m.fwrl", "-o", "both.fwrl", "--json")
    assert code == 0
    call("fit", "trips.csv", "more.csv", "-o", "once.fwrl")
    assert (fitted.parent / "both.fwrl").read_bytes() == (fitted.parent / "once.fwrl").read_bytes()
    assert json.loads(out)["trips"] == 3
    call("fit", "more.csv", "-o", "t.fwrl", "--add")
    assert fitted.read_bytes() == (fitted.parent / "once.fwrl").read_bytes()


def test_check_lists_the_logs_and_again_counts_one_twice(call, fitted):
    assert "log trips.csv, 73 bytes" in call("check", "t.fwrl").out
    logs = json.loads(call("check", "t.fwrl", "--json").out)["logs"]
    assert [(log["name"], log["size"]) for log in logs] == [("trips.csv", 73)]
    (fitted.parent / "moves.csv").write_text("state,next_state\na,b\n")
    code, out, _ = call("fit", "moves.csv", "moves.csv", "-o", "twice.fwrl", "--allow-duplicates", "--json")
    assert (code, json.loads(out)["transitions"]) == (0, 2)


def test_logs_without_rows_may_be_alike(call, fitted):
    for name in ("one.csv", "two.csv"):
        (fitted.parent / name).write_text("trip,time,state,reward\n")
    assert call("fit", "trips.csv", "one.csv", "two.csv", "-o", "n.fwrl").code == 0


def test_the_log_itself_gives_the_fewest_trips(call, tmp_path):
    # Four later trips took each step alone; only an older one took them all.
    rows = ["old,1,a", "old,2,b", "old,3,c", "old,4,d"]
    for k in range(4):
        for n, (s, g) in enumerate((("a", "b"), ("b", "c"), ("c", "d"))):
            rows += [f"t{k}{n},{10 + 2 * k},{s}", f"t{k}{n},{11 + 2 * k},{g}"]
    (tmp_path / "dense.csv").write_text("trip,time,state\n" + "\n".join(rows) + "\n")
    call("fit", "dense.csv", "-o", "d.fwrl")
    out = call("explain", "d.fwrl", "a", "d").out
    assert (
        "stitched twice, at b, c (at most, judging by the latest 3 trips of each step; --log finds the fewest)" in out
    )
    out = call("explain", "d.fwrl", "a", "d", "--log", "dense.csv").out
    assert "from a on trip old" in out
    assert "one past trip covers the whole route" in out
    found = json.loads(call("explain", "d.fwrl", "a", "d", "--log", "dense.csv", "--json").out)
    assert (found["stretches"], found["covering"], found["fewest"]) == ([["old"]], [1], True)


def test_of_many_stitches_the_first_are_named(call, tmp_path):
    steps = [f"{k},1,s{k:02}\n{k},2,s{k + 1:02}" for k in range(30)]
    (tmp_path / "long.csv").write_text("trip,time,state\n" + "\n".join(steps) + "\n")
    call("fit", "long.csv", "-o", "long.fwrl")
    assert "stitched 29 times, at s01, s02," in (out := call("explain", "long.fwrl", "s00", "s30").out)
    assert "s20 and 9 more (at most" in out
    assert len(json.loads(call("explain", "long.fwrl", "s00", "s30", "--json").out)["stitches"]) == 29


def test_a_route_is_written_as_geojson(call, fitted):
    code, out, _ = call("explain", "t.fwrl", "a", "y", *NAMED, "--picture", "way.geojson")
    assert (code, out.splitlines()[-1]) == (0, "drawn to way.geojson")
    features = json.loads((fitted.parent / "way.geojson").read_text())["features"]
    assert [feature["geometry"]["coordinates"] for feature in features] == [
        [[0, 0], [1, 0]],
        [[1, 0], [2, 1]],
        [0, 0],
        [1, 0],
        [2, 1],
    ]
    assert [feature["properties"].get("role") for feature in features[2:]] == ["start", "stitch", "goal"]
    assert features[0]["properties"]["trips"] == [1]


@pytest.mark.parametrize(
    ("times", "latest"),
    [
        ((9, 10), "10"),
        ((-1, -2), "-1"),
        ((9.5, 10.25), "10.25"),
        (("2024-01-01 10:00", "2024-01-01 09:00"), "2024-01-01 10:00:00"),
        (("2024-01-01", "12024-01-01"), "12024-01-01T00:00:00.000000"),
        ((), None),
    ],
    ids=str,
)
def test_geojson_has_the_latest_time_of_a_stretch(times, latest):
    timed = {"time": list(times), "trip": ["t", "t"]} if times else {}
    planner = fwrl.fit({"state": ["a", "b"], "next_state": ["b", "c"], **timed})
    found = route_geojson(planner.explain("a", "c"), planner.experience, np.zeros((3, 2)))
    assert found["features"][0]["properties"]["last"] == latest


def test_geojson_of_cells_has_longitude_before_latitude(call, tmp_path):
    pytest.importorskip("h3")
    rows = "1,1,47.1,8.1\n1,2,47.3,8.6\n1,3,47.5,9.3\n"
    (tmp_path / "gps.csv").write_text(f"trip,time,lat,lon\n{rows}")
    assert call("fit", "gps.csv", "-o", "g.fwrl", "--cells", "lat,lon", "--resolution", "5").code == 0
    assert call("explain", "g.fwrl", "47.1,8.1", "47.5,9.3", "--picture", "way.geojson").code == 0
    found = json.loads((tmp_path / "way.geojson").read_text())
    assert (found["type"], set(found)) == ("FeatureCollection", {"type", "features"})
    for feature in found["features"]:
        assert feature["type"] == "Feature"
        assert set(feature) == {"type", "geometry", "properties"}
        line = feature["geometry"]["type"] == "LineString"
        for longitude, latitude in feature["geometry"]["coordinates"] if line else [feature["geometry"]["coordinates"]]:
            assert (8 < longitude < 9.5, 47 < latitude < 47.7) == (True, True)


def test_a_missing_h3_is_named_with_its_extra(call, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "h3", None)
    (tmp_path / "gps.csv").write_text("trip,time,lat,lon\n1,1,47.1,8.1\n1,2,47.3,8.6\n")
    code, _, err = call("fit", "gps.csv", "-o", "g.fwrl", "--cells", "lat,lon")
    assert code == 2
    assert "pip install 'fwrl[geo]'" in err
    assert not (tmp_path / "g.fwrl").exists()


@unix
def test_a_link_is_followed_and_the_mode_stays(call, fitted):
    (fitted.parent / "far").mkdir()
    target = fitted.rename(fitted.parent / "far" / "t.fwrl")
    target.chmod(0o600)
    fitted.symlink_to(target)
    assert call("fit", "more.csv", "-o", "t.fwrl", "--add").code == 0
    assert fitted.is_symlink()
    assert (Planner.load(target).summary.trips, target.stat().st_mode & 0o777) == (3, 0o600)


def test_a_file_in_use_is_refused_before_the_work_and_names_its_holder(call, fitted):
    with locked(fitted):
        code, out, err = call("fit", "more.csv", "-o", "t.fwrl", "--add")
    assert (code, out) == (2, "")
    assert err.startswith(f"fwrl: 't.fwrl' is in use by process {os.getpid()} on ")
    assert err.endswith("; wait for it with --wait\n")


def test_two_reproductions_at_once_are_refused(call, tmp_path):
    (tmp_path / "out").mkdir()
    with locked(tmp_path / "out" / "results.sqlite"):
        for command in (["reproduce", "--seeds", 1], ["compare", "h-maze", "--seeds", 1]):
            code, out, err = call(*command, "--out", "out")
            assert (code, out) == (2, "")
            assert "is in use by process" in err
            assert "--wait" not in err


COMMAND = [sys.executable, "-c", "from fwrl.cli import main; main()"]


def test_additions_of_several_processes_are_all_kept(fitted, tmp_path):
    running = []
    for k in range(2):
        (tmp_path / f"{k}.csv").write_text(f"trip,time,state,reward\nn{k},8,y,-1\nn{k},9,a,-1\n")
        arguments = ["fit", f"{k}.csv", "-o", "t.fwrl", "--add", "--wait"]
        running.append(subprocess.Popen([*COMMAND, *arguments], cwd=tmp_path, stdout=subprocess.DEVNULL))
    assert [process.wait() for process in running] == [0, 0]
    assert Planner.load(fitted).summary.trips == 4


@unix
@pytest.mark.parametrize("made_of_it", [KeyboardInterrupt, typer.Abort, None])
def test_sigterm_is_told_from_ctrl_c_whatever_libraries_make_of_it(monkeypatch, made_of_it):
    def command(**_):
        try:
            signal.raise_signal(signal.SIGTERM)
        except SystemExit:
            if made_of_it is not None:
                raise made_of_it from None
        return cli.STOPPED

    monkeypatch.setattr(cli, "app", command)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == cli.TERMINATED


@unix
def test_sigterm_ends_a_fit_in_order(fitted, tmp_path):
    before, folder = fitted.read_bytes(), tmp_path / "temporary"
    folder.mkdir()
    process = endless_fit(tmp_path, folder)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 143
    assert fitted.read_bytes() == before
    assert list(folder.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


ENDLESS = """
import sys, time
from fwrl.planner.ingest import read_log
from fwrl.cli import main
def group(reader, *_):
    print("reading", flush=True)
    reader.one("SELECT count(*) FROM range(100_000_000_000) a(i) WHERE hash(i) = 1")
read_log.group = group
sys.argv = ["fwrl", "fit", "more.csv", "-o", "t.fwrl", "--add"]
main()
"""


def endless_fit(where, temporary):
    """A process that is reading a log, in the middle of a query, or on a busy machine just before it."""
    environment = {**os.environ, "TMPDIR": str(temporary)}
    command = [sys.executable, "-c", ENDLESS]
    process = subprocess.Popen(command, cwd=where, env=environment, stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout as said:
        assert said.readline() == b"reading\n"
    time.sleep(0.5)
    assert list(temporary.iterdir())
    return process
