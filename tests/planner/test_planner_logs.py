"""The experience of a log equals plain counting in Python, whatever the format, the shape or the order of rows."""

from __future__ import annotations

import gzip
import itertools
import json
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fwrl
from fwrl.errors import FwrlError, OptionError
from fwrl.planner import read_positions, transition_counts
from fwrl.planner.ingest import reader
from fwrl.planner.ingest.read_options import FitOption
from fwrl.planner.ingest.reader import reading
from fwrl.planner.labels import TextLabels
from fwrl.planner.transition_counts import KEPT

COLUMNS = ("state", "action", "reward", "next_state", "trip", "time")


def rows_of(labels):
    names = st.sampled_from(labels)
    return st.lists(
        st.tuples(names, st.sampled_from("lr"), st.floats(-9, 0), names, st.integers(0, 5), st.integers(-3, 9)),
        min_size=1,
        max_size=40,
    )


TEXT = rows_of(["a", "b", "ä", "a b", "07", "'"])
NUMBERS = rows_of([-3, 0, 5, 70_000_000_000])


def expected_edges(rows):
    """Count, sum, best and last of each edge, and the times of the rows it was seen in."""
    found = defaultdict(list)
    for s, a, r, n, trip, time in rows:
        found[s, a, n].append((r, trip, time))
    return found


def check(planner, rows):
    table = planner.edges().to_pylist()
    truth = expected_edges(rows)
    assert [(e["state"], e["action"], e["next_state"]) for e in table] == sorted(truth, key=lambda k: _order(k))
    for edge in table:
        seen = truth[edge["state"], edge["action"], edge["next_state"]]
        assert edge["count"] == len(seen)
        assert edge["reward"] * edge["count"] == pytest.approx(sum(r for r, *_ in seen), rel=1e-12, abs=1e-12)
        assert edge["best"] == max(r for r, *_ in seen)
        assert edge["last"] == max(time for *_, time in seen)
        latest = {trip: time for _, trip, time in sorted(seen, key=lambda row: row[2])}
        times = [latest[trip] for trip in edge["trips"]]
        assert len(set(edge["trips"])) == len(times)
        assert times == sorted(latest.values(), reverse=True)[:KEPT]


def _order(key):
    return tuple(part.encode() if isinstance(part, str) else part for part in key)


@given(st.one_of(TEXT, NUMBERS), st.randoms())
@settings(max_examples=25)
def test_edges_are_what_plain_counting_finds_in_any_order_of_rows(rows, random):
    planner = fwrl.fit(rows)
    check(planner, rows)
    shuffled = rows[:]
    random.shuffle(shuffled)
    assert_same(planner, fwrl.fit(shuffled))


def assert_same(one, other):
    a, b = one.experience, other.experience
    assert list(a.states) == list(b.states)
    assert (a.time, a.summary) == (b.time, b.summary)
    for name in ("source", "action", "target", "count", "best"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    assert list(a.evidence.trips or []) == list(b.evidence.trips or [])
    for name in ("last", "trip", "trip_time", "sample", "joined"):
        np.testing.assert_array_equal(getattr(a.evidence, name), getattr(b.evidence, name), err_msg=name)
    np.testing.assert_allclose(a.total, b.total, rtol=1e-12, atol=1e-12)


def split_by_trip(rows, first):
    return [row for row in rows if row[4] in first], [row for row in rows if row[4] not in first]


@given(st.one_of(TEXT, NUMBERS), st.sets(st.integers(0, 5)))
@settings(max_examples=25)
def test_two_logs_one_after_the_other_equal_both_at_once(rows, first):
    one, other = split_by_trip(rows, first)
    if one and other:
        assert_same(fwrl.fit(other, into=fwrl.fit(one)), fwrl.fit(rows))


@given(rows_of(list(range(12))), st.sets(st.integers(0, 5)))
@settings(max_examples=15)
def test_folding_is_exact_where_connections_are_sampled(rows, first):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transition_counts, "ALL_COUNTED", 4)
        patch.setattr(transition_counts, "SAMPLED", 3)
        one, other = split_by_trip(rows, first)
        if one and other:
            assert_same(fwrl.fit(other, into=fwrl.fit(one)), fwrl.fit(rows))


