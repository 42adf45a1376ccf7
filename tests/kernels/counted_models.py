"""Counted models for tests of planning under uncertainty, and their answers by linear programs and exact fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

from fwrl.kernels.mdp.counts import Outcomes, outcomes_of

Floats = NDArray[np.float64]
Exact = dict[int, Fraction]
Model = list[list[dict[int, tuple[int, float]]]]  # of each state, of each action: next state -> (times, mean reward)


@st.composite
def models(draw: st.DrawFn, most_states: int = 7, rewards: Any = None, times: Any = None) -> Model:
    """Small models of any shape: loops, rare outcomes, dead ends, states without actions, unconnected parts."""
    S = draw(st.integers(1, most_states))
    rewards = st.sampled_from([-1.0, -0.25, -3.0]) if rewards is None else rewards
    times = st.sampled_from([1, 1, 2, 5, 1_000_000]) if times is None else times
    outcome = st.dictionaries(st.integers(0, S - 1), st.tuples(times, rewards), min_size=1, max_size=3)
    return draw(st.lists(st.lists(outcome, max_size=3), min_size=S, max_size=S))


def outcomes_in(model: Model) -> Outcomes:
    """The model as kernels take it."""
    source: list[int] = []
    pair: list[int] = []
    target: list[int] = []
    times: list[int] = []
    reward: list[float] = []
    for s, actions in enumerate(model):
        for action in actions:
            for y, (n, r) in sorted(action.items()):
                pair.append(len(source))
                target.append(y)
                times.append(n)
                reward.append(r)
            source.append(s)
    return outcomes_of(len(model), source, pair, target, times, reward)


def reaches(model: Model, ends: set[int], absorbing: set[int]) -> set[int]:
    """The states that can reach one of `ends`; nothing leaves an absorbing state."""
    found = set(ends)
    while True:
        more = {
            s
            for s, actions in enumerate(model)
            if s not in found and s not in absorbing and any(y in found for action in actions for y in action)
        }
        if not more:
            return found
        found |= more


def known_part(model: Model, goal: int, closed: set[int]) -> tuple[Model, set[int]]:
    """The model without unknown outcomes and without what leaves closed states or the goal; and who can arrive.

    An action of which nothing is left stays, without outcomes.
    """
    closed = closed - {goal}
    arrives = reaches(model, {goal}, closed)
    ends = {s for s, actions in enumerate(model) if not actions} - closed - arrives
    unknown = reaches(model, ends, closed | {goal}) - arrives if ends else set()
    kept: Model = []
    for s, actions in enumerate(model):
        usable = [] if s in closed or s == goal else actions
        kept.append([{y: seen for y, seen in action.items() if y not in unknown} for action in usable])
    return kept, arrives


def best_arrival(model: Model, goal: int) -> Floats:
    """(S,) the least p with p >= sum P p for every action and p(goal) = 1: a linear program."""
    rows, S = [], len(model)
    for s, actions in enumerate(model):
        for action in filter(None, actions):
            total = sum(n for n, _ in action.values())
            row = np.zeros(S)
            row[s] -= 1.0
            for y, (n, _) in action.items():
                row[y] += n / total
            rows.append(row)
    bounds = [(1, 1) if s == goal else (0, 1) for s in range(S)]
    return least_above(rows, [0.0] * len(rows), bounds)


def least_above(rows: list[Floats], right: list[float], bounds: list[Any]) -> Floats:
    """The least x within bounds with rows x <= right, elementwise."""
    given: dict[str, Any] = {"A_ub": np.array(rows), "b_ub": right} if rows else {}
    found = linprog(np.ones(len(bounds)), bounds=bounds, **given)
    assert found.status == 0
    return np.array(found.x)


def exactly_evaluated(model: Model, goal: int, choice: dict[int, int]) -> tuple[Exact, Exact]:
    """Probability of arriving and reward given arrival of a policy, in exact fractions.

    `choice` has the action of each state.
    """
    states = sorted(choice)
    p = _solved(states, {s: _row(model, s, choice[s], goal, None) for s in states})
    p[goal] = Fraction(1)
    arriving = [s for s in states if p[s] > 0]
    v = _solved(arriving, {s: _row(model, s, choice[s], goal, p) for s in arriving})
    v[goal] = Fraction(0)
    return p, v


def _row(
    model: Model, s: int, a: int, goal: int, p: dict[int, Fraction] | None
) -> tuple[dict[int, Fraction], Fraction]:
    """The coefficients and the right side of x(s) = right + sum of coefficients x: for p, or for v where p is given."""
    action = model[s][a]
    mass = {y: Fraction(n) * (1 if p is None else p.get(y, Fraction(0))) for y, (n, _) in action.items()}
    total = sum(mass.values())
    share = {y: m / total for y, m in mass.items()}
    if p is None:
        return {y: w for y, w in share.items() if y != goal}, share.get(goal, Fraction(0))
    return share, sum((w * Fraction(action[y][1]) for y, w in share.items()), Fraction(0))


def _solved(states: list[int], rows: dict[int, tuple[dict[int, Fraction], Fraction]]) -> dict[int, Fraction]:
    """Gauss-Jordan in fractions; states outside count as 0, and so do those that are never left."""
    place = {s: i for i, s in enumerate(states)}
    n = len(states)
    M = [[Fraction(0)] * n + [rows[s][1]] for s in states]
    for s in states:
        M[place[s]][place[s]] += 1
        for y, w in rows[s][0].items():
            if y in place:
                M[place[s]][place[y]] -= w
    pivots: dict[int, int] = {}
    row = 0
    for column in range(n):
        pivot = next((i for i in range(row, n) if M[i][column] != 0), None)
        if pivot is None:
            continue
        M[row], M[pivot] = M[pivot], M[row]
        M[row] = [x / M[row][column] for x in M[row]]
        for i in range(n):
            if i != row and M[i][column] != 0:
                M[i] = [x - M[i][column] * y for x, y in zip(M[i], M[row], strict=True)]
        pivots[column] = row
        row += 1
    return {s: M[pivots[place[s]]][n] if place[s] in pivots else Fraction(0) for s in states}
