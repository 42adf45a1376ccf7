"""Temporal difference models and universal value functions follow their equations, and do what they were made for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fwrl
from fwrl.agents.baselines.tdm import TemporalDifferenceModel
from fwrl.agents.baselines.uvfa import CENTRES, PURSUED, UniversalValues, radial_basis
from fwrl.errors import FwrlError, OptionError
from fwrl.experiment.audit import greedy_policy
from fwrl.oracle import evaluate
from fwrl.worlds import from_outcomes

S, A, T = 4, 2, 5


def distance_left(world, positions, horizon):
    """(T, S, A, S) minus the least expected distance to each goal when the time is up, by backward induction."""
    apart = 1.0 - np.eye(world.n_states)
    if positions is not None:
        x = np.array(positions, dtype=float)
        apart = np.array([[sum(abs(a - b)) for b in x] for a in x])
    values = np.empty((horizon, world.n_states, world.n_actions, world.n_states))
    for tau in range(horizon):
        after = -apart if tau == 0 else values[tau - 1].max(axis=1)
        after = np.where(np.eye(world.n_states, dtype=bool), 0.0, after)
        for s in range(world.n_states):
            for a in range(world.n_actions):
                values[tau, s, a] = sum(o.probability * after[o.next_state] for o in world.outcomes(s, a))
    return values


@given(
    st.lists(st.integers(0, S - 1), min_size=S * A, max_size=S * A),
    st.none() | st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=S, max_size=S),
)
@settings(max_examples=30)
def test_tdm_has_the_finite_horizon_values_at_every_time(targets, positions):
    rows = [[[(1.0, targets[s * A + a], -1.0)] for a in range(A)] for s in range(S)]
    world = from_outcomes("drawn", rows)
    agent = fwrl.make_agent("tdm", S, A, horizon=T, positions=positions)
    every = [(s, a, -1.0, targets[s * A + a]) for s in range(S) for a in range(A)]
    for _ in range(T):  # after k rounds the values of k times are exact
        agent.observe_many(*zip(*every, strict=True))
    np.testing.assert_allclose(np.moveaxis(agent.tables.Q, 2, 0), distance_left(world, positions, T), atol=1e-12)


def test_tdm_averages_outcomes_at_every_time():
    positions = [(0, 0), (1, 0), (2, 0), (0, 2)]
    rows = [[[(0.5, (s + 1) % S, -1.0), (0.5, (s + 2) % S, -1.0)], [(1.0, (s + 3) % S, -1.0)]] for s in range(S)]
    world = from_outcomes("dice", rows)
    agent = fwrl.make_agent("tdm", S, A, horizon=T, positions=positions, learning_rate=0.0008)
    rng = np.random.default_rng(0)
    s, a = rng.integers(S, size=120_000), rng.integers(A, size=120_000)
    step = np.where(a == 1, 3, 1 + (rng.random(120_000) < 0.5))
    agent.observe_many(s, a, np.full(120_000, -1.0), (s + step) % S)
    np.testing.assert_allclose(np.moveaxis(agent.tables.Q, 2, 0), distance_left(world, positions, T), atol=0.06)


def test_tdm_counts_its_time_down_and_begins_anew():
    """A corridor of four: from 0 to 3 takes three steps, so the count begins at 2."""
    agent = fwrl.make_agent("tdm", 4, 2, horizon=8, positions=[[x] for x in range(4)])
    moves = [(s, a, -1.0, max(0, min(3, s + 2 * a - 1))) for s in range(4) for a in range(2)]
    for _ in range(9):
        agent.observe_many(*zip(*moves, strict=True))
    agent.begin_episode(3, explore=False)
    times = []
    for s in (0, 1, 2):
        assert agent.act(s) == 1
        times.append(int(agent.tables.left[0]))
    assert times == [1, 0, -1]
    agent.act(1)
    agent.observe(3, 0, 10.0, 0, arrived=True)
    assert agent.tables.left[0] == -1
    assert isinstance(agent, TemporalDifferenceModel)
    assert [agent.distance_left(0, 1, 3, tau) for tau in range(4)] == [2.0, 1.0, 0.0, 0.0]


def test_tdm_stops_before_a_wall_that_is_longer_than_its_horizon():
    """A dead end nearest to the goal, and a way round it that a short horizon cannot see."""
    positions = [(0, 0), (4, 0), (0, 3), (5, 0)]
    targets = [[1, 2], [1, 0], [0, 3], [3, 3]]
    moves = [(s, a, -1.0, targets[s][a]) for s in range(4) for a in range(2)]
    for horizon, action in ((1, 0), (2, 1)):
        agent = fwrl.make_agent("tdm", 4, 2, horizon=horizon, positions=positions)
        for _ in range(3):
            agent.observe_many(*zip(*moves, strict=True))
        assert agent.greedy(0, 3) == action


def test_tables_that_do_not_fit_are_refused_with_their_size():
    with pytest.raises(OptionError, match=r"16 times and all goals of 10,000 states with 4 actions need 47\.7 GiB"):
        fwrl.make_agent("tdm", 10_000, 4)
    with pytest.raises(OptionError, match="GiB"):
        fwrl.make_agent("uvfa", 100_000_000, 4)


@pytest.mark.parametrize(("name", "option"), [("tdm", "positions"), ("uvfa", "features")])
def test_bad_coordinates_are_refused_in_words(name, option):
    few: dict[str, Any] = {option: [[0.0], [1.0]]}
    with pytest.raises(OptionError, match="of 3 states, got 2"):
        fwrl.make_agent(name, 3, 2, **few)
    for rows in ("far", [[0.0], [np.nan], [1.0]], [[1.0], [1.0, 2.0], [3.0]]):
        bad: dict[str, Any] = {option: rows}
        with pytest.raises(OptionError, match=f"expected {option} as one row of finite numbers"):
            fwrl.make_agent(name, 3, 2, **bad)


def options_of(world, name, **options) -> Any:
    return fwrl.agent_for(world, name, **options).config


def test_positions_come_from_the_world_unless_given():
    world = fwrl.load_world("h-maze")
    assert options_of(world, "tdm").positions == tuple(world.position(s) for s in range(world.n_states))
    assert np.max(options_of(world, "uvfa").features) == 1.0
    assert options_of(world, "uvfa", features=[[0.0]] * 7).features == ((0.0,),) * 7
    assert options_of(world, "uvfa", features=None).features is None
    assert options_of(fwrl.load_world("gymnasium:FrozenLake-v1"), "ql").learning_rate == 1.0


def test_the_basis_of_features_is_local_and_sums_to_1():
    world = fwrl.load_world("four-rooms")
    basis, size = radial_basis(world.n_states, [world.position(s) for s in range(world.n_states)])
    assert size == min(CENTRES, world.n_states)
    np.testing.assert_allclose(basis.weight.sum(axis=1), 1.0)
    assert basis.place.max() < size
    alone, size = radial_basis(7, None)
    assert (size, alone.place.shape) == (7, (7, 1))


def greedy_success(agent, world, goals):
    """The share of pairs of start and goal for which the greedy policy arrives in at most twice the shortest path."""
    found = []
    for g in goals:
        truth, shortest = evaluate(world, greedy_policy(agent, g), g), world.distances_to(g)
        found += ((truth.arrival > 1 - 1e-9) & (truth.steps <= 2 * shortest))[shortest > 0].tolist()
    return float(np.mean(found))


def trained(world, training_goals, steps, **options):
    """An agent that trains on these goals, from transitions drawn at random."""
    agent = fwrl.agent_for(world, "uvfa", seed=0, **options)
    for g in training_goals:
        agent.begin_episode(g)
    rng = np.random.default_rng(0)
    s, a = rng.integers(world.n_states, size=steps), rng.integers(world.n_actions, size=steps)
    landed = np.array([[world.outcomes(x, b)[0].next_state for b in range(4)] for x in range(world.n_states)])
    agent.observe_many(s, a, np.full(steps, -1.0), landed[s, a])
    return agent


@pytest.mark.parametrize("training", ["end-to-end", "two-stage"])
def test_uvfa_generalises_to_goals_never_trained_on_where_states_have_features(training):
    """An exact permutation test at the level of 5 %: every third goal is held out, and the true features of states must
    serve these goals better than each of 19 shuffles of the same features, which say nothing.

    FWRL needs no training on goals at all, and has all of them exactly.
    """
    world = fwrl.load_world("four-rooms")
    held_out = list(range(0, world.n_states, 3))
    training_goals = [g for g in range(world.n_states) if g not in held_out]
    options = {"training": training, "discount": 0.9, "rank": 32, "initial_value": 0.0, "learning_rate": 0.5}
    features = np.array(options_of(world, "uvfa").features)
    rng = np.random.default_rng(0)
    orders = [np.arange(world.n_states), *(rng.permutation(world.n_states) for _ in range(19))]
    found = []
    for order in orders:
        agent = trained(world, training_goals, 20_000, features=features[order].tolist(), **options)
        assert isinstance(agent, UniversalValues)
        found.append(greedy_success(agent, world, held_out))
    assert found[0] > max(found[1:])


def test_end_to_end_values_are_the_discounted_ones_where_the_rank_is_full():
    """A ring of five: one way round for one action, the other way round for the other."""
    agent = fwrl.make_agent("uvfa", 5, 2, rank=10, discount=0.8, initial_value=0.0, learning_rate=0.3)
    moves = [(s, a, -1.0, (s + 2 * a - 1) % 5) for s in range(5) for a in range(2)]
    for g in range(5):
        agent.begin_episode(g)
    for _ in range(600):
        agent.observe_many(*zip(*moves, strict=True))
    away = np.minimum(np.arange(5), 5 - np.arange(5))  # steps to a goal this far round the ring
    for g in range(5):
        for s in (x for x in range(5) if x != g):
            ahead = [(s + way) % 5 for way in (-1, 1)]
            exact = [1.0 if n == g else 0.8 ** away[(n - g) % 5] for n in ahead]
            np.testing.assert_allclose(agent.action_values(s, g), exact, atol=0.05)


def test_a_goal_for_which_there_is_no_memory_leaves_the_one_before(monkeypatch):
    agent = fwrl.make_agent("uvfa", 5, 2, training="two-stage", seed=0)
    agent.begin_episode(3)

    def refused(*_):
        raise OptionError("too large")

    monkeypatch.setattr("fwrl.agents.baselines.uvfa.check_table_size", refused)
    with pytest.raises(OptionError):
        agent.prepare(1)
    assert agent.tables.goals[agent.tables.counts[PURSUED]] == 3
    assert agent.tables.counts[PURSUED] < len(agent.tables.horde)


def test_distance_left_refuses_what_is_no_action_or_time():
    agent = fwrl.make_agent("tdm", S, A, horizon=T)
    assert isinstance(agent, TemporalDifferenceModel)
    for action in (A, -1):
        with pytest.raises(FwrlError, match="expected an action from 0 to 1"):
            agent.distance_left(0, action, 1, 0)
    for tau in (T, -1):
        with pytest.raises(FwrlError, match="expected tau from 0 to 4"):
            agent.distance_left(0, 0, 1, tau)


@pytest.mark.parametrize("exponent", [-1000, -600, 600, 1000])
def test_the_basis_does_not_depend_on_the_unit_of_features(exponent):
    """Squares of such distances are 0 or infinite."""
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (30, 2))
    (usual, m), (far, n) = (radial_basis(30, y.tolist()) for y in (x, np.ldexp(x, exponent)))
    assert m == n
    for one, other in zip(usual, far, strict=True):
        assert one.tolist() == other.tolist()


def test_the_basis_has_parts_where_most_features_are_as_good_as_equal():
    basis, _ = radial_basis(4, [[0.0], [1e-200], [2e-200], [1.0]])
    np.testing.assert_allclose(basis.weight.sum(axis=1), 1.0)
