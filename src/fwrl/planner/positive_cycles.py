"""Positive cycles of an experience: where there is one, values have no bound and no route is best."""

from __future__ import annotations

import warnings

import numpy as np

from fwrl.errors import FwrlWarning, PositiveCycleError
from fwrl.planner.experience import Experience

NAMED = 10  # states of a cycle in a message


def refuse_positive_cycle(experience: Experience) -> None:
    """Raise PositiveCycleError for a positive cycle of certain steps that go on, by mean rewards.

    Where outcomes vary, the best outcomes of a cycle may sum to more than 0, and their means to less. Such cycles are
    checked when a goal is planned for.
    """
    mean = experience.mean
    if not (mean > 0).any():
        return
    from fwrl.kernels.shortest_paths import incoming_csr, potential

    first = experience.first_of_pair()
    certain = first & np.append(first[1:], True) & experience.goes_on
    source, target = experience.source[certain], experience.target[certain]
    edges, _ = incoming_csr(len(experience.states), source, target, mean[certain])
    _, cycle = potential(edges)
    if len(cycle):
        raise positive_cycle_error(experience, tuple(map(int, cycle)), "mean")


def warn_of_positive_rewards(experience: Experience) -> None:
    """Warn where every reward is positive, without a cycle: longer routes are better then, which is rarely meant."""
    if bool((experience.mean > 0).all()):
        warnings.warn(
            "every reward of the log is positive, so that longer routes are better; if they are costs, name their "
            "column cost",
            FwrlWarning,
            stacklevel=3,
        )


def positive_cycle_error(experience: Experience, cycle: tuple[int, ...], rewards: str) -> PositiveCycleError:
    """The error that names the states of a positive cycle, by `rewards`: `mean` or `best`."""
    names = [str(experience.states[s]) for s in cycle[:NAMED]]
    path = " -> ".join([*names, "..."] if len(cycle) > NAMED else [*names, names[0]])
    return PositiveCycleError(
        f"the log has a positive cycle, {path}: its {rewards} rewards sum to more than 0, so that no route is best; "
        "if they are costs, name their column cost; and leave goal rewards out",
        states=cycle,
    )
