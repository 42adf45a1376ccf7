"""A statement of the paper with its verdict, and intervals of shares of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from scipy.stats import beta

from fwrl.report.estimate import Estimate

Verdict = Literal["holds", "holds in part", "does not hold", "undecided"]


class Finding(NamedTuple):
    """A statement of the paper and what was found about it.

    Attributes:
        claim: The statement.
        verdict: Whether it holds.
        numbers: The numbers behind the verdict, as text.
        reason: Why the claim does not hold, or what limits it; "" for none.
        reading: How the claim is read, where it can be read in several ways; "" otherwise.
    """

    claim: str
    verdict: Verdict
    numbers: str
    reason: str = ""
    reading: str = ""

    @property
    def remarks(self) -> str:
        """Reason and reading as one text."""
        return " ".join(part for part in (self.reason, f"Reading: {self.reading}" if self.reading else "") if part)


def verdict_over(outcomes: Sequence[bool]) -> Verdict:
    """The verdict on a claim about several comparisons."""
    if all(outcomes):
        return "holds"
    return "holds in part" if any(outcomes) else "does not hold"


def share_of_runs(count: int, runs: int) -> Estimate:
    """A share of runs with its exact 95 % interval (Clopper and Pearson 1934).

    >>> share_of_runs(100, 100).text(3)
    '1.000 [0.964, 1.000]'
    """
    low = float(beta.ppf(0.025, count, runs - count + 1)) if count else 0.0
    high = float(beta.ppf(0.975, count + 1, runs - count)) if count < runs else 1.0
    return Estimate(count / runs, low, high)


def verdict_on_share(share: Estimate, claimed: float) -> Verdict:
    """Whether a share of runs is surely at least `claimed`, surely not, or not decided by so few runs.

    >>> verdict_on_share(share_of_runs(100, 100), 0.9), verdict_on_share(share_of_runs(3, 3), 0.9)
    ('holds', 'undecided')
    """
    if share.low >= claimed:
        return "holds"
    return "does not hold" if share.high < claimed else "undecided"
