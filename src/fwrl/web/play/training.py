"""What an agent has done since it was made, in legs that can be repeated.

A leg is a number of steps to one goal in one map. The same legs with the same seed give the same agent, bit for bit:
that is how a link, a scenario file and a lesson carry what was learned.
"""

from __future__ import annotations

from typing import NamedTuple

from fwrl.errors import FwrlError, unknown_name

BEGIN, MOVE, EDIT, FORGET = "begin", "move", "edit", "forget"
MEANINGS = {
    BEGIN: "a new episode at a new start",
    MOVE: "the goal moves, the agent stays where it is",
    EDIT: "the map is edited and the agent keeps what it knows",
    FORGET: "the agent forgets the steps that the map no longer has",
}

MOST_LEGS = 100
MOST_STEPS = 2_000_000


class Leg(NamedTuple):
    """Some steps to one goal.

    Attributes:
        how: How it began, one of `MEANINGS`.
        goal: The cell of the goal.
        start: The cell where trips begin, None for anywhere.
        steps: How many.
        rows: The map.

    """

    how: str
    goal: int
    start: int | None
    steps: int
    rows: tuple[str, ...]


def extended(legs: list[Leg], leg: Leg) -> list[Leg]:
    """The legs with another one; those without a step that it makes void are left out.

    >>> moved = [Leg(MOVE, goal, None, 0, ()) for goal in (1, 2)]
    >>> [leg.goal for leg in extended(moved[:1], moved[1])]
    [2]
    """
    if leg.how == BEGIN and not any(each.steps for each in legs):  # nothing was learned yet
        return [leg]
    legs = list(legs)
    void = {BEGIN: (BEGIN, MOVE), MOVE: (MOVE,)}.get(leg.how, ())
    while legs and legs[-1].steps == 0 and legs[-1].how in void:
        legs.pop()
    return [*legs, leg]


def summary(legs: list[Leg]) -> list[Leg]:
    """The legs if they can be repeated in a moment, else one of at most `MOST_STEPS` steps to the last goal."""
    steps = sum(leg.steps for leg in legs)
    if len(legs) <= MOST_LEGS and steps <= MOST_STEPS:
        return legs
    return [legs[-1]._replace(how=BEGIN, steps=min(steps, MOST_STEPS))]


def check_legs(legs: list[Leg]) -> None:
    """Raise an error for legs that would take too long, or that cannot follow one another."""
    if len(legs) > MOST_LEGS or sum(leg.steps for leg in legs) > MOST_STEPS:
        raise FwrlError(
            f"expected at most {MOST_LEGS} legs of training with {MOST_STEPS:,} steps in all, got {len(legs)} with "
            f"{sum(leg.steps for leg in legs):,}"
        )
    if legs and legs[0].how != BEGIN:
        raise FwrlError(f"expected training to begin with a leg of the kind {BEGIN!r}, got {legs[0].how!r}")
    for leg in legs:
        if leg.how not in MEANINGS:
            raise unknown_name("kind of a leg", leg.how[:60], MEANINGS)
        if leg.steps < 0:
            raise FwrlError(f"expected 0 steps or more in a leg of training, got {leg.steps}")
