"""Positive cycles: no plan is best where going round a cycle gains reward."""

from __future__ import annotations

import numpy as np

from fwrl.errors import PositiveCycleError
from fwrl.planner.experience import Experience

NAMED = 10  # states of a cycle in a message


def refuse_positive_cycle(experience: Experience) -> None:
    """Raise PositiveCycleError if a cycle of certain steps gains reward by mean rewards.

    Where outcomes vary, a cycle may gain by its luckiest outcomes and still lose on average. Such cycles are checked
    when a goal is planned for.
    """
    mean = experience.mean
    if not (mean > 0).any():
        return
    from fwrl.kernels.graph.incoming_csr import incoming_csr
    from fwrl.kernels.graph.potential import potential

    first = experience.first_of_pair()
    certain = first & np.append(first[1:], True)
    source, target = experience.source[certain], experience.target[certain]
    edges, _ = incoming_csr(len(experience.states), source, target, mean[certain])
    _, cycle = potential(edges)
    if len(cycle):
        raise positive_cycle_error(experience, tuple(map(int, cycle)), "mean")


def positive_cycle_error(experience: Experience, cycle: tuple[int, ...], rewards: str) -> PositiveCycleError:
    """The error that names a cycle of states which gains by `rewards`, `mean` or `best`."""
    names = [str(experience.states[s]) for s in cycle[:NAMED]]
    path = " -> ".join([*names, "..."] if len(cycle) > NAMED else [*names, names[0]])
    return PositiveCycleError(
        f"the cycle {path} gains reward by {rewards} rewards, so that going round it beats arriving; check the sign "
        "of the rewards, and leave goal rewards out",
        states=cycle,
    )
