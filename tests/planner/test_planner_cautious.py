"""Cautious plans: weak evidence counts for less; without the option nothing changes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fwrl
from fwrl.errors import OptionError


def shortcut(seen: int, detour: int, usual: int = 9_999):
    """A shortcut of one step, and a detour of several, whose steps were seen `usual` times."""
    states = ["home", *(f"d{k}" for k in range(1, detour)), "shop"]
    log = {"state": ["home", *states[:-1]], "next_state": ["shop", *states[1:]]}
    return fwrl.fit({**log, "action": ["short", *["on"] * detour], "count": [seen, *[usual] * detour]})


def test_a_shortcut_seen_once_is_not_preferred_to_a_way_seen_9999_times():
    for detour in (2, 5, 501):
        planner = shortcut(1, detour)
        assert len(planner.plan("home", "shop").steps) == 1
        assert len(planner.plan("home", "shop", cautious=0.95).steps) == detour
    assert len(shortcut(9_999, 5).plan("home", "shop", cautious=0.95).steps) == 1


def test_evidence_decides_where_steps_begin_to_be_trusted():
    # The shortcut is taken once 0.05 ** (1 / n) exceeds 0.05 ** (2 / 10).
    chosen = {n: len(shortcut(n, 2, usual=10).plan("home", "shop", cautious=0.95).steps) for n in range(3, 8)}
    assert chosen == {3: 2, 4: 2, 5: 1, 6: 1, 7: 1}


def test_a_cost_of_giving_up_weighs_evidence_against_reward():
    planner = shortcut(20, 30)
    q = 0.05 ** (1 / 20)
    assert planner.value("home", "shop", cautious=0.95, give_up=50) == pytest.approx(-1 - (1 - q) * 50)
    assert len(planner.plan("home", "shop", cautious=0.95, give_up=50).steps) == 1
    assert len(planner.plan("home", "shop", cautious=0.95, give_up=5000).steps) == 30


rows = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 5), st.integers(1, 9)), min_size=2, max_size=25
)


@given(rows)
@settings(max_examples=15)
def test_without_caution_every_answer_is_the_same_to_the_bit_and_with_it_lower(log):
    state, action, following, count = (list(column) for column in zip(*log, strict=True))
    columns = {"state": state, "action": action, "next_state": following, "count": count}
    planner, fresh = fwrl.fit(columns), fwrl.fit(columns)
    labels = list(planner.states)
    asked = [(s, g) for s in labels for g in labels]
    careful = {pair: planner.arrival(*pair, cautious=0.9) for pair in asked}
    for pair in asked:
        assert planner.arrival(*pair) == fresh.arrival(*pair)
        assert planner.value(*pair) == fresh.value(*pair)
        assert careful[pair] <= planner.arrival(*pair) + 1e-12
        assert (careful[pair] > 0) == (planner.arrival(*pair) > 0)
        assert planner.arrival(*pair, cautious=0.99) <= careful[pair] + 1e-12


def test_routes_and_json_say_how_sure_they_are(call, tmp_path):
    shortcut(3, 2).save(tmp_path / "p.fwrl")
    route = shortcut(3, 2).plan("home", "shop", cautious=0.9)
    assert route.cautious == 0.9
    assert route.arrival == pytest.approx(0.1 ** (2 / 9_999))
    code, out, _ = call("plan", "p.fwrl", "home", "shop", "--cautious", "0.9")
    assert code == 0
    assert "arrives over 99 % of the time" in out
    assert "each step is bounded with confidence 0.9" in out
    code, out, _ = call("explain", "p.fwrl", "home", "shop", "--cautious", "0.9", "--json")
    said = json.loads(out)
    assert (said["cautious"], said["weakest"]["seen"], said["unknown"]) == (0.9, 9_999, 0.0)
    assert json.loads(call("plan", "p.fwrl", "home", "shop", "--json").out)["cautious"] is None


@pytest.mark.parametrize("confidence", [0.0, 0.49, 1.0, 1.5, -1.0, np.nan])
def test_what_is_no_confidence_is_refused(confidence):
    with pytest.raises(OptionError, match=r"expected a confidence from 0\.5 to less than 1"):
        shortcut(1, 2).plan("home", "shop", cautious=confidence)


def test_options_that_do_not_go_together_are_refused(call, tmp_path):
    planner = shortcut(1, 2)
    with pytest.raises(OptionError, match="a cautious plan needs backup 'expected'"):
        planner.plan("home", "shop", backup="best", cautious=0.95)
    planner.save(tmp_path / "p.fwrl")
    code, _, err = call(
        "plan", "p.fwrl", "home", "shop", "--cautious", "0.9", "--alternatives", "2", "--backup", "best"
    )
    assert code == 2
    assert "--cautious and --alternatives don't work together" in err


def test_a_probability_below_the_smallest_number_is_said_with_what_helps():
    n = 300
    planner = fwrl.fit([(s, s + 1) for s in range(n)])
    with pytest.raises(OptionError, match="smaller than any number; choose a lower confidence, or a cost of giving up"):
        planner.plan(0, n, cautious=0.95)
    assert len(planner.plan(0, n, cautious=0.5).steps) == n
    assert len(planner.plan(n - 5, n, cautious=0.95, give_up=1e9).steps) == 5


def test_weights_by_age_count_as_observations():
    log = {"state": ["a", "a"], "action": [0, 1], "next_state": ["b", "b"], "time": [0, 10], "reward": [-1.0, -1.0]}
    aged = fwrl.fit(log, half_life=1.0)
    assert aged.plan("a", "b", cautious=0.95).steps[0].action == 1
