"""The policies of goals that were asked for, kept while memory allows."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fwrl.errors import OptionError
from fwrl.planner.experience import Experience

if TYPE_CHECKING:
    from fwrl.planner.goal_policy import Backup, GoalPolicy, GoalPolicySolver

BACKUPS: tuple[Backup, Backup] = ("expected", "best")


class Conditions(NamedTuple):
    """What a policy is planned under beside its goal: the options of `Planner.plan`, with states by code."""

    backup: Backup
    avoid: frozenset[int] = frozenset()
    dead_ends: frozenset[int] = frozenset()
    give_up: float | None = None
    cautious: float | None = None

    def check(self) -> None:
        """Raise an OptionError where values are out of range or do not go together."""
        if self.backup not in BACKUPS:
            raise OptionError(f"expected backup to be one of {', '.join(BACKUPS)}, got {self.backup!r}")
        for value, what in ((self.give_up, "giving up"), (self.cautious, "a cautious plan")):
            if value is not None and self.backup != "expected":
                raise OptionError(f"{what} needs backup 'expected': with 'best' every known path arrives")
        if self.give_up is not None and not 0 < self.give_up < np.inf:
            raise OptionError(f"expected a positive cost of giving up, got {self.give_up:g}")
        if self.cautious is not None and not 0.5 <= self.cautious < 1:
            raise OptionError(f"expected a confidence from 0.5 to less than 1, such as 0.95, got {self.cautious:g}")


class GoalPolicies:
    """Policies for goals, each computed when it is first needed, by one backward search.

    Args:
        experience: What they are planned on.
        memory: Bytes of policies to keep; the latest one is kept in any case.

    """

    def __init__(self, experience: Experience, memory: int) -> None:
        self._experience, self._memory = experience, memory
        self._solver: GoalPolicySolver | None = None
        self._kept: OrderedDict[tuple[int, Conditions], GoalPolicy] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def policy(self, goal: int, conditions: Conditions) -> GoalPolicy:
        """The policy for a goal under conditions, which are checked."""
        conditions.check()
        key = goal, conditions
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        from fwrl.planner.goal_policy import GoalPolicySolver

        self._solver = self._solver or GoalPolicySolver(self._experience)
        policy = self._kept[key] = self._solver.policy(goal, *conditions)
        while len(self._kept) > 1 and sum(kept.nbytes for kept in self._kept.values()) > self._memory:
            self._kept.popitem(last=False)
        return policy
