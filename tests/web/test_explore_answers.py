"""Questions and answers of the explore page: addresses, words, evidence, comparisons, copies."""

import json
import shlex

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from web_town import PLACES, write_town

import fwrl
from fwrl.display import percent
from fwrl.errors import FwrlError
from fwrl.planner import Planner, read_positions
from fwrl.web.explore.copies import copied
from fwrl.web.explore.explorer import Explorer, Shown
from fwrl.web.explore.question import Question, from_address, to_address
from fwrl.web.explore.state_map import state_map
from fwrl.web.explore.words import Unit, difference, recency_of, sentence


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    return write_town(tmp_path_factory.mktemp("town"))


def explorer_of(town, positions=True):
    planner = Planner.load(town.planner)
    where = read_positions(town.positions, planner.states) if positions else None
    shown = Shown(
        planner,
        state_map(planner.experience, where),
        recency_of(planner.experience),
        str(town.planner),
        str(town.positions) if positions else None,
    )
    return Explorer(shown)


@pytest.fixture(scope="module")
def explorer(town):
    return explorer_of(town)


def asked(explorer, address):
    return explorer.answer(from_address(address, explorer.shown.planner))


LABELS = ["a", "b c", "d&e=f", "+1", "ü#%", "-x"]
SOME = st.lists(st.integers(0, len(LABELS) - 1), unique=True, max_size=3).map(tuple)
ROADS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5)).map(lambda road: (min(road), max(road))), unique=True, max_size=3
).map(tuple)
ONE = st.none() | st.integers(0, len(LABELS) - 1)


QUESTIONS = st.builds(
    Question,
    ONE,
    ONE,
    SOME,
    SOME,
    st.sampled_from(["expected", "best"]),
    st.sampled_from(["route", "reach", "coverage"]),
    ROADS,
)


@pytest.fixture(scope="module")
def oddly_named():
    return fwrl.fit([(a, b) for a in LABELS for b in LABELS])


@given(question=QUESTIONS)
def test_an_address_carries_the_question_whatever_names_states_have(oddly_named, question):
    assert from_address(to_address(question, oddly_named), oddly_named) == question


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("from=homee", "did you mean 'home'"),
        ("start=home", "unknown part 'start'"),
        ("backup=worst", "unknown backup 'worst'"),
        ("view=map", "unknown view 'map'"),
        ("&".join(["via=home"] * 101), "at most 100"),
        ("road=home", "a road has two ends"),
    ],
)
def test_an_address_that_cannot_be_read_says_why(explorer, address, problem):
    with pytest.raises(FwrlError, match=problem):
        from_address(address, explorer.shown.planner)


def test_the_sentence_says_steps_arrival_trips_and_the_weakest_step(explorer):
    said = asked(explorer, "from=home&to=shop")["sentence"]
    assert said == "4 steps, arrives 94 %, stitched from at most 2 trips, weakest step seen once, 1 Jan 2024"
    assert asked(explorer, "from=home&to=mill")["sentence"].startswith("1 step, arrives 100 %, known from one trip")
    assert asked(explorer, "from=home&to=home")["sentence"] == "Nothing to do: from and to are the same place"


def test_a_log_without_trips_and_times_has_a_shorter_sentence():
    planner = fwrl.fit([("a", "b"), ("b", "c")])
    assert sentence(planner.explain("a", "c")) == "2 steps, arrives 100 %, weakest step seen once"


def test_steps_carry_their_evidence(explorer):
    route = asked(explorer, "from=home&to=shop")["route"]
    assert [explorer.shown.planner.states[s] for s in route["states"]] == ["home", "mill", "bridge", "square", "shop"]
    first, _, third, last = route["steps"]
    assert (first["seen"], first["old"], first["trips"], first["stitch"]) == (1, True, ["old"], False)
    assert (third["seen"], third["old"], third["trips"]) == (2, False, ["slow", "old"])
    assert (last["stitch"], last["probability"], last["seen"]) == (True, 0.9375, 15)
    assert last["cost"] == "1.47"
    assert last["last"] == "19 Jun 2024, 09:00"


