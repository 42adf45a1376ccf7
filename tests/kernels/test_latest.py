"""The latest trips of each edge are what sorting finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.kernels.recent_trips import KEPT, MARK, ROWS, TIME, TRIP, keep_latest, no_sights

EDGES, MOST = 3, 3
OBSERVATIONS = st.lists(
    st.tuples(st.integers(0, EDGES - 1), st.integers(-5, 5), st.sampled_from([0, 1, 7, 2**63, 2**64 - 1])), max_size=40
)


@given(OBSERVATIONS, st.integers(0, 40))
@examples(200)
def test_the_latest_trips_are_kept_each_once_however_rows_come(rows, cut):
    latest = no_sights(EDGES, MOST)
    place = np.arange(len(rows))
    edge, time, mark = (
        np.array([row[0] for row in rows], np.int32),
        np.array([row[1] for row in rows], np.int64),
        np.array([row[2] for row in rows], np.uint64),
    )
    for some in (slice(0, cut), slice(cut, None)):
        keep_latest(edge[some], time[some], mark[some], place[some], latest)
    for e in range(EDGES):
        times: dict[int, int] = {}
        for at, when, which in rows:
            if at == e:
                times[which] = max(when, times.get(which, when))
        expected = sorted(((when, which) for which, when in times.items()), reverse=True)[:MOST]
        sights = latest.sight[e][: latest.seen[e, KEPT]]
        marks = sights[:, MARK].copy().view(np.uint64)
        assert list(zip(sights[:, TIME].tolist(), marks.tolist(), strict=True)) == expected
        assert [rows[row] for row in sights[:, TRIP]] == [(e, when, which) for when, which in expected]
        assert latest.seen[e, ROWS] == sum(at == e for at, *_ in rows)
