"""The list of touched states is a set in order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.kernels.model.plan import STALE, TOUCHED, no_plan, touch


@given(st.lists(st.integers(0, 4), max_size=30))
@examples(100)
def test_states_are_touched_once_in_order(states):
    plan = no_plan(5)
    for s in states:
        touch(plan, s)
    assert plan.touched[: plan.size[TOUCHED]].tolist() == list(dict.fromkeys(states))
    assert plan.is_touched.tolist() == [int(s in states) for s in range(5)]


def test_a_plan_begins_as_one_to_be_made():
    assert no_plan(3).size[STALE] == 1
