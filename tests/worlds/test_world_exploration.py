"""The worlds for exploration have the optima that closed forms give."""

from __future__ import annotations

import numpy as np
import pytest

from fwrl.errors import OptionError, UnknownNameError
from fwrl.oracle import optimum
from fwrl.worlds import World, load_world


@pytest.mark.parametrize("q", [0.5, 0.3, 0.1, 0.03, 0.01])
def test_the_best_way_through_the_corridor_is_the_door_or_the_walk(q: float) -> None:
    world = load_world(f"door-corridor-{q}")
    value = optimum(world, 60).value
    # From s: walk on, or walk back to the door and try it until it opens, 1/q times on average.
    s = np.arange(61)
    expected = -0.01 * np.minimum(60 - s, s + 1 / q)
    expected[60] = 0.0
    np.testing.assert_allclose(value, expected, rtol=1e-9)


def test_the_door_does_nothing_elsewhere() -> None:
    world = load_world("door-corridor-0.5", length=5, step_reward=-1.0)
    assert world.n_states == 6
    assert all(world.outcomes(s, 2) == [(1.0, s, -1.0)] for s in range(1, 6))
    assert world.action_names == ("right", "left", "door")


@pytest.mark.parametrize("n", [3, 6, 12])
def test_riverswim_takes_as_long_as_its_birth_and_death_chain(n: int) -> None:
    world = load_world(f"riverswim-{n}")
    # t(s), the mean time from s to s + 1: t(0) = 1/0.6; then 0.35 t(s) = 1 + 0.05 t(s - 1).
    times = [1 / 0.6]
    while len(times) < n - 1:
        times.append((1 + 0.05 * times[-1]) / 0.35)
    assert optimum(world, n - 1).value[0] == pytest.approx(-0.01 * sum(times), rel=1e-9)
    assert optimum(world, 0).value[n - 1] == pytest.approx(-0.01 * (n - 1), rel=1e-9)


@pytest.mark.parametrize(("length", "slip"), [(2, 0.0), (12, 0.1), (20, 0.25)])
def test_the_lock_opens_after_a_run_of_successes(length: int, slip: float) -> None:
    world = load_world(f"combination-lock-{length}-5", slip=slip)
    # The mean time until `length` successes in a row, each of probability p.
    p = 1 - slip
    expected = length if slip == 0 else (1 - p**length) / (slip * p**length)
    assert optimum(world, length).value[0] == pytest.approx(-0.01 * expected, rel=1e-9)


def test_the_combination_depends_on_the_seed_alone() -> None:
    def right(world: World) -> list[int]:
        return [next(a for a in range(4) if len(world.outcomes(s, a)) == 2) for s in range(12)]

    assert right(load_world("combination-lock-12-0")) == right(load_world("combination-lock-12-0"))
    assert right(load_world("combination-lock-12-0")) != right(load_world("combination-lock-12-1"))


def test_varied_costs_are_within_their_range_and_differ() -> None:
    costs = -load_world("varied-costs-8-3").tables.reward
    assert costs.min() >= 0.005
    assert costs.max() <= 0.5
    assert len(np.unique(costs)) == 8 * 8 * 4


def test_the_best_path_of_cheap_last_begins_with_the_expensive_step() -> None:
    found = optimum(load_world("cheap-last"), 2)
    assert found.value[0] == pytest.approx(-3.5)
    assert found.policy[0] == 1


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("door-corridor-0.0", "a probability above 0"),
        ("riverswim-2", "a number of states of at least 3"),
        ("combination-lock-1-0", "a length of at least 2"),
        ("varied-costs-1-0", "a size of at least 2"),
    ],
)
def test_impossible_sizes_are_refused(name: str, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        load_world(name)


def test_options_are_checked() -> None:
    for options in ({"slip": 1.0}, {"actions": 1}):
        with pytest.raises(OptionError, match="expected"):
            load_world("combination-lock-3-0", **options)
    with pytest.raises(OptionError, match="a length of at least 2"):
        load_world("door-corridor-0.5", length=1)
    with pytest.raises(UnknownNameError, match="door-corridor-Q"):
        load_world("door-corridor")
