"""Worlds from Gymnasium tables: known answers, and where transitions that end lead."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import gymnasium
import numpy as np
import pytest

from fwrl.errors import FwrlError
from fwrl.worlds import World


def best_returns(world: World) -> np.ndarray:
    """(S,) the optimal undiscounted return, terminal rewards included, by value iteration."""
    S, A = world.n_states, world.n_actions
    P, R = np.zeros((S, A, S)), np.zeros((S, A))
    for s in range(S):
        for a in range(A):
            for p, t, r in world.outcomes(s, a):
                P[s, a, t] += p
                R[s, a] += p * r
    V = np.zeros(S)
    ends = list(world.terminals)
    for _ in range(3000):
        V[ends] = list(world.terminals.values())
        before, V = V, (R + P @ V).max(axis=1)
        if np.abs(V - before).max() < 1e-13:
            break
    return V


def toy(P: Any, **more: Any) -> SimpleNamespace:
    return SimpleNamespace(unwrapped=SimpleNamespace(P=P, **more))


def test_cliff_walking_start_is_worth_minus_13() -> None:
    world = World.from_gymnasium("CliffWalking-v1")
    assert world.n_states == 48
    assert world.terminals == {47: -1.0}
    assert world.starts is not None
    assert world.state_at(0, 3) == int(np.argmax(world.starts)) == 36
    assert best_returns(world)[36] == pytest.approx(-13)


def test_taxi_is_worth_7_93_over_its_starts() -> None:
    world = World.from_gymnasium(gymnasium.make("Taxi-v4"))
    assert world.n_states == 504
    assert world.terminals == dict.fromkeys(range(500, 504), 20.0)
    assert world.starts is not None
    assert world.starts @ best_returns(world) == pytest.approx(7.93, abs=0.005)
    assert world.positions is None


def test_frozen_lake_arrives_with_probability_14_of_17() -> None:
    world = World.from_gymnasium("FrozenLake-v1")
    assert world.n_states == 16
    assert world.terminals == {5: 0.0, 7: 0.0, 11: 0.0, 12: 0.0, 15: 1.0}
    assert best_returns(world)[0] == pytest.approx(14 / 17, abs=1e-6)
    assert world.position(7) == (3.0, 1.0)


@pytest.mark.parametrize("name", ["CliffWalking-v1", "Taxi-v4", "FrozenLake-v1"])
def test_absorbing_states_stay_for_nothing_and_the_others_keep_their_table(name: str) -> None:
    env = gymnasium.make(name)
    world = World.from_gymnasium(env)
    for s in range(world.n_states):
        for a in range(world.n_actions):
            if s in world.terminals:
                assert world.outcomes(s, a) == [(1.0, s, 0.0)]
                continue
            table = cast(Any, env.unwrapped).P[s][a]
            mean = sum(p * r for p, _, r, _ in table)
            got = sum(o.probability * (o.reward + world.terminals.get(o.next_state, 0.0)) for o in world.outcomes(s, a))
            assert got == pytest.approx(mean)


def test_an_end_that_is_also_passed_through_alive_is_appended() -> None:
    """1 is entered alive from 0 by action 0 and ended in by action 1, with two rewards."""
    P = {
        0: {0: [(1.0, 1, -1, False)], 1: [(0.5, 1, 5, True), (0.5, 1, 7, True)]},
        1: {0: [(1.0, 0, -1, False)], 1: [(1.0, 1, -1, False)]},
    }
    world = World.from_gymnasium(toy(P))
    assert world.terminals == {2: 5.0, 3: 7.0}
    assert world.outcomes(0, 0) == [(1.0, 1, -1.0)]
    assert world.outcomes(0, 1) == [(0.5, 2, 0.0), (0.5, 3, 0.0)]
    assert [world.label(s) for s in range(4)] == [
        "0",
        "1",
        "end at 1, reward 5",
        "end at 1, reward 7",
    ]


def test_a_start_is_never_made_absorbing() -> None:
    """Coming home ends the episode, but the next one starts there."""
    P = [[[(1.0, 1, -1.0, False)]], [[(1.0, 0, 3.0, True)]]]
    home = World.from_gymnasium(toy(P, initial_state_distrib=np.array([1.0, 0.0])))
    assert home.terminals == {2: 3.0}
    assert home.outcomes(0, 0) == [(1.0, 1, -1.0)]
    assert home.starts is not None
    assert home.starts.tolist() == [1.0, 0.0, 0.0]
    assert World.from_gymnasium(toy(P)).terminals == {0: 3.0}


def test_an_appended_end_lies_where_it_ended() -> None:
    P = [[[(1.0, 1, 0.0, False)]], [[(1.0, 0, 1.0, True)]]]
    world = World.from_gymnasium(toy(P, initial_state_distrib=np.array([1.0, 0.0]), shape=(1, 2)))
    assert world.position(2) == (0.0, 0.0)
    assert world.state_at(0, 0) == 0
    assert world.label(2) == "end at (0, 0), reward 1"


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ("CartPole-v1", "CartPole-v1 has no transition table env.unwrapped.P"),
        ("NoSuchLake-v1", "cannot make the environment 'NoSuchLake-v1'"),
        (toy({0: {0: [(1.0, 0, 0.0)]}}), "terminated"),
        (toy({1: {0: [(1.0, 0, 0.0, False)]}}), "numbered from 0"),
        (toy([[[(1.0, 0, 0.0, False)]], []]), "1 has 0"),
        (toy([[[(1.0, 4, 0.0, False)]]]), "next states from 0 to 0"),
        (toy(7), "dict or list"),
    ],
)
def test_what_has_no_usable_table_is_refused(env: Any, message: str) -> None:
    with pytest.raises(FwrlError, match=message):
        World.from_gymnasium(env)
