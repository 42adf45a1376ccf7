"""A route as GeoJSON (RFC 7946), for maps that people already have.

Positions are written as they are, x then y: longitude and latitude where these were given.
"""

from __future__ import annotations

from typing import Any

from fwrl.arrays import Floats
from fwrl.planner.experience import Experience
from fwrl.planner.explanation import Explanation, shown_time, time_of
from fwrl.planner.positions import route_positions


def route_geojson(explanation: Explanation, experience: Experience, positions: Floats) -> dict[str, Any]:
    """The route as a FeatureCollection: a line for each stretch, points for start, stitches and goal.

    Args:
        explanation: The route and where it comes from.
        experience: The experience of the planner.
        positions: (S, 2) positions of its states, NaN where unknown.

    Returns:
        What a GeoJSON file holds.

    """
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
