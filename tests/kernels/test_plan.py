"""The list of touched states is a set in order, with the directions of their changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.kernels.model.plan import FELL, ROSE, STALE, TOUCHED, no_plan, touch


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from([ROSE, FELL])), max_size=30))
@examples(100)
def test_states_are_touched_once_in_order_with_all_directions(events):
    plan = no_plan(5)
    for s, direction in events:
        touch(plan, s, direction)
    assert plan.touched[: plan.size[TOUCHED]].tolist() == list(dict.fromkeys(s for s, _ in events))
    for s in range(5):
        assert plan.moved[s] == sum({direction for x, direction in events if x == s})


def test_a_plan_begins_as_one_to_be_made():
    assert no_plan(3).size[STALE] == 1
