"""Aging: an observation weighs less the older it is.

The weight of an observation at time t is 2^(-(newest - t) / half_life), newest being the latest time of all logs. A
later newest time scales all weights by one factor, and means and frequencies stay as they are: so weights of different
logs can be added once both are scaled to the later of their newest times.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fwrl.errors import FwrlError, OptionError

if TYPE_CHECKING:
    from fwrl.planner.experience import Experience, TimeKind

OLDEST = 500  # half-lives: weights and weighted sums stay far from the smallest float


@dataclass(frozen=True)
class Aging:
    """How observations are weighted.

    Attributes:
        half_life: Age at which an observation counts half, in the unit of stored times.
        newest: Time at which an observation counts once; None as long as no time is known.

    """

    half_life: float
    newest: int | None = None

    def until(self, time: int) -> Aging:
        """The same with `time` as newest time, if it is later.

        Args:
            time: A stored time.

        Returns:
            The aging.

        """
        return replace(self, newest=time if self.newest is None else max(self.newest, time))

    def factor(self, newest: int) -> float:
        """By how much weights shrink when another time becomes the newest.

        Args:
            newest: A time, not before the newest one.

        Returns:
            The factor, at most 1.

        """
        assert self.newest is not None
        return float(2.0 ** ((self.newest - newest) / self.half_life))

    def check_oldest(self, time: int) -> None:
        """Refuse an observation so old that its weight could not be told from nothing.

        Args:
            time: The time of the oldest observation.

        """
        assert self.newest is not None
        age = (self.newest - time) / self.half_life
        if age > OLDEST:
            raise FwrlError(
                f"the oldest observation is {age:,.0f} half-lives old, and beyond {OLDEST} it would weigh nothing; "
                "leave such observations out, or choose a longer half-life"
            )


def common_aging(one: Aging | None, other: Aging | None) -> Aging | None:
    """How the observations of two experiences are weighted together; an error where half-lives differ.

    Args:
        one: The aging of one experience, None where all its observations count once.
        other: That of the other.

    Returns:
        The aging with the later of their newest times.

    """
    if one is None and other is None:
        return None
    if one is None or other is None or one.half_life != other.half_life:
        raise OptionError("the logs were read with different half-lives; read all of them with the same one")
    if other.newest is None:
        return one
    return one.until(other.newest)


def refuse_mixed_times(aging: Aging | None, kinds: Iterable[TimeKind | None]) -> None:
    """Refuse ages of times of several kinds: a half-life is in the unit of one.

    Args:
        aging: How observations are weighted; None where all count once.
        kinds: What the times of each log are.

    """
    if aging is not None and len(set(kinds)) > 1:
        raise FwrlError("weights by age need times of one kind; write those of all logs alike")


def rescale(experience: Experience, newest: int) -> Experience:
    """The same experience with its weights at a later newest time.

    Args:
        experience: An experience with weights.
        newest: A time, not before its newest one.

    Returns:
        The experience; means and frequencies are unchanged.

    """
    aging = experience.aging
    if aging is None or experience.weight is None or newest == aging.newest:
        return experience
    if experience.evidence.last is not None:
        aging.until(newest).check_oldest(int(experience.evidence.last.min()))
    factor = aging.factor(newest)
    return replace(
        experience,
        weight=experience.weight * factor,
        total=experience.total * factor,
        aging=aging.until(newest),
    )
