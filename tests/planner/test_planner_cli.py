"""`fwrl fit`, `plan`, `explain` and `check` from the command line."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from fwrl.files import open_archive, write_archive
from fwrl.planner import Planner
from systems import unix

TRIPS = "trip,time,state,reward\n1,1,a,-1\n1,2,b,-1\n1,3,c,\n2,5,x,-2\n2,6,b,-3\n2,7,y,\n"
PLACES = "state,x,y\na,0,0\nb,1,0\nc,2,0\nx,0,1\ny,2,1\n"


@pytest.fixture
def fitted(call, tmp_path):
    (tmp_path / "trips.csv").write_text(TRIPS)
    (tmp_path / "places.csv").write_text(PLACES)
    assert call("fit", "trips.csv", "-o", "t.fwrl").code == 0
    return tmp_path / "t.fwrl"


def test_fit_says_what_it_learned(call, fitted):
    code, out, _ = call("fit", "trips.csv", "-o", "t.fwrl", "--json")
    assert code == 0
    summary = json.loads(out)
    expected = {"trips": 2, "transitions": 4, "states": 5, "edges": 4, "connected": 8, "stitched": 2, "sampled": None}
    assert expected.items() <= summary.items()
    code, out, err = call("fit", "trips.csv", "-o", "t.fwrl")
    assert [line.split()[-1] for line in out.splitlines()] == ["2", "4", "5", "4", "8", "2", "t.fwrl"]
    assert err == ""


def test_fit_adds_to_what_there_was(call, fitted, tmp_path):
    (tmp_path / "more.csv").write_text("trip,time,state,reward\n3,8,y,-1\n3,9,a,-1\n")
    code, out, _ = call("fit", "more.csv", "-o", "t.fwrl", "--add", "--json")
    assert (code, json.loads(out)["trips"], json.loads(out)["edges"]) == (0, 3, 5)
    assert Planner.load(fitted).plan("x", "a").reward == -6.0


def test_a_log_that_cannot_be_added_leaves_the_old_file(call, fitted, tmp_path):
    before = fitted.read_bytes()
    (tmp_path / "bad.csv").write_text("trip,time,state,reward\n3,8,y,nan\n3,9,a,-1\n")
    code, out, err = call("fit", "bad.csv", "-o", "t.fwrl", "--add")
    assert (code, out) == (2, "")
    assert "bad.csv, row 1: expected a number up to 1e+100 in size as reward, got nan" in err
    assert fitted.read_bytes() == before


def test_fit_says_that_connections_are_not_counted_for_good(call, fitted, tmp_path):
    (tmp_path / "more.csv").write_text("trip,time,state,reward\n3,8,y,-1\n3,9,a,-1\n")
    out = call("fit", "more.csv", "-o", "t.fwrl", "--add", "--no-connections").out
    assert "not counted  and never will be for this file" in out
    (tmp_path / "again.csv").write_text("trip,time,state,reward\n4,8,y,-1\n4,9,a,-1\n")
    assert "not counted  this planner was started without" in call("fit", "again.csv", "-o", "t.fwrl", "--add").out


def test_plan_prints_the_steps(call, fitted):
    code, out, err = call("plan", "t.fwrl", "a", "y")
    assert (code, err) == (0, "")
    steps = ["a to y: 2 steps, cost 4", "     a", "  1  b  1", "  2  y  3"]
    assert out.splitlines() == [*steps, "weakest step: a to b, seen once"]
    code, out, _ = call("plan", "t.fwrl", "a", "y", "--json")
    assert json.loads(out)["reward"] == -4.0
    assert [step["next_state"] for step in json.loads(out)["steps"]] == ["b", "y"]


def test_a_route_takes_nothing_of_what_reads_logs(fitted):
    script = (
        "import sys\nfrom fwrl.cli import main\n"
        f"sys.argv = ['fwrl', 'plan', {str(fitted)!r}, 'a', 'y']\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(sorted({'duckdb', 'fwrl.planner.fitting', 'matplotlib', 'gymnasium', 'rich'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "a to y: 2 steps, cost 4"
    assert done.stdout.splitlines()[-1] == "[]"


def test_plan_shows_as_many_alternatives_as_there_are(call, tmp_path):
    (tmp_path / "net.csv").write_text("state,next_state\na,b\nb,d\na,c\nc,e\ne,d\n")
    call("fit", "net.csv", "-o", "n.fwrl")
    code, out, _ = call("plan", "n.fwrl", "a", "d", "--backup", "best", "--alternatives", 5, "--json")
    assert [route["reward"] for route in json.loads(out)] == [-2.0, -3.0]
    code, out, err = call("plan", "n.fwrl", "a", "d", "--alternatives", 5)
    assert (code, out) == (2, "")
    assert "alternatives need backup 'best'" in err


def test_a_long_route_is_cut_short_unless_all_is_asked_for(call, tmp_path):
    rows = "".join(f"{k},{k + 1}\n" for k in range(500))
    (tmp_path / "line.csv").write_text("state,next_state\n" + rows)
    call("fit", "line.csv", "-o", "l.fwrl")
    short, whole = call("plan", "l.fwrl", 0, 500).out, call("plan", "l.fwrl", 0, 500, "--all").out
    assert (len(short.splitlines()), len(whole.splitlines())) == (63, 503)
    assert "441 more, see --all" in short


def test_explain_names_trips_stitches_and_single_observations(call, fitted):
    code, out, err = call("explain", "t.fwrl", "a", "y")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "a to y: 2 steps, cost 4",
        "from a on trip 1",
        "  a to b: once, last 1, trips 1  <- seen only once",
        "stitched: from b on trip 2",
        "  b to y: once, last 6, trips 2  <- seen only once",
        "stitched once, at b (at most, judging by the latest 3 trips of each step; --log finds the fewest)",
        "weakest step: a to b, seen once",
    ]

    found = json.loads(call("explain", "t.fwrl", "a", "y", "--json").out)
    assert (found["stretches"], found["stitches"], found["single"]) == ([[1], [2]], ["b"], ["a", "b"])
    assert "one past trip covers the whole route" in call("explain", "t.fwrl", "a", "c").out


@pytest.mark.parametrize("name", ["way.png", "way.svg"])
def test_explain_draws_where_positions_are_known(call, fitted, name):
    code, out, _ = call("explain", "t.fwrl", "a", "y", "--positions", "places.csv", "--picture", name)
    assert (code, out.splitlines()[-1]) == (0, f"drawn to {name}")
    assert (fitted.parent / name).stat().st_size > 1000


def test_the_nearest_pair_is_named_where_there_is_no_way(call, fitted):
    code, out, err = call("plan", "t.fwrl", "c", "x", "--positions", "places.csv")
    assert (code, out) == (2, "")
    assert "no route from 'c' to 'x': 'c' reaches 0 of 5 states, 0 reach 'x'; the gap is narrowest from 'c'" in err
    assert "to 'x', 2.24 apart; choose another start or goal, or add a log" in err


BAD = [
    ("fit trips.csv", "missing option '--out'"),
    ("fit trips.csv -o nowhere/t.fwrl", "its folder doesn't exist"),
    ("fit trips.csv -o trips.csv", "wasn't saved by fwrl; choose another name"),
    ("fit trips.csv -o places.csv", "'places.csv' exists"),
    ("fit nothing.csv -o n.fwrl", "cannot read 'nothing.csv': there is no such file"),
    ("fit trips.csv -o n.fwrl --columns state", "write columns as OURS=THEIRS"),
    ("fit trips.csv -o n.fwrl --columns state=place", "'trips.csv' has no column 'place' for state"),
    ("fit places.csv -o n.fwrl", "has state, x, y; name the columns with --columns state=...,next_state=..."),
    ("fit trips.csv -o n.fwrl --columns reward=trip,trip=reward", "or skip such rows with --skip-bad"),
    ("fit trips.csv -o n.fwrl --memory 1KB", "expected at least 10MB of memory, got '1KB'"),
    ("fit trips.csv -o n.fwrl --memory -200MB", "expected an amount of memory such as 500MB or 2GB, got '-200MB'"),
    (
        "fit trips.csv trips.csv -o n.fwrl",
        "'trips.csv' is given twice; leave it out, or count it again with --allow",
    ),
    ("fit trips.csv tr*.csv -o n.fwrl", "'trips.csv' is given twice"),
    ("fit trips.csv same.csv -o n.fwrl", "'trips.csv' has the same content as 'same.csv'; leave it out, or count"),
    (
        "fit trips.csv -o t.fwrl --add",
        "'trips.csv' was read before; leave it out, or count it again with --allow",
    ),
    ("fit same.csv -o t.fwrl --add", "'same.csv' has the same content as 'trips.csv', which was read before"),
    (
        "merge t.fwrl t.fwrl -o n.fwrl",
        "two planners have the log 'trips.csv'; leave it out, or count it again with --a",
    ),
    ("fit trips.csv -o /dev/null", "'/dev/null' is a device"),
    ("merge t.fwrl -o /dev/null", "'/dev/null' is a device"),
    ("train h-maze --out /dev/null", "'/dev/null' is a device"),
    ("explain t.fwrl a y --positions places.csv --picture link.png", "'link.png' is a device"),
    ("explain t.fwrl a y --position-columns x=east", "--position-columns needs --positions"),
    ("explain t.fwrl a y --positions places.csv --position-columns x=east", "unknown column 'east'"),
    ("explain t.fwrl a y --positions places.csv --position-columns z=x", "unknown column of positions 'z'"),
    ("explain t.fwrl a y --log more.csv", "the plan goes from 'a' to 'b', but this log doesn't; give all logs"),
    ("explain t.fwrl a y --log moves.csv", "the log names no trips"),
    ("states t.fwrl --by size", "'--by'"),
    ("fit trips.csv -o n.fwrl --add", "can't add to 'n.fwrl': no such planner; leave out --add for"),
    ("fit trips.csv -o n.fwrl --memory lots", "expected an amount of memory such as"),
    ("plan t.fwrl a nope", "among 5; no known name is similar; see all with: fwrl states t.fwrl"),
    ("explain t.fwrl nope y", "among 5; no known name is similar; see all with: fwrl states t.fwrl"),
    ("plan t.fwrl a q", "unknown state 'q' among 5"),
    (
        "fit trips.csv -o n.fwrl --cost foo",
        "--cost can only be elapsed, not 'foo'; if costs are in a column, use --col",
    ),
    ("fit trips.csv -o n.fwrl --shape foo", "expected --shape transitions or --shape visits, got 'foo'"),
    ("fit moves.csv -o n.fwrl --columns cost=n/0", "row 1: expected a number from 0 to 1e+100 as cost, got 'n/0 of 3'"),
    (
        "fit trips.csv -o n.fwrl --cells time,reward --resolution 3",
        "a resolution is for latitude and longitude",
    ),
    ("export trips.csv", "'trips.csv' is a file; give the folder that fwrl reproduce wrote"),
    ("export --out trips.csv nowhere", "no results.sqlite in 'nowhere'"),
    (
        "compare h-maze --out trips.csv",
        "can't create the folder 'trips.csv': a file has that name; choose another",
    ),
    ("plan t.fwrl \udcff y", "unknown state '\\udcff' among 5"),
    ("plan t.fwrl a y --backup worst", "expected backup to be one of expected, best"),
    ("plan t.fwrl a y --avoid y", "'y' is both a stop and in avoid"),
    ("plan t.fwrl a y --via b --backup best --alternatives 2", "--via and --alternatives don't work together"),
    ("plan t.fwrl a y --give-up 0 --backup best --alternatives 2", "--give-up and --alternatives don't work together"),
    ("plan trips.csv a y", "is not a file saved by fwrl; make one with fwrl fit or fwrl train"),
    ("plan t.fwrl a y --positions trips.csv", "unknown column 'x'"),
    (
        "explain t.fwrl a y --picture way.png",
        "state, x, y; without one, fwrl explore t.fwrl draws a map in the browser",
    ),
    ("explain t.fwrl a y --positions places.csv --picture way.gif", "ending in .png, .svg or .geojson"),
    ("explain t.fwrl y a", "no route from 'y' to 'a'"),
]


@unix
@pytest.mark.parametrize(("line", "said"), BAD, ids=[line for line, _ in BAD])
def test_bad_input_gets_one_sentence_and_writes_nothing(call, fitted, line, said):
    (fitted.parent / "same.csv").write_text(TRIPS)
    (fitted.parent / "more.csv").write_text("trip,time,state,reward\n3,8,y,-1\n3,9,a,-1\n")
    (fitted.parent / "moves.csv").write_text("state,next_state,n\na,b,3\n")
    (fitted.parent / "link.png").symlink_to("/dev/null")
    before = sorted(fitted.parent.iterdir())
    code, out, err = call(*line.split())
    assert (code, out) == (2, "")
    assert err.startswith("fwrl: ")
    assert said in err
    assert err.count("\n") == 1
    assert sorted(fitted.parent.iterdir()) == before


def test_check_looks_at_every_label(call, fitted):
    code, out, _ = call("check", "t.fwrl")
    assert code == 0
    assert "is intact: <planner, 5 states, 4 edges, 4 transitions>" in out
    archive = open_archive(fitted)
    arrays = {name: archive[name].copy() for name in archive.names}
    arrays["states.text"] = np.frombuffer(b"abcyx", np.uint8)
    write_archive(fitted, "planner", dict(archive.details), arrays)
    code, out, err = call("check", "t.fwrl")
    assert (code, out) == (2, "")
    assert "expected labels in order" in err


def test_a_rare_outcome_is_never_said_to_be_impossible_nor_a_frequent_one_certain(call, tmp_path):
    rows = ["a,go,goal\n", *["a,go,b\n"] * 299, "b,go,a\n", *["b,go,goal\n"] * 299]
    (tmp_path / "rare.csv").write_text("state,action,next_state\n" + "".join(rows))
    call("fit", "rare.csv", "-o", "rare.fwrl")
    assert call("plan", "rare.fwrl", "a", "goal").out.splitlines()[2].endswith(" <1%")
    assert call("plan", "rare.fwrl", "b", "goal").out.splitlines()[2].endswith(" >99%")


def test_dead_ends_and_giving_up_at_the_shell(call, tmp_path):
    rows = ["a,risky,-1,goal\n"] * 9 + ["a,risky,-1,pit\n", "a,safe,-100,goal\n"]
    (tmp_path / "risk.csv").write_text("state,action,reward,next_state\n" + "".join(rows))
    call("fit", "risk.csv", "-o", "r.fwrl")
    assert "outcomes, which the plan ignores (up to 10 %" in call("plan", "r.fwrl", "a", "goal").out
    declared = json.loads(call("plan", "r.fwrl", "a", "goal", "--dead-ends", "pit", "--json").out)
    assert declared["steps"][0]["action"] == "safe"
    out = call("plan", "r.fwrl", "a", "goal", "--dead-ends", "pit", "--give-up", 50).out
    assert "expected cost 6 including giving up" in out
    for wrong in (["--give-up", -1], ["--give-up", 5, "--backup", "best"], ["--dead-ends", "nowhere"]):
        code, out, err = call("plan", "r.fwrl", "a", "goal", *wrong)
        assert (code, out) == (2, "")
        assert "Traceback" not in err


@pytest.mark.parametrize(
    "option",
    [
        ("--columns", "state=from"),
        ("--shape", "visits"),
        ("--cells", "x,y"),
        ("--since", "2024-01-01"),
        ("--until", "2024-01-01"),
        ("--hours", "7-9"),
        ("--weekdays", "mon"),
        ("--header",),
        ("--no-header",),
        ("--missing", "-"),
        ("--encoding", "cp1252"),
        ("--decimal", ","),
        ("--dates", "day-first"),
        ("--skip-bad",),
        ("--memory", "2GB"),
    ],
    ids=" ".join,
)
def test_how_a_log_is_read_cannot_be_said_without_one(call, fitted, option):
    code, out, err = call("explain", "t.fwrl", "a", "y", *option)
    assert (code, out) == (2, "")
    assert f"{option[0].replace('--no-', '--')} needs --log" in err