def test_integers_become_text_when_a_log_with_text_is_added():
    folded = fwrl.fit([("b", "10")], into=fwrl.fit([(2, 10)]))
    assert list(folded.states) == ["10", "2", "b"]
    assert folded.plan("b", "10").states == ("b", "10")


NAMED = [("a", "l", -1.0, "b", "t1", 1), ("b", "l", -1.0, "07", "t1", 2), ("07", "l", -1.0, "7", "t1", 3)]
COUNTED = [(7, 1, -1.0, 8, 3, 5), (8, 1, -1.0, 9, 3, 6)]


@pytest.mark.parametrize("exact", [transition_counts.ALL_COUNTED, 0])
@pytest.mark.parametrize(("first", "second"), [(NAMED, COUNTED), (COUNTED, NAMED)])
def test_logs_of_names_and_of_integers_are_folded(first, second, exact, monkeypatch):
    monkeypatch.setattr(transition_counts, "ALL_COUNTED", exact)
    texts = [tuple(str(x) if k in (0, 1, 3, 4) else x for k, x in enumerate(row)) for row in NAMED + COUNTED]
    folded = fwrl.fit(second, into=fwrl.fit(first))
    assert_same(folded, fwrl.fit(texts))
    assert folded.plan("a", "9").states == ("a", "b", "07", "7", "8", "9")


@given(rows_of("abcdef"), st.booleans())
@settings(max_examples=25)
def test_connections_are_those_of_networkx(rows, named):
    if not named:
        rows = [row[:4] for row in rows]
    summary = fwrl.fit(rows).summary
    single, whole = set(), nx.DiGraph((row[0], row[3]) for row in rows)
    trips = defaultdict(list)
    for k, row in enumerate(rows):
        trips[row[4] if named else k].append((row[0], row[3]))
    for moves in trips.values():
        graph = nx.DiGraph(moves)
        single |= {(s, g) for s, g in itertools.permutations(graph, 2) if nx.has_path(graph, s, g)}
    pairs = {(s, g) for s, g in itertools.permutations(whole, 2) if nx.has_path(whole, s, g)}
    assert (summary.connected, summary.stitched, summary.sampled) == (len(pairs), len(pairs - single), None)


def test_more_than_5000_states_are_sampled_and_marked_so():
    ring = [(k, (k + 1) % 6000) for k in range(6000)]
    summary = fwrl.fit(ring).summary
    assert summary.sampled == transition_counts.SAMPLED
    assert (summary.connected, summary.stitched) == (6000 * 5999, 6000 * 5998)
    assert fwrl.fit(ring, connections=False).summary.stitched is None


@given(rows_of("abcd"), st.randoms())
@settings(max_examples=25)
def test_visits_become_transitions_in_order_of_time(rows, random):
    visits = [{"trip": trip, "time": time, "state": s, "reward": r} for s, _, r, _, trip, time in rows]
    random.shuffle(visits)
    moves = []
    for _, trip in itertools.groupby(sorted(visits, key=lambda v: (v["trip"], v["time"])), lambda v: v["trip"]):
        moves += [(a["state"], b["state"]) for a, b in itertools.pairwise(trip)]
    if not moves:
        with pytest.raises(FwrlError, match="at least one transition"):
            fwrl.fit(visits)
        return
    found = fwrl.fit(visits).edges().to_pylist()
    assert Counter({(e["state"], e["next_state"]): e["count"] for e in found}) == Counter(moves)


LOG = [("a", "l", -1.0, "b", "t1", 5), ("b", "r", -2.0, "c", "t1", 6), ("b", "r", -4.0, "c", "t2", 9)]


def write(path, rows, names=COLUMNS):
    with gzip.open(path, "wt") if path.suffix == ".gz" else path.open("w") as file:
        if ".json" in path.name:
            file.writelines(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)
        else:
            delimiter = "\t" if ".tsv" in path.name else ","
            file.writelines(delimiter.join(map(str, row)) + "\n" for row in [names, *rows])
    return path


@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz", "log.tsv", "log.jsonl", "log.jsonl.gz", "log.parquet"])
def test_every_format_gives_the_same(tmp_path, name):
    path = tmp_path / name
    if name.endswith("parquet"):
        pq.write_table(pa.table([list(column) for column in zip(*LOG, strict=True)], names=COLUMNS), path)
    else:
        write(path, LOG)
    planner = fwrl.fit(path)
    assert_same(planner, fwrl.fit(LOG))
    check(planner, LOG)


