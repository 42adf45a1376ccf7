"""Experience for other tools: an Arrow table, a networkx graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from fwrl.errors import FwrlError
from fwrl.planner.experience import NONE, Experience
from fwrl.planner.labels import Labels


def arrow_table(experience: Experience) -> Any:
    """One row for each edge, in order."""
    try:
        import pyarrow as pa  # type: ignore[import-untyped]
    except ImportError:
        raise FwrlError("an Arrow table needs pyarrow; install it with: pip install 'fwrl[arrow]'") from None
    columns: dict[str, Any] = {
        "state": _named(experience.states, experience.source),
        "action": _named(experience.states, experience.target)
        if experience.action is None or experience.actions is None
        else _named(experience.actions, experience.action),
        "next_state": _named(experience.states, experience.target),
        "count": pa.array(experience.count),
        "reward": pa.array(experience.mean),
        "best": pa.array(experience.best),
        "probability": pa.array(shares(experience)),
    }
    was = experience.evidence
    if was.last is not None:
        last = was.last / 1e6 if experience.time == "number" else was.last
        columns["last"] = pa.array(last, pa.timestamp("us")) if experience.time == "timestamp" else pa.array(last)
    if was.trip is not None and was.trips is not None:
        kept = was.trip != NONE
        offsets = np.concatenate(([0], np.cumsum(kept.sum(axis=1)))).astype(np.int32)
        columns["trips"] = pa.ListArray.from_arrays(pa.array(offsets), _named(was.trips, was.trip[kept]))
    return pa.table(columns)


def shares(experience: Experience) -> Any:
    """(E,) how often the action of an edge led where the edge leads."""
    pairs = np.cumsum(experience.fresh_pair()) - 1
    return experience.count / np.bincount(pairs, weights=experience.count)[pairs]


def _named(labels: Labels, places: Any) -> Any:
    import pyarrow as pa

    names = pa.array(labels.numbers) if labels.numbers is not None else pa.array(list(labels), pa.string())
    return names.take(pa.array(places))


def graph(experience: Experience) -> Any:
    """States as nodes, edges keyed by their action."""
    try:
        import networkx  # type: ignore[import-untyped]
    except ImportError:
        raise FwrlError("a graph needs networkx; install it with: pip install networkx") from None
    made = networkx.MultiDiGraph()
    names = list(experience.states)
    made.add_nodes_from(names)
    actions = names if experience.actions is None else list(experience.actions)
    chosen = experience.target if experience.action is None else experience.action
    rows = zip(
        experience.source,
        chosen,
        experience.target,
        experience.count,
        experience.mean,
        experience.best,
        shares(experience),
        strict=True,
    )
    for s, a, n, count, mean, best, share in rows:
        made.add_edge(
            names[s],
            names[n],
            key=actions[a],
            count=int(count),
            reward=float(mean),
            best=float(best),
            probability=float(share),
        )
    return made
