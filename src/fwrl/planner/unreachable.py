"""When there is no known way: how far one gets, and how near that is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FwrlError
from fwrl.kernels.graph.incoming_csr import incoming_csr
from fwrl.kernels.graph.reach import reach, reach_scratch
from fwrl.planner.experience import Experience

Floats = NDArray[np.float64]


class NoRouteError(FwrlError):
    """The log shows no way; `reached` states can be reached from the start, `reaching` reach the goal."""

    def __init__(self, message: str, reached: int, reaching: int) -> None:
        super().__init__(message)
        self.reached, self.reaching = reached, reaching


def no_route(
    experience: Experience, start: int, goal: int, avoid: frozenset[int], positions: Floats | None = None
) -> NoRouteError:
    """The error that says so plainly."""
    S = len(experience.states)
    shut = np.zeros(S, np.bool_)
    shut[list(avoid)] = True
    open_ = ~(shut[experience.source] | shut[experience.target])
    source, target = experience.source[open_], experience.target[open_]
    nothing = np.zeros(len(source))
    backward = incoming_csr(S, source, target, nothing)[0]
    forward = incoming_csr(S, target, source, nothing)[0]
    scratch = reach_scratch(S, 0)
    ahead = scratch.queue[: reach(forward.first, forward.source, scratch, start)].copy()
    behind = scratch.queue[: reach(backward.first, backward.source, scratch, goal)].copy()
    a, b = experience.states[start], experience.states[goal]
    without = f" without {_listed(experience, avoid)}" if avoid else ""
    said = (
        f"the log shows no way from {a!r} to {b!r}{without}: {a!r} reaches {len(ahead) - 1:,} of {S:,} states, "
        f"{len(behind) - 1:,} reach {b!r}"
    )
    near = _nearest(positions, ahead, behind) if positions is not None else None
    if near is not None:
        x, y, apart = near
        said += f"; nearest are {experience.states[x]!r}, which can be reached, and {experience.states[y]!r}, {apart:.3g} apart"
    return NoRouteError(said, len(ahead) - 1, len(behind) - 1)


def _listed(experience: Experience, states: frozenset[int]) -> str:
    names = [repr(experience.states[s]) for s in sorted(states)]
    return ", ".join(names[:5] + ["..."] * (len(names) > 5))


def _nearest(positions: Floats, ahead: NDArray[np.int32], behind: NDArray[np.int32]) -> tuple[int, int, float] | None:
    from scipy.spatial import KDTree

    ahead, behind = (some[np.isfinite(positions[some]).all(axis=1)] for some in (ahead, behind))
    if not len(ahead) or not len(behind):
        return None
    found: Any = KDTree(positions[behind]).query(positions[ahead])
    apart, which = found
    k = int(np.argmin(apart))
    return int(ahead[k]), int(behind[which[k]]), float(apart[k])