def test_tables_record_arrays_and_columns_give_the_same():
    table = pa.table([list(column) for column in zip(*LOG, strict=True)], names=COLUMNS)
    array = np.array(
        LOG,
        dtype=[
            ("state", "U2"),
            ("action", "U2"),
            ("reward", "f8"),
            ("next_state", "U2"),
            ("trip", "U2"),
            ("time", "i8"),
        ],
    )
    for source in (table, array, table.to_pydict(), iter(LOG), (dict(zip(COLUMNS, row, strict=True)) for row in LOG)):
        assert_same(fwrl.fit(source), fwrl.fit(LOG))


def test_many_files_of_several_formats_are_one_log(tmp_path):
    write(tmp_path / "one.csv", LOG[:1])
    write(tmp_path / "two.csv", LOG[1:2])
    write(tmp_path / "three.jsonl", LOG[2:])
    planner = fwrl.fit([str(tmp_path / "*.csv"), tmp_path / "three.jsonl"])
    assert_same(planner, fwrl.fit(LOG))


def test_columns_can_be_named(tmp_path):
    write(tmp_path / "log.csv", [("x", "y"), ("y", "z")], ("from", "to"))
    planner = fwrl.fit(tmp_path / "log.csv", columns={"state": "from", "next_state": "to"})
    assert planner.plan("x", "z").reward == -2.0
    with pytest.raises(FwrlError, match=r"has no column 'fron' for state; did you mean 'from'"):
        fwrl.fit(tmp_path / "log.csv", columns={"state": "fron"})
    with pytest.raises(OptionError, match="unknown column 'stat'; did you mean 'state'"):
        fwrl.fit(tmp_path / "log.csv", columns={"stat": "from"})
    with pytest.raises(FwrlError, match=r"has from, to; name the columns with columns=\{"):
        fwrl.fit(tmp_path / "log.csv")


@pytest.mark.parametrize(
    ("labels", "kept"),
    [((1, 2), [1, 2]), (("1", "02"), ["02", "1"]), ((1, "x"), ["1", "x"]), (("+1", "2"), ["+1", "2"])],
)
def test_names_from_csv_are_integers_only_where_all_read_back_as_themselves(tmp_path, labels, kept):
    write(tmp_path / "log.csv", [labels], ("state", "next_state"))
    assert list(fwrl.fit(tmp_path / "log.csv").states) == kept


@pytest.mark.parametrize(("state", "next_state"), [("1", "2"), ("2024-01-02", "2024-01-01T00:00:00Z")])
def test_strings_in_json_stay_strings(tmp_path, state, next_state):
    write(tmp_path / "log.jsonl", [(state, next_state)], ("state", "next_state"))
    assert set(fwrl.fit(tmp_path / "log.jsonl").states) == {state, next_state}


BROKEN = [
    ('{"state":"b","next_state":"c","reward":nope}', 'row 2: expected a line with a JSON object, got \'{"state":"b"'),
    ('{"state":"b","next_state":"c","reward":NaN}', "row 2: expected a number up to"),
    ('{"state":"b","next_state":"c"', "row 2: expected a line with a JSON object"),
    ("3", "row 2: expected a line with a JSON object, got '3'"),
]


@pytest.mark.parametrize(("line", "said"), BROKEN)
def test_a_line_that_is_no_json_object_is_named_or_left_out(tmp_path, line, said):
    path = tmp_path / "log.jsonl"
    good = '{"state":"a","next_state":"b","reward":-1}'
    path.write_text(f"{good}\n\n{line}\n{good}\n")
    with pytest.raises(FwrlError, match=said) as error:
        fwrl.fit(path)
    assert str(path) in str(error.value)
    if line != "3":  # valid JSON, but no row
        summary = fwrl.fit(path, skip_bad=True).summary
        assert (summary.transitions, summary.skipped) == (2, 1)


@pytest.mark.parametrize("made_of_parts", [["c"], {"x": 1}])
def test_names_made_of_parts_are_refused(tmp_path, made_of_parts):
    write(tmp_path / "log.jsonl", [(made_of_parts, "b")], ("state", "next_state"))
    with pytest.raises(FwrlError, match="expected strings or integers as state, column 'state'"):
        fwrl.fit(tmp_path / "log.jsonl")


