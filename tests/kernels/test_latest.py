"""The latest trips of each edge are what sorting finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.kernels.graph.latest import MARK, TIME, TRIP, keep_latest, no_sights

EDGES, KEPT = 3, 3
ROWS = st.lists(
    st.tuples(st.integers(0, EDGES - 1), st.integers(-5, 5), st.sampled_from([0, 1, 7, 2**63, 2**64 - 1])), max_size=40
)


@given(ROWS, st.integers(0, 40))
@examples(200)
def test_the_latest_trips_are_kept_each_once_however_rows_come(rows, cut):
    latest = no_sights(EDGES, KEPT)
    place = np.arange(len(rows))
    columns = [np.array([row[k] for row in rows], t) for k, t in enumerate((np.int32, np.int64, np.uint64))]
    for some in (slice(0, cut), slice(cut, None)):
        keep_latest(*(column[some] for column in columns), place[some], latest)
    for e in range(EDGES):
        times: dict[int, int] = {}
        for edge, time, mark in rows:
            if edge == e:
                times[mark] = max(time, times.get(mark, time))
        expected = sorted(((time, mark) for mark, time in times.items()), reverse=True)[:KEPT]
        sights = latest.sight[e][: latest.seen[e, 0]]
        marks = sights[:, MARK].copy().view(np.uint64)
        assert list(zip(sights[:, TIME].tolist(), marks.tolist(), strict=True)) == expected
        assert [rows[row] for row in sights[:, TRIP]] == [(e, time, mark) for time, mark in expected]
        assert latest.seen[e, 1] == sum(edge == e for edge, *_ in rows)
