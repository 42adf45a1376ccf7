"""Headers of earlier versions of the format, turned into those of the current one.

Version 1 named the sections of agents after fields in the code. Since version 2 they have names of their own. Planners
had such names all along.
"""

from __future__ import annotations

from typing import Any

SECTIONS_SINCE_VERSION_2 = {
    "clock": "episode",
    "V": "values",
    "F": "path-rewards",
    "Q": "action-values",
    "DG": "steps",
    "changes": "relaxation/changes",
    "relaxed": "relaxation/relaxed-at",
    "slot": "goal-slots",
    "reward": "optimism/reward",
    "dice": "replay/generator",
    "edges.leaving": "edges/first-leaving",
    "edges.entering": "edges/first-entering",
    "edges.next_leaving": "edges/next-leaving",
    "edges.next_entering": "edges/next-entering",
    "edges.pair": "edges/pair",
    "edges.target": "edges/target",
    "edges.times": "edges/count",
    "edges.total": "edges/total-reward",
    "edges.best": "edges/best-reward",
    "edges.used": "edges/used",
    "links.leaving": "edges/first-leaving",
    "links.link": "edges/links",
    "links.best": "edges/best-reward",
    "links.used": "edges/used",
    "plan.p": "plan/arrival",
    "plan.v": "plan/value",
    "plan.pi": "plan/policy",
    "plan.queue": "plan/queue",
    "plan.queued": "plan/queued",
    "plan.touched": "plan/touched",
    "plan.is_touched": "plan/is-touched",
    "plan.size": "plan/size",
    "queue.heap": "queue/heap",
    "queue.place": "queue/position",
    "queue.priority": "queue/priority",
    "queue.size": "queue/size",
    "ring.state": "replay/state",
    "ring.action": "replay/action",
    "ring.reward": "replay/reward",
    "ring.next_state": "replay/next-state",
    "ring.stored": "replay/stored",
    "trips.goal": "replay/goal",
    "trips.trip": "replay/trip",
    "trips.last": "replay/last-of-trip",
    "trips.newest": "replay/newest-trip",
}
OPTIMISM_SINCE_VERSION_2 = {
    "hope.on": "optimism/on",
    "hope.reward": "optimism/reward",
    "hope.prior": "optimism/prior",
    "hope.share": "optimism/unseen-probability",
    "hope.tries": "optimism/tries",
    "hope.news": "optimism/new-outcomes",
}


def upgraded(header: dict[str, Any], version: int) -> dict[str, Any]:
    """The header of a file of `version`, as the current version would have written it."""
    if version == 1 and header["kind"] == "agent":
        sections = [{**section, "name": _name_since_version_2(section["name"])} for section in header["sections"]]
        header = {**header, "sections": sections}
    return header


def _name_since_version_2(name: str) -> str:
    optimism = OPTIMISM_SINCE_VERSION_2.get(name.removeprefix("plan."))
    return optimism or SECTIONS_SINCE_VERSION_2.get(name, name)
