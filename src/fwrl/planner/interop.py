"""Routes and edges for other tools: GeoJSON (RFC 7946), an Arrow table, a networkx graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from fwrl.arrays import Floats, Ints
from fwrl.errors import FwrlError
from fwrl.planner.explanation import Explanation, shown_time, time_of
from fwrl.planner.labels import IntegerLabels, Labels
from fwrl.planner.places import route_positions
from fwrl.planner.transition_counts import MILLION, NONE, TimeKind, TransitionCounts


def arrow_table(experience: TransitionCounts) -> Any:
    """One row for each edge, in order."""
    try:
        import pyarrow as pa  # type: ignore[import-untyped]
    except ImportError:
        raise FwrlError("an Arrow table needs pyarrow; install it with: pip install 'fwrl[arrow]'") from None
    next_state = _decoded(experience.states, experience.target)
    columns: dict[str, Any] = {
        "state": _decoded(experience.states, experience.source),
        "action": next_state
        if experience.action is None or experience.actions is None
        else _decoded(experience.actions, experience.action),
        "next_state": next_state,
        "count": pa.array(experience.count),
        **({} if experience.weight is None else {"weight": pa.array(experience.weight)}),
        "reward": pa.array(experience.mean),
        "best": pa.array(experience.best),
        "probability": pa.array(edge_probabilities(experience)),
    }
    if experience.terminated is not None:
        columns["terminated"] = pa.array(experience.terminated[experience.target] == 1)
    evidence = experience.evidence
    if evidence.last is not None:
        columns["last"] = _times(evidence.last, experience.time)
    if evidence.trip is not None and evidence.trips is not None:
        kept = evidence.trip != NONE
        offsets = np.concatenate(([0], np.cumsum(kept.sum(axis=1)))).astype(np.int32)
        trips = _decoded(evidence.trips, evidence.trip[kept])
        columns["trips"] = pa.ListArray.from_arrays(pa.array(offsets), trips)
        if evidence.trip_time is not None:
            times = _times(evidence.trip_time[kept], experience.time)
            columns["trip_times"] = pa.ListArray.from_arrays(pa.array(offsets), times)
    return pa.table(columns)


def networkx_graph(experience: TransitionCounts) -> Any:
    """A MultiDiGraph: states as nodes, edges keyed by their action."""
    try:
        import networkx
    except ImportError:
        raise FwrlError("a graph needs networkx; install it with: pip install 'fwrl[networkx]'") from None
    graph = networkx.MultiDiGraph()
    states = list(experience.states)
    graph.add_nodes_from(states)
    actions = states if experience.actions is None else list(experience.actions)
    action = experience.target if experience.action is None else experience.action
    attributes = (experience.count, experience.mean, experience.best, edge_probabilities(experience))
    rows = zip(experience.source, action, experience.target, *attributes, strict=True)
    for s, a, n, count, mean, best, probability in rows:
        graph.add_edge(
            states[s],
            states[n],
            key=actions[a],
            count=int(count),
            reward=float(mean),
            best=float(best),
            probability=float(probability),
        )
    return graph


def edge_probabilities(experience: TransitionCounts) -> Floats:
    """(E,) how often the action of an edge led to its next state, as a share of the observations of the action."""
    pair = experience.pair()
    probabilities: Floats = experience.times / np.bincount(pair, weights=experience.times)[pair]
    return probabilities


def _times(times: Ints, kind: TimeKind | None) -> Any:
    import pyarrow as pa

    if kind == "timestamp":
        return pa.array(times, pa.timestamp("us"))
    return pa.array(times / MILLION if kind == "number" else times)


def _decoded(labels: Labels, codes: Any) -> Any:
    import pyarrow as pa

    names = pa.array(labels.numbers) if isinstance(labels, IntegerLabels) else pa.array(list(labels), pa.string())
    return names.take(pa.array(codes))


def route_geojson(explanation: Explanation, experience: TransitionCounts, positions: Floats) -> dict[str, Any]:
    """The content of a GeoJSON file: a line for each stretch of the route, points for start, stitches and goal."""
    route, way = explanation.route, route_positions(explanation.route, experience, positions).tolist()
    last = experience.evidence.last
    features = []
    for number, trips in enumerate(explanation.stretches):
        steps = [k for k, each in enumerate(explanation.steps) if each.stretch == number]
        line = {"type": "LineString", "coordinates": way[steps[0] : steps[-1] + 2]}
        inside = [explanation.steps[k] for k in steps]
        latest = None if last is None else time_of(max(int(last[route.edges[k]]) for k in steps), experience.time)
        properties = {
            "stretch": number,
            "from": inside[0].step.state,
            "to": inside[-1].step.next_state,
            "steps": len(steps),
            "reward": sum(each.step.reward for each in inside),
            "least seen": min(each.step.seen for each in inside),
            "last": None if latest is None else str(shown_time(latest)),
            "trips": list(trips),
        }
        features.append({"type": "Feature", "geometry": line, "properties": properties})
    stitches = [k for k in range(1, len(explanation.steps)) if explanation.is_stitch(k)]
    roles = [(0, "start"), *((k, "stitch") for k in stitches), (len(way) - 1, "goal")]
    for k, role in roles:
        point = {"type": "Point", "coordinates": way[k]}
        features.append({"type": "Feature", "geometry": point, "properties": {"role": role, "state": route.states[k]}})
    return {"type": "FeatureCollection", "features": features}
