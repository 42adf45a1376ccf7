"""Value iteration finds the least solution of its equations: the optimum of a linear program."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

from fwrl.agents.baselines.replanning import ValuePlan, backed_up, expected_value, iterate
from fwrl.arrays import empty
from fwrl.kernels.edges import Edges, count_edge, with_capacity

Steps = list[tuple[int, int, float, int]]
Numbers = list[float]

S, A, D, R = 5, 2, -50.0, -0.5
steps = st.lists(
    st.tuples(
        st.integers(0, S - 1), st.integers(0, A - 1), st.sampled_from([0.0, -0.25, -1.0, -3.0]), st.integers(0, S - 1)
    ),
    max_size=30,
)
weights = st.lists(st.floats(0.01, 5.0), min_size=S * A * S, max_size=S * A * S)
ends = st.lists(st.booleans() | st.just(False), min_size=S, max_size=S)
unseens = st.lists(st.sampled_from([0.0, 0.0, 0.1, 0.5, 1.0]), min_size=S * A, max_size=S * A)


def model(taken: Steps, weight: Numbers, unseen: Numbers, backups: int = 10**7) -> tuple[Edges, ValuePlan]:
    edges = with_capacity(empty(Edges, {"S": S, "P": S * A}), max(len(taken), 1))
    for s, a, r, y in taken:
        count_edge(edges, s * A + a, y, r)
    plan: ValuePlan = empty(ValuePlan, {"S": S, "P": S * A})
    plan.level[:], plan.V[:], plan.backups[0] = (R, D, 1e-12), D, backups
    return edges, plan._replace(weight=np.array(weight[: len(edges.target)]), unseen=np.array(unseen))


def rows_of(taken: Steps, weight: Numbers, unseen: Numbers, pair: int) -> tuple[NDArray[np.float64], float] | None:
    """(P (S,), r) of a pair, from the list of steps alone: Q = r + P V; None if nothing can follow."""
    seen: dict[tuple[int, int], list[float]] = {}
    for s, a, r, y in taken:
        seen.setdefault((s * A + a, y), []).append(r)
    chances, paid, total = np.zeros(S), 0.0, 0.0
    for (k, y), w in zip(seen, weight, strict=False):
        if k == pair:
            chances[y] += w
            paid += w * float(np.mean(seen[k, y]))
            total += w
    u = unseen[pair]
    if total == 0.0:
        return (chances, R) if u > 0 else None
    return (1 - u) * chances / total, (1 - u) * paid / total + u * R


@settings(max_examples=100)
@given(steps, weights, unseens, ends, st.integers(0, S - 1))
def test_values_are_those_of_the_linear_program(
    taken: Steps, weight: Numbers, unseen: Numbers, ended: list[bool], g: int
) -> None:
    edges, plan = model(taken, weight, unseen)
    plan.terminated[:] = ended
    iterate(edges, plan, g)
    above, bound = [], []
    for s in range(S):
        for a in range(A):
            row = rows_of(taken, weight, unseen, s * A + a)
            if s != g and row is not None and not ended[s]:
                above.append(row[0] - np.eye(S)[s])
                bound.append(-row[1])
    limits = [(0, 0) if s == g else (D, None) for s in range(S)]
    A_ub, b_ub = (np.array(above), np.array(bound)) if above else (None, None)
    found = linprog(np.ones(S), A_ub=A_ub, b_ub=b_ub, bounds=limits)
    assert found.x is not None
    assert plan.V.tolist() == pytest.approx(found.x.tolist(), abs=1e-7)


@settings(max_examples=50)
@given(steps, weights, unseens, st.integers(0, S - 1))
def test_action_values_follow_their_equation(taken: Steps, weight: Numbers, unseen: Numbers, g: int) -> None:
    edges, plan = model(taken, weight, unseen)
    iterate(edges, plan, g)
    for pair in range(S * A):
        row = rows_of(taken, weight, unseen, pair)
        assert expected_value(edges, plan, pair) == pytest.approx(D if row is None else row[1] + row[0] @ plan.V)


def test_a_loop_is_solved_for_at_once() -> None:
    edges, plan = model([(0, 0, -1.0, 0), (0, 0, -1.0, 1)], [999.0, 1.0] + [0.0] * 60, [0.0] * S * A)
    assert iterate(edges, plan, 1) == 1
    assert plan.V[0] == pytest.approx(D)  # leaving takes 1000 steps on average, and D is better than that
    edges, plan = model([(0, 0, -0.01, 0), (0, 0, -0.01, 1)], [999.0, 1.0] + [0.0] * 60, [0.0] * S * A)
    assert iterate(edges, plan, 1) == 1
    assert plan.V[0] == pytest.approx(-10.0)
    assert backed_up(edges, plan, 0) == pytest.approx(-10.0)


def test_a_plan_makes_no_more_backups_than_allowed() -> None:
    chain = [(s, 0, -1.0, s + 1) for s in range(S - 1)]
    edges, plan = model(chain, [1.0] * 60, [0.0] * S * A, backups=2)
    assert iterate(edges, plan, S - 1) == 2
    assert plan.V.tolist() == [D, D, -2.0, -1.0, 0.0]
