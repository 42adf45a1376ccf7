from __future__ import annotations

import numpy as np
import pytest

from fwrl.errors import FwrlError, PositiveCycleError
from fwrl.oracle import optimal_return
from fwrl.worlds import World, from_outcomes


def test_the_better_paid_end_is_worth_a_longer_way():
    # From 0: end at 2 for 1 at once, or over state 1 (two steps of -1) to end at 3 for 10.
    ends = [[(1, 2, 0)]] * 2
    world = from_outcomes(
        "ends",
        [[[(1, 2, -1)], [(1, 1, -1)]], [[(1, 3, -1)], [(1, 0, -1)]], ends, [[(1, 3, 0)]] * 2],
        terminals={2: 1.0, 3: 10.0},
    )
    assert optimal_return(world).tolist() == [8, 9, 0, 0]


def test_gambling_on_the_end_is_worth_the_mean_of_its_terminal_rewards():
    world = from_outcomes(
        "lottery",
        [[[(0.25, 1, -1), (0.75, 2, -1)], [(1, 2, 0)]], [[(1, 1, 0)]] * 2, [[(1, 2, 0)]] * 2],
        terminals={1: 8.0, 2: 0.0},
    )
    assert optimal_return(world).tolist() == [1, 0, 0]


def test_where_no_policy_ends_surely_the_return_is_minus_infinity():
    # State 1 ends by action 1 only half of the time and is otherwise caught in state 3.
    world = from_outcomes(
        "caught",
        [
            [[(1, 2, -5)], [(1, 1, 0)]],
            [[(1, 1, 0)], [(0.5, 2, 0), (0.5, 3, 0)]],
            [[(1, 2, 0)]] * 2,
            [[(1, 3, 0)]] * 2,
        ],
        terminals={2: 0.0},
    )
    assert optimal_return(world).tolist() == [-5, -np.inf, 0, -np.inf]


def test_free_loops_do_not_put_off_the_end_but_profitable_ones_are_refused():
    def with_loop(reward: float) -> np.ndarray:
        rows: list[list[list[tuple[float, int, float]]]] = [[[(1, 0, reward)], [(1, 1, -3)]], [[(1, 1, 0)]] * 2]
        return optimal_return(from_outcomes("loop", rows, terminals={1: 1.0}))

    assert with_loop(0.0).tolist() == [-2, 0]
    with pytest.raises(PositiveCycleError):
        with_loop(0.1)


def test_a_world_without_an_end_is_refused():
    with pytest.raises(FwrlError, match="no terminal states"):
        optimal_return(from_outcomes("endless", [[[(1, 0, -1)]]]))


def test_cliff_walking_returns_its_published_optimum():
    cliff = World.from_gymnasium("CliffWalking-v1")
    assert optimal_return(cliff)[36] == -13


def test_taxi_returns_its_published_mean_over_the_starts():
    taxi = World.from_gymnasium("Taxi-v4")
    assert taxi.starts is not None
    starts = taxi.starts > 0
    assert taxi.starts[starts] @ optimal_return(taxi)[starts] == pytest.approx(7.93, abs=1e-9)


def test_frozen_lake_returns_the_chance_of_its_only_reward():
    assert optimal_return(World.from_gymnasium("FrozenLake-v1"))[0] == pytest.approx(14 / 17)