@pytest.mark.parametrize(
    ("times", "last"),
    [(("5", "7"), 7), (("5.25", "7"), 7.0), (("2024-03-01", "2024-03-01 12:30:00"), "2024-03-01 12:30:00")],
)
def test_times_come_back_as_they_were_logged(tmp_path, times, last):
    from fwrl.planner.explanation import shown_time

    write(tmp_path / "log.csv", [("a", "b", time) for time in times], ("state", "next_state", "time"))
    assert shown_time(fwrl.fit(tmp_path / "log.csv").explain("a", "b").steps[0].last) == last


def test_a_gymnasium_episode_is_a_log():
    import gymnasium

    env = gymnasium.make("fwrl/HMaze-v0")
    observation, _ = env.reset(seed=0, options={"start": (0, 0), "goal": (2, 2)})
    env.action_space.seed(0)
    seen, actions, rewards, path = [observation], [], [], []
    for _ in range(300):
        action = env.action_space.sample()
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append(observation)
        actions.append(action)
        rewards.append(reward)
        path.append(info["path_reward"])
        if terminated or truncated:
            break
    episode = {"observations": seen, "actions": actions, "rewards": rewards, "infos": {"path_reward": path}}
    planner = fwrl.fit([episode])
    assert planner.summary.trips == 1
    assert planner.summary.transitions == len(actions)
    assert planner.value(seen[0]["observation"], seen[-1]["observation"]) >= sum(path) - 1e-12


def test_an_episode_without_steps_is_no_transition():
    begun = {"observations": ["a"], "actions": [], "rewards": [], "infos": {"path_reward": [0.0]}}
    walked = {"observations": ["a", "b"], "actions": ["l"], "rewards": [9.0], "infos": {"path_reward": [0.0, -1.0]}}
    for episodes in ([begun, walked], [walked, begun]):
        planner = fwrl.fit(episodes)
        assert (planner.summary.transitions, planner.value("a", "b")) == (1, -1.0)


def test_an_episode_with_too_few_path_rewards_is_refused_with_their_number():
    short = {"observations": "abcd", "actions": "lll", "rewards": [0.0] * 3, "infos": {"path_reward": [-1.0] * 2}}
    with pytest.raises(FwrlError, match="episode 0 has 4 observations, 3 actions and 2 rewards"):
        fwrl.fit([short])


def test_steps_of_a_walk_are_a_log_without_its_jumps():
    world = fwrl.load_world("h-maze", step_reward=-1.0)
    agent = fwrl.make_agent("fwrl", world.n_states, world.n_actions, seed=0)
    steps = list(fwrl.rollout(fwrl.Task(world), agent, episodes=2, steps=50, seed=0))
    planner = fwrl.fit(steps)
    assert planner.summary.transitions == sum(not step.arrived for step in steps)
    assert planner.summary.trips == 2
    states = [int(state) for state in planner.states]
    for s, g in itertools.product(states, states):
        assert planner.value(s, g) == pytest.approx(agent.value(s, g) if s != g else 0.0)


BAD = [
    ("a,b,-1\nb,,-1\n", "row 2: expected a value as next_state, got nothing"),
    ("a,b,-1\nb,c,nan\n", "row 2: expected a number up to .* as reward, got nan"),
    ("a,b,-1\nb,c,inf\n", "row 2: expected a number up to .* as reward, got inf"),
    ("a,b,-1\nb,c,much\n", "row 2: expected a number up to .* as reward, got 'much'"),
    ("a,b,-1\nb,c,\n", "row 2: expected a number up to .* as reward, got nothing"),
    ("a,b,-1\nb,c\n", "line 3: expected 3 values, one for each column, got fewer"),
    ("a,b,-1\nb,c,1,2\n", "line 3: expected 3 values, one for each column, got more"),
]


@pytest.mark.parametrize(("body", "said"), BAD)
def test_a_bad_row_is_named_or_left_out_and_counted(tmp_path, body, said):
    path = tmp_path / "log.csv"
    path.write_text("state,next_state,reward\n" + body)
    with pytest.raises(FwrlError, match=said) as error:
        fwrl.fit(path)
    assert str(path) in str(error.value)
    planner = fwrl.fit(path, skip_bad=True)
    assert (planner.summary.skipped, planner.summary.transitions) == (1, 1)


