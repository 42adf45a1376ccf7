"""Answers in words: one sentence about a route, the difference between two, and what separates two states."""

from __future__ import annotations

import datetime
from typing import Any

from fwrl.planner import Explanation, Route
from fwrl.planner.counting import between, counted, times
from fwrl.planner.experience import Experience
from fwrl.planner.explanation import shown_time
from fwrl.planner.unreachable import Gap

SAME = 1e-9  # values that differ by less, relative to their size, are called the same


def percent(probability: float) -> str:
    """A probability, never rounded to certainty or impossibility.

    >>> percent(0.937), percent(0.9999), percent(1.0), percent(0.001)
    ('94 %', 'over 99 %', '100 %', 'under 1 %')
    """
    if 0.99 < probability < 1.0:
        return "over 99 %"
    return "under 1 %" if 0.0 < probability < 0.01 else f"{100 * probability:.0f} %"


def arrival(route: Route) -> str:
    """The probability of arriving, as a range where it depends on tries that ended where the log ends."""
    return between(route.arrival_bounds, percent)


def day(time: Any) -> str:
    """A time; of a date and time, only the date."""
    return time.date().isoformat() if isinstance(time, datetime.datetime) else f"at {shown_time(time)}"


def sentence(explanation: Explanation) -> str:
    """A route in one sentence: steps, arrival, past trips, weakest step.

    Args:
        explanation: The route and where it comes from.

    Returns:
        As "3 steps, arrives 94 %, stitched from 2 trips, weakest step seen once, 2024-01-01".

    """
    route, n = explanation.route, len(explanation.stretches)
    if not route.steps:
        return "nothing to do: from and to are the same"
    said = [counted(len(route.steps), "step"), f"arrives {arrival(route)}"]
    if any(explanation.stretches):
        most = "" if explanation.fewest else "at most "
        said.append("known from one trip" if n == 1 else f"stitched from {most}{n:,} trips")
    weakest = min(explanation.steps, key=lambda each: each.step.seen)
    said.append(f"weakest step seen {times(weakest.step.seen)}")
    if weakest.last is not None:
        last = "" if weakest.step.seen == 1 else "last "
        said.append(f"{last}{day(weakest.last)}")
    return ", ".join(said)


def difference(before: Route, after: Route) -> str:
    """What conditions change, compared with the route without them.

    Args:
        before: The route without conditions.
        after: The route with them.

    Returns:
        As "2 steps more, 14 lower reward, arrives 100 % instead of 94 %; 12 of 25 steps are the same".

    """
    if before.edges == after.edges:
        return "the same route"
    said = [_more(len(after.steps) - len(before.steps)), _reward(after.value - before.value, before.value)]
    if arrival(before) != arrival(after):
        said.append(f"arrives {arrival(after)} instead of {arrival(before)}")
    kept = len(set(before.edges) & set(after.edges))
    same = f"{kept:,} of {counted(len(after.steps), 'step')} {'is' if kept == 1 else 'are'}" if kept else "no step is"
    return f"{', '.join(said)}; {same} the same"


def _more(steps: int) -> str:
    if steps == 0:
        return "as many steps"
    return f"{counted(abs(steps), 'step')} {'more' if steps > 0 else 'fewer'}"


def _reward(gain: float, value: float) -> str:
    if abs(gain) <= SAME * max(1e-3, abs(value)):
        return "the same reward"
    return f"{abs(gain):.4g} {'higher' if gain > 0 else 'lower'} reward"


def coverage_sentence(bridges: int, dead_ends: int, one_way: int, trips: bool) -> str:
    """The weak spots of a log in one sentence.

    >>> coverage_sentence(1, 0, 36, trips=True)
    '1 bridge hangs on one trip, no dead ends, 36 one-way streets'
    """
    on = "one trip" if trips else "one move"
    hang = f"{counted(bridges, 'bridge')} hang{'s' * (bridges == 1)} on {on}"
    parts = [hang, counted(dead_ends, "dead end"), counted(one_way, "one-way street")]
    return ", ".join(f"no{part[1:]}" if part.startswith("0 ") else part for part in parts)


def gap_sentences(gap: Gap, experience: Experience) -> list[str]:
    """What separates a start from a goal.

    Args:
        gap: What the planner found.
        experience: Its experience.

    Returns:
        Sentences: how much is known on either side, and where the gap is narrowest.

    """
    states = experience.states
    a, b = states[gap.start], states[gap.goal]
    said = [
        f"{a} reaches {len(gap.ahead) - 1:,} of {len(states):,} states, {len(gap.behind) - 1:,} reach {b}.",
    ]
    if gap.near is not None:
        x, y, apart = gap.near
        said.append(f"The nearest gap is from {states[x]} to {states[y]}, {apart:.3g} apart.")
    if gap.barrier is not None:
        said.append(f"{states[gap.barrier]}, which is avoided, would join them.")
    if gap.reverse is not None:
        begin, end = int(experience.source[gap.reverse]), int(experience.target[gap.reverse])
        seen = times(int(experience.count[gap.reverse]))
        said.append(f"From {states[begin]} to {states[end]} was seen {seen}, but no way back.")
    return said
