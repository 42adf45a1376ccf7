"""The heap pops what a plain dictionary says has the highest key."""

from __future__ import annotations

import heapq

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.arrays import empty
from fwrl.kernels.heap import ABSENT, CLOSED, OPEN, Heap, clear, close, pop, push

S = 12
PUSH = st.tuples(st.integers(0, S - 1), st.sampled_from([-3.0, -1.0, 0.0, 0.5, 2.0, np.inf]) | st.floats(-5, 5))
EVENTS = st.lists(st.one_of(PUSH, PUSH, PUSH, st.sampled_from(["pop", "close", "clear"])), max_size=80)


@given(events=EVENTS)
@examples(150)
def test_it_is_a_priority_queue_with_increase_key_and_closed_states(events):
    heap = empty(Heap, {"S": S})
    keys: dict[int, float] = {}
    done: set[int] = set()
    for event in events:
        if event == "clear":
            clear(heap)
            keys = {}
        elif isinstance(event, tuple):
            x, key = event
            push(heap, x, key)
            if x not in done:
                keys[x] = max(key, keys.get(x, -np.inf))
        elif keys:
            highest = heap.key[0]
            x = pop(heap)
            assert keys.pop(x) == highest == max([*keys.values(), highest])
            if event == "close":
                close(heap, x)
                done.add(x)
        n = heap.size[OPEN]
        assert dict(zip(heap.state[:n].tolist(), heap.key[:n].tolist(), strict=True)) == keys
        for x in range(S):
            if x in keys:
                assert heap.state[heap.place[x] - 1] == x
            else:
                assert heap.place[x] == (CLOSED if x in done else ABSENT)


@given(keys=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=200))
@examples(60)
def test_everything_comes_out_in_the_order_of_heapq(keys):
    heap, reference = empty(Heap, {"S": len(keys)}), [-key for key in keys]
    for x, key in enumerate(keys):
        push(heap, x, key)
    heapq.heapify(reference)
    assert [keys[pop(heap)] for _ in keys] == [-heapq.heappop(reference) for _ in keys]
