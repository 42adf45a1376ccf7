"""The work list of a plan is a deque without duplicates and an ordered set."""

from __future__ import annotations

from collections import deque

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.kernels.model.plan import (
    QUEUED,
    TOUCHED,
    cut_short,
    dequeue,
    enqueue,
    no_plan,
    settled,
    touch,
)

S = 5
EVENTS = st.lists(
    st.tuples(st.sampled_from(["enqueue", "dequeue", "touch", "cut"]), st.integers(0, S - 1)), max_size=60
)


@given(EVENTS)
@examples(150)
def test_states_are_queued_once_in_order_and_touched_once(events):
    plan = no_plan(S)
    queue: deque[int] = deque()
    touched: list[int] = []
    cut = False
    for what, s in events:
        if what == "enqueue":
            enqueue(plan, s)
            if s not in queue:
                queue.append(s)
        elif what == "dequeue" and queue:
            assert dequeue(plan) == queue.popleft()
        elif what == "touch":
            touch(plan, s)
            if s not in touched:
                touched.append(s)
        elif what == "cut":
            cut_short(plan)
            queue, touched, cut = deque(), [], True
        assert plan.size[QUEUED] == len(queue)
        assert np.flatnonzero(plan.queued).tolist() == sorted(queue)
        assert plan.touched[: plan.size[TOUCHED]].tolist() == touched
        assert np.flatnonzero(plan.is_touched).tolist() == sorted(touched)
    assert settled(plan) is not cut