def test_what_if_compares_with_the_way_without_conditions(explorer):
    answer = asked(explorer, "from=home&to=shop&avoid=mill")
    states = explorer.shown.planner.states
    assert [states[s] for s in answer["ghost"]] == ["home", "mill", "bridge", "square", "shop"]
    assert answer["difference"] == (
        "With these closures: the same number of steps, cost 6 more; 2 of 4 steps are the same."
    )
    assert "ghost" not in asked(explorer, "from=home&to=shop")
    same = asked(explorer, "from=home&to=shop&via=mill")
    assert same["difference"] == "With these stops: the same route."
    assert "ghost" not in same
    both = asked(explorer, "from=home&to=shop&via=lane&avoid=mill")
    assert both["difference"].startswith("With these stops and closures: the same number of steps")
    assert "(4.47 without stops and closures)" in both["headline"]


def test_differences_in_words():
    planner = fwrl.fit([("a", "x", -1.0, "b"), ("b", "x", -1.0, "c"), ("a", "y", -3.0, "c")])
    short, long = planner.plan("a", "c"), planner.plan("a", "c", avoid=["b"])
    assert difference(short, long, Unit("min")) == "1 step fewer, 1 min more; no step is the same"
    assert difference(long, short, Unit("min")) == "1 step more, 1 min less; no step is the same"
    assert (percent(0.999), percent(0.0)) == ("over 99 %", "0 %")


def test_without_a_way_both_sides_and_the_nearest_gap_are_named(explorer):
    answer = asked(explorer, "from=home&to=port")
    states = explorer.shown.planner.states
    assert answer["problem"] == "No route is known."
    assert {states[s] for s in answer["gap"]["behind"]} == {"isle", "port"}
    assert {states[s] for s in answer["gap"]["ahead"]} == set(PLACES) - {"isle", "port"}
    assert [states[s] for s in answer["gap"]["near"]] == ["hole", "isle"]
    assert answer["gap"]["words"] == [
        "home and port are in two parts of the log that never meet: 9 places and 2.",
        "home reaches 8 of 11 places, 1 reaches port.",
        "The nearest gap is from hole to isle, 1.41 apart.",
    ]


def test_without_positions_a_move_the_other_way_or_an_avoided_state_is_named(town):
    explorer = explorer_of(town, positions=False)
    back = asked(explorer, "from=square&to=bridge")["gap"]
    assert [explorer.shown.planner.states[s] for s in back["near"]] == ["square", "bridge"]
    assert back["words"][-1] == "The step from bridge to square was seen twice, but never back."
    blocked = asked(explorer, "from=home&to=shop&avoid=bridge")
    assert "bridge, which is avoided, would join them." in blocked["gap"]["words"]
    assert blocked["difference"].startswith("Without these closures: home → shop, about cost 4.47")


def test_both_backups_are_answered(explorer):
    answer = asked(explorer, "from=home&to=shop")
    expected, best = answer["backups"]["expected"], answer["backups"]["best"]
    assert (expected["arrival"], best["arrival"]) == (0.9375, 1.0)
    assert (best["cost"], expected["cost"]) == ("cost 4", "cost 4.47")
    assert answer["same"]


def test_a_backup_that_cannot_be_planned_leaves_the_other(tmp_path):
    planner = fwrl.fit([("a", "x", 3.0, "b"), ("a", "x", -9.0, "b"), ("b", "y", -1.0, "a"), ("b", "z", -1.0, "c")])
    shown = Shown(planner, state_map(planner.experience), None, "log.fwrl", None)
    answer = asked(Explorer(shown), "from=a&to=c")
    assert "positive" in answer["backups"]["best"]["problem"]
    assert answer["backups"]["expected"]["steps"] == 2
    assert answer["sentence"].startswith("2 steps")
    assert "positive" in asked(Explorer(shown), "from=a&to=c&backup=best")["problem"]


