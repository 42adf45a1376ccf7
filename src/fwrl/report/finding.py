"""Findings about the paper's statements, and intervals of shares of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from scipy.stats import beta

from fwrl.report.estimate import Estimate

Result = Literal["confirmed", "partly confirmed", "not confirmed", "undecided"]


class Finding(NamedTuple):
    """A statement of the paper and what was found about it.

    Attributes:
        number: The one number that decides, as short text.
        numbers: All numbers behind the result, as text.
        reason: Why the claim isn't confirmed, or what limits it; "" for none.
        reading: How the claim is read, if it can be read in several ways; "" otherwise.
    """

    claim: str
    result: Result
    number: str
    numbers: str
    reason: str = ""
    reading: str = ""


def result_over(outcomes: Sequence[bool]) -> Result:
    """The result of a claim about several comparisons."""
    if all(outcomes):
        return "confirmed"
    return "partly confirmed" if any(outcomes) else "not confirmed"


def share_of_runs(count: int, runs: int) -> Estimate:
    """A share of runs with its exact 95 % interval (Clopper and Pearson 1934).

    >>> share_of_runs(100, 100).text(3)
    '1.000 [0.964, 1.000]'
    """
    low = float(beta.ppf(0.025, count, runs - count + 1)) if count else 0.0
    high = float(beta.ppf(0.975, count + 1, runs - count)) if count < runs else 1.0
    return Estimate(count / runs, low, high)


def result_of_share(share: Estimate, claimed: float) -> Result:
    """Whether a share of runs is surely at least `claimed`, surely not, or not decided by so few runs.

    >>> result_of_share(share_of_runs(100, 100), 0.9), result_of_share(share_of_runs(3, 3), 0.9)
    ('confirmed', 'undecided')
    """
    if share.low >= claimed:
        return "confirmed"
    return "not confirmed" if share.high < claimed else "undecided"