def test_the_file_of_a_bad_row_is_named_among_many(tmp_path):
    write(tmp_path / "a.csv", [("a", "b")] * 3, ("state", "next_state"))
    write(tmp_path / "b.csv", [("a", "b"), ("", "b")], ("state", "next_state"))
    with pytest.raises(FwrlError, match=r"b\.csv, row 2: expected a value as state"):
        fwrl.fit([tmp_path / "a.csv", tmp_path / "b.csv"])


def test_a_bad_visit_is_named_also_where_its_trip_goes_on_in_the_next_file(tmp_path):
    names = ("trip", "time", "state", "reward")
    write(tmp_path / "a.csv", [(1, 1, "a", -1), (1, 2, "b", "")], names)
    write(tmp_path / "b.csv", [(1, 3, "c", ""), (2, 1, "a", -1)], names)
    with pytest.raises(FwrlError, match=r"a\.csv, row 2: expected a number up to .* as reward, got nothing"):
        fwrl.fit([tmp_path / "a.csv", tmp_path / "b.csv"])


@pytest.mark.parametrize("skip_bad", [False, True])
def test_names_with_line_breaks_are_read(tmp_path, skip_bad):
    path = tmp_path / "log.csv"
    path.write_bytes(b'state,next_state\n"a\nb",c\nc,d\n')
    planner = fwrl.fit(path, skip_bad=skip_bad)
    assert planner.plan("a\nb", "d").states == ("a\nb", "c", "d")
    assert planner.summary.skipped == 0
    (tmp_path / "places.csv").write_bytes(b'state,x,y\n"a\nb",1,2\nd,3,4\n')
    assert read_positions(tmp_path / "places.csv", planner.experience.states)[0].tolist() == [1.0, 2.0]


def test_folding_looks_up_no_name_on_its_own(monkeypatch):
    before = fwrl.fit(LOG)
    monkeypatch.setattr(TextLabels, "code", None)
    folded = fwrl.fit([("b", "r", -1.0, "0", "t3", 10)], into=before)
    monkeypatch.undo()
    assert_same(folded, fwrl.fit([*LOG, ("b", "r", -1.0, "0", "t3", 10)]))


def test_the_memory_error_names_the_option_only_where_there_is_one():
    options: tuple[FitOption | None, ...] = (None, "memory")
    for option in options:
        with (
            pytest.raises(FwrlError, match="more memory than 10MB") as error,
            reading("10MB", None, "x", option) as reader,
        ):
            reader.one("SELECT list(range) FROM range(100_000_000)")
        assert ("allow more with memory=" in str(error.value)) == (option == "memory")


def test_a_folder_for_temporary_files_may_have_a_quote_in_its_name(tmp_path, monkeypatch):
    (tmp_path / "it's").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "it's"))
    assert fwrl.fit(LOG).summary.edges == 2


