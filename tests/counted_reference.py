"""Transitions as the world that an agent knows of, for one goal: what its plans are compared with."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from fwrl.worlds import World, from_outcomes

Step = tuple[int, int, float, int]  # state, action, reward, next state


def counted(S: int, A: int, steps: Iterable[Step], goal: int, terminated: Collection[int] = ()) -> World:
    """Frequencies and mean rewards; untried actions and terminated states stay put.

    Outcomes from which an open end can be reached, a state never left, but not the goal are left out.
    """
    seen: dict[tuple[int, int], dict[int, list[float]]] = {}
    for s, a, r, n in steps:
        seen.setdefault((s, a), {}).setdefault(n, []).append(r)
    ends = set(terminated) | {goal}
    leads = {(s, n) for (s, _), outcomes in seen.items() if s not in ends for n in outcomes}
    arrives = _reaching(leads, {goal})
    open_ends = set(range(S)) - {s for s, _ in seen} - ends
    unknown = _reaching(leads, open_ends) - arrives
    outcomes: list[list[list[tuple[float, int, float]]]] = []
    for s in range(S):
        outcomes.append([])
        for a in range(A):
            known = {n: rs for n, rs in seen.get((s, a), {}).items() if n not in unknown}
            total = sum(map(len, known.values()))
            listed = [(len(rs) / total, n, float(np.mean(rs))) for n, rs in known.items()]
            outcomes[s].append(listed if listed and s not in terminated else [(1.0, s, -1.0)])
    return from_outcomes("counted", outcomes)


def _reaching(leads: set[tuple[int, int]], ends: set[int]) -> set[int]:
    found = set(ends)
    while more := {s for s, n in leads if n in found} - found:
        found |= more
    return found
