"""Files of earlier versions of the format, read as if the current one had written them.

Version 1 named the sections of agents after fields in the code. Since version 2 they have names of their own, and of a
priority queue only the entries are saved. Since version 3 agents that plan on counts keep which states terminated, and
no plan, which follows from the counts; before, no state was known to terminate. Since version 3 an optimistic agent
promises a reward of at least 0, and with the best backup it keeps the edges of `storage="columns"`. Since version 3
planners list the logs they were fitted from, name every trip, keep the ends of trips and, where logged, which states
are terminal. Since version 4 optimistic agents that count outcomes keep the trips made to the goal in use; before, none
was counted. Since version 5 prioritised sweeping, R-max and posterior sampling keep which states terminated, too, and
the header repeats the version.

A section that is computed from an earlier one of the same name reads that one as "earlier/NAME".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FileError

Sections = Callable[[str], NDArray[Any]]  # an array by the name of its section
Converted = Mapping[str, Callable[[Sections], NDArray[Any]]]

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


def upgraded(header: dict[str, Any], version: int) -> tuple[dict[str, Any], Converted]:
    """The header of a file of `version` with the current names, and the sections to compute from those of the file."""
    if version < 3 and header["kind"] == "planner":
        return {**header, "details": {**header["details"], "logs": []}}, {}
    if version > 4 or header["kind"] != "agent":
        return header, {}
    converted: dict[str, Callable[[Sections], NDArray[Any]]] = {}
    if version < 3:
        header, converted = _agent_since_version_3(header, version)
    names = {section["name"] for section in header["sections"]}
    if {"plan/due", "queue.heap", "queue/state"} & names:
        converted |= TERMINATED_SINCE_VERSION_3
    if version < 4 and "optimism/on" in names:
        optimistic = _config(header["details"]).get("explorer") == "optimistic"
        converted |= DOUBT_SINCE_VERSION_4 if optimistic else NO_DOUBT_SINCE_VERSION_4
    return header, converted


def _agent_since_version_3(
    header: dict[str, Any], version: int
) -> tuple[dict[str, Any], dict[str, Callable[[Sections], NDArray[Any]]]]:
    """The header of an agent's file of version 1 or 2 as version 3 has it, and the sections to compute."""
    sections = header["sections"]
    if version == 1:
        sections = [{**section, "name": _name_since_version_2(section["name"])} for section in sections]
    names = {section["name"] for section in sections}
    converted: dict[str, Callable[[Sections], NDArray[Any]]] = {}
    if "queue.heap" in names:
        converted |= QUEUE_SINCE_VERSION_2
    if "plan/arrival" in names:
        converted |= TERMINATED_SINCE_VERSION_3
    if "optimism/reward" in names:
        steps = _config(header["details"]).get("objective") == "steps"
        converted["optimism/reward"] = partial(_promise, least=-1.0 if steps else 0.0)
    if {"optimism/reward", "values"} <= names and "optimism/on" not in names:
        converted |= {**TERMINATED_SINCE_VERSION_3, **COMPACT_EDGES_SINCE_VERSION_3}
    sections = [{**s, "name": f"earlier/{s['name']}"} if s["name"] in converted else s for s in sections]
    return {**header, "sections": sections, "details": _details_since_version_3(header["details"])}, converted


def _details_since_version_3(details: dict[str, Any]) -> dict[str, Any]:
    """Only tables of all pairs are dense; the expected backup and the optimistic explorer have none."""
    config = _config(details)
    if config.get("backup") == "expected" or (config.get("explorer") == "optimistic" and "storage" in config):
        return {**details, "config": {**config, "storage": "auto"}}
    return details


def _config(details: dict[str, Any]) -> dict[str, Any]:
    """The options of an agent."""
    config = details.get("config")
    return config if isinstance(config, dict) else {}


def _name_since_version_2(name: str) -> str:
    optimism = OPTIMISM_SINCE_VERSION_2.get(name.removeprefix("plan."))
    return optimism or SECTIONS_SINCE_VERSION_2.get(name, name)


def _queue_states(section: Sections) -> NDArray[np.int64]:
    """(n,) the states in a queue, in the order of the heap."""
    heap, size = section("queue.heap"), section("queue.size")
    if len(size) != 1 or not 0 <= size[0] <= len(heap):
        raise FileError("expected a queue no longer than its heap; the file is damaged")
    states: NDArray[np.int64] = heap[: size[0]]
    return states


def _queue_priorities(section: Sections) -> NDArray[np.float64]:
    """(n,) their priorities."""
    states, priority = _queue_states(section), section("queue.priority")
    if not np.all((states >= 0) & (states < len(priority))):
        raise FileError("expected a queue of states with priorities; the file is damaged")
    priorities: NDArray[np.float64] = priority[states]
    return priorities


def _never_terminated(section: Sections) -> NDArray[np.int8]:
    """(S,) no state."""
    return np.zeros(len(section("edges/first-entering")), np.int8)


def _no_trips(section: Sections) -> NDArray[np.int64]:
    """(S,) no trip from any state."""
    return np.zeros(len(section("edges/first-entering")), np.int64)


def _promise(section: Sections, least: float) -> NDArray[np.float64]:
    """(1,) the best reward seen, at least `least`."""
    promise: NDArray[np.float64] = np.maximum(section("earlier/optimism/reward"), least)
    return promise


def _used(section: Sections) -> int:
    """The number of edges."""
    used = section("earlier/edges/used")
    if len(used) != 1 or not 0 <= used[0] <= len(section("edges/pair")):
        raise FileError("expected no more edges than there is room for; the file is damaged")
    return int(used[0])


def _links(section: Sections) -> NDArray[np.int32]:
    """(E, 4) pair, target, next edge of the pair and no next edge into the target."""
    E = _used(section)
    columns = [section(f"edges/{name}")[:E] for name in ("pair", "target", "next-leaving")]
    return np.column_stack([*columns, np.full(E, -1)]).astype(np.int32)


def _best_rewards(section: Sections) -> NDArray[np.float64]:
    """(E,) the best reward of each edge."""
    best: NDArray[np.float64] = section("earlier/edges/best-reward")[: _used(section)]
    return best


QUEUE_SINCE_VERSION_2: Converted = {"queue/state": _queue_states, "queue/priority": _queue_priorities}
TERMINATED_SINCE_VERSION_3: Converted = {"terminated": _never_terminated}
COMPACT_EDGES_SINCE_VERSION_3: Converted = {
    "edges/first-leaving": lambda section: section("earlier/edges/first-leaving").astype(np.int32),
    "edges/links": _links,
    "edges/best-reward": _best_rewards,
    "edges/used": lambda section: np.array([_used(section)]),
}
DOUBT_SINCE_VERSION_4: Converted = {
    "doubt/trips": _no_trips,
    "doubt/lost": lambda section: _no_trips(section).astype(np.float64),
    "doubt/start": lambda _: np.full(1, -1),
}
NO_DOUBT_SINCE_VERSION_4: Converted = {
    "doubt/trips": lambda _: np.zeros(0, np.int64),
    "doubt/lost": lambda _: np.zeros(0),
    "doubt/start": lambda _: np.full(1, -1),
}