def test_the_last_visit_of_a_trip_needs_no_reward(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("trip,time,state,reward\n1,1,a,-1\n1,2,b,\n")
    assert fwrl.fit(path).plan("a", "b").reward == -1.0
    path.write_text("trip,time,state,reward\n1,1,a,\n1,2,b,-1\n")
    with pytest.raises(FwrlError, match=r"visits\.csv, row 1: expected a number up to .* as reward"):
        fwrl.fit(path)


def test_no_move_leads_across_a_visit_that_was_left_out(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("trip,time,state\n1,1,a\n1,2,\n1,3,c\n1,4,d\n1,,z\n,5,z\n")
    with pytest.raises(FwrlError, match=r"visits\.csv, row 2: expected a value as state, got nothing"):
        fwrl.fit(path)
    planner = fwrl.fit(path, skip_bad=True)
    assert [(e["state"], e["next_state"]) for e in planner.edges().to_pylist()] == [("c", "d")]
    assert planner.summary.skipped == 3


WRONG = [
    (7, "expected a log"),
    ([], "the log is empty"),
    ([("a", "b", "c")], "item 0 is"),
    ([(1.5, 2)], "expected strings or integers as state, item 0 has 1.5"),
    ([(True, 2)], "expected strings or integers as state"),
    (np.zeros(3), "record array with named columns"),
    ({"state": ["a"]}, "expected the columns state and next_state"),
    ({"observations": [1, 2], "actions": [0, 0], "rewards": [0.0]}, "one observation more"),
    ("nowhere.csv", "there is no such file"),
    ("nowhere/*.csv", "there is no such file"),
    (sys.executable, "expected a log that ends in one of"),
]


@pytest.mark.parametrize(("source", "said"), WRONG, ids=[said for _, said in WRONG])
def test_what_is_no_log_is_refused_in_words(source, said):
    with pytest.raises(FwrlError, match=said):
        fwrl.fit(source)


def test_logs_with_other_columns_are_not_added(tmp_path):
    planner = fwrl.fit(LOG)
    with pytest.raises(FwrlError, match="some logs have a column action, others do not"):
        fwrl.fit([("a", "b")], into=planner)
    with pytest.raises(FwrlError, match=r"some logs have .* and others .* as times"):
        fwrl.fit(
            {
                "state": ["a"],
                "next_state": ["b"],
                "action": ["l"],
                "reward": [-1.0],
                "trip": ["t"],
                "time": np.array(["2024-01-01"], "datetime64[us]"),
            },
            into=planner,
        )


@pytest.mark.parametrize(
    ("header", "one", "other", "trips"),
    [
        ("trip", ["8", "9"], ["10", "11"], [11, 10, 9]),  # by number, not by name
        ("trip", ["8", "x"], ["10", "y"], ["10", "8", "y"]),
        ("trip,time", ["x,0"], ["1,1", "2,2", "3,3"], ["3", "2", "1"]),  # no kept trip shows that some are text
        ("trip,time", ["x,1730779568291", "y,1730779568291"], ["z,1730779568291", "w,15"], ["y", "x", "z"]),
    ],
)
def test_logs_in_any_turn_keep_the_trips_of_both_at_once(tmp_path, header, one, other, trips):
    logs = []
    for name, rows in (("one.csv", one), ("other.csv", other)):
        logs.append(str(tmp_path / name))
        Path(logs[-1]).write_text(f"state,next_state,{header}\n" + "".join(f"a,b,{row}\n" for row in rows))
    turns = [fwrl.fit(last, into=fwrl.fit(first)) for first, last in (logs, logs[::-1])]
    for planner in (fwrl.fit(logs), *turns):
        assert planner.edges()["trips"].to_pylist() == [trips]


@pytest.mark.parametrize("name", [int, str], ids=["numbers", "names"])
def test_answers_too_long_for_one_go_are_read_bit_by_bit(monkeypatch, name):
    rng = np.random.default_rng(0)
    rows = [
        (int(s), "l", -1.0, int(n), name(k // 9), int(t))
        for k, (s, n, t) in enumerate(zip(*rng.integers(0, 6, (2, 400)), rng.integers(0, 99, 400), strict=True))
    ]
    at_once = fwrl.fit(rows)
    monkeypatch.setattr(reader, "AT_ONCE", 7)
    in_pieces = fwrl.fit(rows)
    assert in_pieces.edges().equals(at_once.edges())
    assert in_pieces.summary == at_once.summary


def test_a_trip_beyond_64_bits_is_text(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("".join(f'{{"state": "a", "next_state": "b", "trip": {n}}}\n' for n in (1, 2**64 - 1)))
    assert fwrl.fit(path).edges()["trips"].to_pylist() == [["1", str(2**64 - 1)]]


def test_the_latest_trips_are_kept_also_of_edges_that_were_last_seen_long_ago():
    rows = [("a", "l", -1.0, "b", k, k) for k in range(5)]
    rows += [("b", "l", -1.0, "a", 10 + k, 1000 + k) for k in range(400)]
    planner = fwrl.fit(rows)
    trips = {e["state"]: e["trips"] for e in planner.edges().to_pylist()}
    assert trips == {"a": [4, 3, 2], "b": [409, 408, 407]}


def test_a_trip_that_goes_to_and_fro_does_not_push_others_out():
    often = [("a", "l", -1.0, "b", 7, 100 + k) for k in range(50)]
    planner = fwrl.fit([("a", "l", -1.0, "b", 1, 1), ("a", "l", -1.0, "b", 2, 2), *often])
    assert planner.edges()["trips"].to_pylist() == [[7, 2, 1]]


def test_progress_is_told():
    told = []
    fwrl.fit(LOG * 1000, progress=lambda what, part: told.append((what, part)))
    assert all(0 <= part <= 1 for _, part in told)
    assert {"grouping", "keeping trips"} <= {what for what, _ in told}