def test_coverage_lists_bridges_dead_ends_and_one_way_streets(explorer):
    found = explorer.coverage()
    rows = {kind: [row["name"] for row in found["lists"][kind]] for kind in found["lists"]}
    assert rows["dead ends"] == ["shop", "park"]
    assert "square → park" in rows["bridges"]
    assert "mill → bridge" in rows["bridges"]
    assert "bridge → square" not in rows["bridges"]  # two trips made it
    assert "isle → port" not in rows["one-way"]
    assert {row["trip"] for row in found["lists"]["bridges"] if row["name"] == "square → park"} == {"picnic"}
    assert found["sentence"].endswith("2 dead ends, 8 one-way roads")


def test_search_prefers_names_that_begin_with_the_text(explorer):
    found = explorer.search("P")
    assert [row["name"] for row in found["states"]] == ["pit", "park", "port", "shop"]
    assert found["total"] == 4
    assert explorer.search("zebra")["total"] == 0
    assert [row["name"] for row in explorer.search("p*t")["states"]] == ["pit", "port"]


def test_states_beyond_the_map_are_refused(explorer):
    for wrong in (-1, 11, 2**40):
        with pytest.raises(FwrlError, match="expected a state from 0 to 10"):
            explorer.look(wrong)
        with pytest.raises(FwrlError, match="expected a state from 0 to 10"):
            explorer.answer(Question(0, 1, avoid=(wrong,)))


ADDRESSES = [
    "from=home&to=shop",
    "from=home&to=shop&road=mill&road=home",
    "from=home&to=shop&avoid=mill&backup=best",
    "from=home&to=shop&via=lane&avoid=park",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_the_copied_command_prints_the_copied_json(explorer, call, address):
    question = from_address(address, explorer.shown.planner)
    command = shlex.split(copied(explorer, question, "command"))
    assert command[0] == "fwrl"
    code, out, _ = call(*command[1:], "--json")
    assert code == 0
    assert json.loads(out) == json.loads(copied(explorer, question, "json"))


def test_the_copied_picture_is_that_of_the_command(explorer, call, tmp_path):
    question = from_address("from=home&to=shop", explorer.shown.planner)
    command = shlex.split(copied(explorer, question, "command"))
    for name in ("svg", "geojson"):
        assert call(*command[1:], "--picture", str(tmp_path / f"way.{name}"))[0] == 0
        written = (tmp_path / f"way.{name}").read_text()
        assert copied(explorer, question, name).strip() == written.strip()


def test_copies_that_cannot_be_made_say_why(town, explorer):
    planner = explorer.shown.planner
    with pytest.raises(FwrlError, match="needs positions"):
        copied(explorer_of(town, positions=False), from_address("from=home&to=shop", planner), "geojson")
    with pytest.raises(FwrlError, match="no route"):
        copied(explorer, from_address("from=home&to=port", planner), "command")
    with pytest.raises(FwrlError, match="choose from and to"):
        copied(explorer, Question(), "json")
    with pytest.raises(FwrlError, match="unknown format 'pdf'"):
        copied(explorer, Question(), "pdf")


def test_what_is_old_follows_the_log_its_half_life_or_the_limit(town):
    experience = Planner.load(town.planner).experience
    found = recency_of(experience)
    assert found is not None
    assert found.words == "85 days"
    limited = recency_of(experience, limit=2 * 3600e6)
    assert limited is not None
    assert limited.words == "2 hours"
    assert limited.is_old(limited.newest - int(2 * 3600e6) - 1)
    assert not limited.is_old(limited.newest - int(2 * 3600e6))
    aged = recency_of(fwrl.fit(str(town.log), half_life="30d").experience)
    assert aged is not None
    assert aged.words == "30 days"
    assert recency_of(fwrl.fit([("a", "b")]).experience) is None


def test_positions_of_states_that_the_file_lacks_are_unknown_but_answered():
    planner = fwrl.fit([("a", "b"), ("b", "c")])
    drawn = state_map(planner.experience, np.array([[0.0, 0], [np.nan, np.nan], [1, 1]]))
    explorer = Explorer(Shown(planner, drawn, None, "log.fwrl", "places.csv"))
    assert explorer.hello()["unplaced"] == 1
    assert asked(explorer, "from=a&to=c")["sentence"].startswith("2 steps")
    with pytest.raises(FwrlError, match="'b' is on the route but has no position"):
        copied(explorer, from_address("from=a&to=c", planner), "geojson")
