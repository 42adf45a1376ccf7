"""Answers in words: costs with their unit, a headline and its evidence, differences, and what separates two places.

A step is old if it was last seen longer ago than a limit, counted from the latest time of the log. Without a limit
given it is the half-life, where observations are weighted by age, and otherwise half of the time that the log covers.
"""

from __future__ import annotations

import datetime
from typing import Any, NamedTuple

from fwrl.display import between, counted, percent, times
from fwrl.planner import Explanation, Route
from fwrl.planner.explanation import shown_time
from fwrl.planner.transition_counts import MILLION, TimeKind, TransitionCounts, time_unit
from fwrl.planner.weak_spots import Gap

LONGEST = 24  # characters of a name in a headline
SAME = 1e-9  # costs that differ by less, relative to their size, are called the same
MINUTE, HOUR = 60, 3600
SECONDS = ("s", "sec", "seconds")
AGES = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


class Unit(NamedTuple):
    """The unit of costs; an empty name where it is unknown."""

    name: str = ""

    def said(self, cost: float) -> str:
        """A cost as people write it.

        >>> Unit("s").said(150.7), Unit("s").said(750.0), Unit("s").said(7500.0), Unit("m").said(1234.5)
        ('151 s', '12 min 30 s', '2 h 5 min', '1,234 m')
        >>> Unit("steps").said(1.0), Unit().said(4.4667)
        ('1 step', '4.47')
        """
        if self.name in SECONDS and abs(cost) >= 10 * MINUTE:
            whole = round(cost)
            large, small, names = (MINUTE, 1, ("min", "s")) if whole < 2 * HOUR else (HOUR, MINUTE, ("h", "min"))
            units = [whole // large, whole % large // small]
            return " ".join(f"{n:,} {name}" for n, name in zip(units, names, strict=True) if n)
        number = f"{cost:,.0f}" if abs(cost) >= 100 else f"{cost:.3g}"
        name = self.name.removesuffix("s") if self.name == "steps" and number == "1" else self.name
        return f"{number} {name}".rstrip()

    def headed(self, cost: float) -> str:
        """Write a cost on its own, with the word "cost" if the unit is unknown."""
        return self.said(cost) if self.name else f"cost {self.said(cost)}"


def arrival(route: Route) -> str:
    """The probability of arriving, as a range where it depends on tries that ended where the log ends."""
    return between(route.arrival_bounds, percent)


def moment(time: Any, clock: bool = True) -> str:
    """A time as people write it.

    >>> moment(datetime.datetime(2024, 3, 1, 8, 5)), moment(17)
    ('1 Mar 2024, 08:05', 'time 17')
    """
    if not isinstance(time, datetime.datetime):
        return f"time {shown_time(time)}"
    return f"{time.day} {time:%b %Y}{time:, %H:%M}" if clock else f"{time.day} {time:%b %Y}"


def cut(name: object) -> str:
    """A name that fits, cut in the middle: both ends tell names apart.

    >>> cut("hall-of-the-very-long-names-number-001")
    'hall-of-the-…-number-001'
    """
    text = str(name)
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}…{text[1 - LONGEST // 2 :]}"


def headline(route: Route, unit: Unit, plain: Route | None = None, conditions: str = "") -> tuple[str, str]:
    """A route's cost, and what to add in smaller letters; `plain` is the route without `conditions`.

    As "dock → packing, about 151 s" and " (137 s without closures); this exact path 9 % of the time".
    """
    best = route.backup == "best"
    about = "at best " if best else "" if route.certain and unit.name == "steps" else "about "
    said, aside = f"{cut(route.start)} → {cut(route.goal)}, {about}{unit.headed(0.0 - route.value)}", ""
    if plain is not None and abs(plain.value - route.value) > SAME * max(1e-3, abs(route.value)):
        aside += f" ({unit.said(0.0 - plain.value)} without {conditions})"
    if not best and percent(route.probability) != "100 %":
        aside += f"; this exact path {percent(route.probability)} of the time"
    return said, aside


def quantiles_sentence(half: float, most: float, unit: Unit) -> str:
    """Two quantiles of the cost in a sentence; empty if both read the same."""
    if unit.said(half) == unit.said(most):
        return ""
    return f"Half of the trips cost at most {unit.said(half)}, nine in ten at most {unit.said(most)}."


def sentence(explanation: Explanation) -> str:
    """The evidence of a route: steps, arrival, past trips, weakest step.

    As "3 steps, arrives 94 %, stitched from 2 trips, weakest step seen once, 1 Jan 2024".
    """
    route, n = explanation.route, len(explanation.stretches)
    if not route.steps:
        return "Nothing to do: from and to are the same place"
    said = [counted(len(route.steps), "step"), f"arrives {arrival(route)}"]
    if any(explanation.stretches):
        most = "" if explanation.fewest else "at most "
        said.append("known from one trip" if n == 1 else f"stitched from {most}{n:,} trips")
    weakest = min(explanation.steps, key=lambda each: each.step.seen)
    said.append(f"weakest step seen {times(weakest.step.seen)}")
    if weakest.last is not None:
        last = "" if weakest.step.seen == 1 else "last "
        said.append(f"{last}{moment(weakest.last, clock=False)}")
    return ", ".join(said)


def difference(before: Route, after: Route, unit: Unit) -> str:
    """Say what conditions change: "2 steps more, 14 s more, arrives 100 % instead of 94 %; 12 of 25 steps the same"."""
    if before.edges == after.edges:
        return "the same route"
    steps, cost = len(after.steps) - len(before.steps), before.value - after.value
    said = [_more(counted(abs(steps), "step"), steps, "fewer", "the same number of steps")]
    if unit.name != "steps":
        same = abs(cost) <= SAME * max(1e-3, abs(before.value))
        word = "" if unit.name else "cost "
        said.append(_more(f"{word}{unit.said(abs(cost))}", 0 if same else cost, "less", "the same cost"))
    if arrival(before) != arrival(after):
        said.append(f"arrives {arrival(after)} instead of {arrival(before)}")
    kept = len(set(before.edges) & set(after.edges))
    same_steps = f"{kept:,} of {counted(len(after.steps), 'step')} {'is' if kept == 1 else 'are'}"
    return f"{', '.join(said)}; {same_steps if kept else 'no step is'} the same"


def _more(amount: str, sign: float, less: str, same: str) -> str:
    return same if sign == 0 else f"{amount} {'more' if sign > 0 else less}"


def coverage_sentence(bridges: int, dead_ends: int, one_way: int, trips: bool) -> str:
    """The weak spots of a log in one sentence.

    >>> coverage_sentence(1, 0, 36, trips=True)
    '1 bridge hangs on one trip, no dead ends, 36 one-way roads'
    """
    on = "one trip" if trips else "one step"
    hang = f"{counted(bridges, 'bridge')} hang{'s' * (bridges == 1)} on {on}"
    parts = [hang, counted(dead_ends, "dead end"), counted(one_way, "one-way road")]
    return ", ".join(f"no{part[1:]}" if part.startswith("0 ") else part for part in parts)


def gap_sentences(gap: Gap, experience: TransitionCounts, parts: tuple[int, int] | None) -> list[str]:
    """Say what separates a start from a goal; `parts` are the sizes of their parts of the log if these never meet."""
    states = experience.states
    a, b = states[gap.start], states[gap.goal]
    said = []
    if parts is not None:
        sizes = f"{counted(parts[0], 'place')} and {parts[1]:,}"
        said.append(f"{a} and {b} are in two parts of the log that never meet: {sizes}.")
    said.append(
        f"{a} reaches {len(gap.ahead) - 1:,} of {len(states):,} places, {len(gap.behind) - 1:,} "
        f"reach{'es' * (len(gap.behind) == 2)} {b}."
    )
    if gap.near is not None:
        x, y, apart = gap.near
        said.append(f"The nearest gap is from {states[x]} to {states[y]}, {apart:.3g} apart.")
    if gap.barrier is not None:
        said.append(f"{states[gap.barrier]}, which is avoided, would join them.")
    if gap.reverse is not None:
        begin, end = int(experience.source[gap.reverse]), int(experience.target[gap.reverse])
        seen = times(int(experience.count[gap.reverse]))
        said.append(f"The step from {states[begin]} to {states[end]} was seen {seen}, but never back.")
    return said


class Recency(NamedTuple):
    """The rule that tells which steps are old."""

    newest: int  # the latest time, as stored
    limit: float  # the age beyond which a step is old, as stored
    kind: TimeKind

    def is_old(self, last: int) -> bool:
        """Whether a step is old that was last seen at the stored time `last`."""
        return self.newest - last > self.limit

    @property
    def words(self) -> str:
        """The limit in words.

        >>> Recency(0, 36 * 3600e6, "timestamp").words
        '36 hours'
        """
        if self.kind != "timestamp":
            return f"{_rounded(self.limit / time_unit(self.kind)):,} units of time"
        seconds = self.limit / MILLION
        name, size = next((unit for unit in AGES if seconds >= 2 * unit[1]), AGES[-1])
        return f"{_rounded(seconds / size):,} {name}s"


def _rounded(number: float) -> float:
    """A number with three digits that count.

    >>> _rounded(1_999_980.0), _rounded(2.854), _rounded(36.0)
    (2000000, 2.85, 36)
    """
    rounded = float(f"{number:.3g}")
    return int(rounded) if rounded.is_integer() else rounded


def recency_of(experience: TransitionCounts, limit: float | None = None) -> Recency | None:
    """The rule for a log; None without times. `limit` is in the unit of stored times, and chosen if it is None."""
    last, times = experience.evidence.last, experience.evidence.trip_time
    if last is None or experience.time is None or not len(last):
        return None
    newest, oldest = int(last.max()), int(last.min())
    if times is not None and experience.evidence.trip is not None:
        oldest = min(oldest, int(times[experience.evidence.trip >= 0].min(initial=oldest)))
    if limit is None:
        limit = (newest - oldest) / 2 if experience.aging is None else experience.aging.half_life
    return Recency(newest, limit, experience.time)
