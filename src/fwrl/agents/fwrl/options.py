"""The options of FWRL and which of them can be combined, and those of `mbrl`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from fwrl.agents.agent import Config
from fwrl.agents.validation import check_choice, check_give_up
from fwrl.errors import OptionError

NAME = "fwrl"
DESCRIPTION = "Floyd-Warshall RL: the triangle inequality stitches past trips to any goal"

Explorer = Literal["epsilon-greedy", "optimistic"]
Relaxation = Literal["exact", "paper"]
Objective = Literal["reward", "steps", "rate"]
Backup = Literal["best", "expected"]
Storage = Literal["auto", "dense", "columns"]
CHOICES = {
    "relaxation": Relaxation,
    "backup": Backup,
    "explorer": Explorer,
    "objective": Objective,
    "storage": Storage,
}
LARGEST_DENSE = 2000  # states up to which "auto" is dense


@dataclass(frozen=True)
class FwrlConfig(Config):
    """Options of FWRL.

    Attributes:
        relaxation: "exact", or "paper" for Algorithm 1 to the letter.
        backup: "best", the paper's, or "expected", the mean over observed outcomes.
        explorer: "epsilon-greedy", the paper's, or "optimistic", without epsilon.
        objective: "reward" of the path; "steps" to count every step as -1, as the paper's predecessor (Kaelbling 1993)
            did; or "rate", the reward per step of an endless episode, goal rewards included (see `kernels.mdp.rate`).
        storage: "dense", "columns", or "auto" for dense up to 2,000 states with the paper's backup, explorer and
            objective.
        give_up: with backup "expected", the cost of giving up, which is then allowed at any state; None to maximise the
            probability of arriving first.
    """

    relaxation: Relaxation = "exact"
    backup: Backup = "best"
    explorer: Explorer = "epsilon-greedy"
    objective: Objective = "reward"
    storage: Storage = "auto"
    give_up: float | None = None

    def __post_init__(self) -> None:
        for name, choice in CHOICES.items():
            check_choice(name, getattr(self, name), get_args(choice))
        check_give_up(self.give_up)
        if self.give_up is not None and self.backup != "expected":
            raise OptionError(f"give_up needs backup='expected', got backup={self.backup!r}, which never gives up")
        if self.relaxation == "paper" and (self.backup, self.explorer) != ("best", "epsilon-greedy"):
            raise OptionError(
                "relaxation='paper' needs backup='best' and explorer='epsilon-greedy', got "
                f"{self.backup!r} and {self.explorer!r}"
            )
        if self.objective == "rate" and self.relaxation == "paper":
            raise OptionError(
                "objective='rate' needs relaxation='exact', got 'paper'; the cost of a step depends on the goal, and "
                "Algorithm 1 has one reward for all goals"
            )
        if self.objective == "rate" and self.give_up is not None:
            raise OptionError(
                f"objective='rate' needs give_up=None, got {self.give_up!r}; a rate is defined only for trips that end "
                "at the goal"
            )
        if self.storage == "dense" and not self._all_pairs:
            raise OptionError(
                "backup='expected', explorer='optimistic' and objective='rate' need storage='columns' or 'auto', got "
                "'dense'; they plan only for the current goal"
            )
        if self.relaxation == "paper" and self.storage == "columns":
            raise OptionError(
                "storage='columns' needs relaxation='exact', got 'paper', which relaxes all of F at every step; use "
                "storage='dense'"
            )

    def storage_for(self, n_states: int) -> Storage:
        """Return the storage with "auto" resolved: dense if states are few and a table of all pairs is useful."""
        if self.storage != "auto":
            return self.storage
        dense = self._all_pairs and (self.relaxation == "paper" or n_states <= LARGEST_DENSE)
        return "dense" if dense else "columns"

    @property
    def _all_pairs(self) -> bool:
        """Whether a table of all pairs of states is useful."""
        return (self.backup, self.explorer) == ("best", "epsilon-greedy") and self.objective != "rate"


@dataclass(frozen=True)
class ModelConfig(Config):
    """Options of a model-based agent.

    Attributes:
        explorer: "epsilon-greedy", or "optimistic", without epsilon.
        give_up: the cost of giving up, which is then allowed at any state; None to maximise the probability of arriving
            first.
    """

    explorer: Explorer = "epsilon-greedy"
    give_up: float | None = None

    def __post_init__(self) -> None:
        check_choice("explorer", self.explorer, get_args(Explorer))
        check_give_up(self.give_up)
