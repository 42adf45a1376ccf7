"""The heap pops what a plain dictionary says has the highest key."""

from __future__ import annotations

import heapq

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.kernels.graph.heap import (
    ABSENT,
    CLOSED,
    FOUR_CHILDREN,
    IN_CLOSED_SET,
    OPEN,
    clear,
    close,
    empty_heap,
    is_closed,
    pop,
    push,
)
from fwrl.kernels.model.sweeping import TWO_CHILDREN

S = 12
ARITIES = pytest.mark.parametrize("b", [TWO_CHILDREN, FOUR_CHILDREN], ids=["two", "four"])
PUSH = st.tuples(st.integers(0, S - 1), st.sampled_from([-3.0, -1.0, 0.0, 0.5, 2.0, np.inf]) | st.floats(-5, 5))
EVENTS = st.lists(st.one_of(PUSH, PUSH, PUSH, st.sampled_from(["pop", "close", "clear"])), max_size=80)


@ARITIES
@given(events=EVENTS)
@examples(150)
def test_it_is_a_priority_queue_with_increase_key_and_a_closed_set(b, events):
    heap = empty_heap(S)
    keys: dict[int, float] = {}
    done: dict[int, float] = {}
    for event in events:
        if event == "clear":
            clear(heap)
            keys, done = {}, {}
        elif isinstance(event, tuple):
            x, key = event
            push(heap, x, key, b)
            if x not in done:
                keys[x] = max(key, keys.get(x, -np.inf))
        elif keys:
            highest = heap.key[0]
            x = pop(heap, b)
            assert keys.pop(x) == highest == max([*keys.values(), highest])
            if event == "close":
                close(heap, x, highest)
                done[x] = highest
        n = heap.size[OPEN]
        assert dict(zip(heap.state[:n].tolist(), heap.key[:n].tolist(), strict=True)) == keys
        assert list(zip(heap.closed[: len(done)], heap.closed_key[: len(done)], strict=True)) == list(done.items())
        assert heap.size[CLOSED] == len(done)
        for x in range(S):
            assert is_closed(heap, x) == (x in done)
            if x in keys:
                assert heap.state[heap.place[x] - 1] == x
            else:
                assert heap.place[x] == (IN_CLOSED_SET if x in done else ABSENT)


@ARITIES
@given(keys=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=200))
@examples(60)
def test_everything_comes_out_in_the_order_of_heapq(b, keys):
    heap, reference = empty_heap(len(keys)), [-key for key in keys]
    for x, key in enumerate(keys):
        push(heap, x, key, b)
    heapq.heapify(reference)
    assert [keys[pop(heap, b)] for _ in keys] == [-heapq.heappop(reference) for _ in keys]
