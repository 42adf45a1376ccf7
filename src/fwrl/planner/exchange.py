"""Experience for other tools: an Arrow table, a networkx graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from fwrl.errors import FwrlError
from fwrl.planner.experience import NONE, Experience
from fwrl.planner.labels import Labels


def arrow_table(found: Experience) -> Any:
    """One row for each edge, in order."""
    try:
        import pyarrow as pa  # type: ignore[import-untyped]
    except ImportError:
        raise FwrlError("an Arrow table needs pyarrow; install it with: pip install 'fwrl[arrow]'") from None
    columns: dict[str, Any] = {
        "state": _named(found.states, found.source),
        "action": _named(found.states, found.target)
        if found.action is None or found.actions is None
        else _named(found.actions, found.action),
        "next_state": _named(found.states, found.target),
        "count": pa.array(found.count),
        "reward": pa.array(found.mean),
        "best": pa.array(found.best),
        "probability": pa.array(shares(found)),
    }
    was = found.evidence
    if was.last is not None:
        last = was.last / 1e6 if found.time == "number" else was.last
        columns["last"] = pa.array(last, pa.timestamp("us")) if found.time == "timestamp" else pa.array(last)
    if was.trip is not None and was.trips is not None:
        kept = was.trip != NONE
        offsets = np.concatenate(([0], np.cumsum(kept.sum(axis=1)))).astype(np.int32)
        columns["trips"] = pa.ListArray.from_arrays(pa.array(offsets), _named(was.trips, was.trip[kept]))
    return pa.table(columns)


def shares(found: Experience) -> Any:
    """(E,) how often the action of an edge led where the edge leads."""
    pairs = np.cumsum(found.fresh_pair()) - 1
    return found.count / np.bincount(pairs, weights=found.count)[pairs]


def _named(labels: Labels, places: Any) -> Any:
    import pyarrow as pa

    names = pa.array(labels.numbers) if labels.numbers is not None else pa.array(list(labels), pa.string())
    return names.take(pa.array(places))


def graph(found: Experience) -> Any:
    """States as nodes, edges keyed by their action."""
    try:
        import networkx  # type: ignore[import-untyped]
    except ImportError:
        raise FwrlError("a graph needs networkx; install it with: pip install networkx") from None
    made = networkx.MultiDiGraph()
    names = list(found.states)
    made.add_nodes_from(names)
    actions = names if found.actions is None else list(found.actions)
    chosen = found.target if found.action is None else found.action
    rows = zip(found.source, chosen, found.target, found.count, found.mean, found.best, shares(found), strict=True)
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
