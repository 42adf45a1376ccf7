"""Cycles that gain reward: no plan is best where one can be gone round for ever."""

from __future__ import annotations

import numpy as np

from fwrl.errors import PositiveCycleError
from fwrl.planner.experience import Experience


def refuse_positive_cycle(experience: Experience) -> None:
    """Refuse a cycle of certain steps that gains reward: going round it for ever would beat arriving anywhere.

    Where outcomes vary, a cycle of lucky ones may seem to gain; whether it does is found when a goal is planned for.
    """
    mean = experience.mean
    if not (mean > 0).any():
        return
    from fwrl.kernels.graph.incoming_csr import incoming_csr
    from fwrl.kernels.graph.potential import potential

    fresh = experience.fresh_pair()
    certain = fresh & np.append(fresh[1:], True)
    edges, _ = incoming_csr(
        len(experience.states), experience.source[certain], experience.target[certain], mean[certain]
    )
    _, cycle = potential(edges)
    if len(cycle):
        raise positive_cycle_error(experience, tuple(map(int, cycle)), "mean")


def positive_cycle_error(experience: Experience, cycle: tuple[int, ...], what: str) -> PositiveCycleError:
    """The error that names a cycle."""
    names = [str(experience.states[s]) for s in cycle[:10]]
    way = " -> ".join([*names, "..."] if len(cycle) > 10 else [*names, names[0]])
    return PositiveCycleError(
        f"expected no cycle that gains reward, but by {what} rewards {way} does: going round it beats arriving; "
        "check the sign of the rewards, and leave goal rewards out",
        states=cycle,
    )
