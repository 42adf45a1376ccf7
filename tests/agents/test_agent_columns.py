"""Columns of the goals in use give the values and actions of the dense table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

import fwrl
from fwrl.agents import load
from fwrl.agents.fwrl.dense import DenseFwrl
from fwrl.agents.fwrl.paper import PaperFwrl
from fwrl.agents.fwrl.per_goal import PerGoalFwrl
from fwrl.errors import OptionError, PositiveCycleError
from fwrl.worlds import four_rooms

COSTS = st.one_of(st.sampled_from([0.0, 0.1, 0.2, 0.3, 2.5e-4, 1.0]), st.floats(0, 5))


@st.composite
def histories(draw, potential):
    """(S, A, [(s, a, r, s') or a goal]): loops, zero and repeated edges, several outcomes."""
    S, A = draw(st.integers(1, 7)), draw(st.integers(1, 3))
    state = st.integers(0, S - 1)
    step = st.tuples(state, st.integers(0, A - 1), COSTS, state)
    events = draw(st.lists(st.one_of(step, step, step, state), min_size=1, max_size=50))
    h = draw(st.lists(st.integers(-3, 3), min_size=S, max_size=S)) if potential else [0] * S
    return S, A, [e if isinstance(e, int) else (e[0], e[1], h[e[0]] - h[e[3]] - e[2], e[3]) for e in events]


def ties(values):
    best = values.max()
    return values >= best - 1e-9 * max(1e-3, abs(best)) if best > -np.inf else np.ones(len(values), bool)


def applied(agent, event):
    """Whether the agent accepted the event."""
    if isinstance(event, int):
        agent.begin_episode(event)
        return True
    try:
        agent.observe(*event)
    except PositiveCycleError:
        return False
    return True


@pytest.mark.parametrize("potential", [False, True], ids=["costs", "either sign"])
@given(data=st.data())
@settings(max_examples=60)
def test_columns_hold_the_values_and_tie_sets_of_the_dense_table(potential, data):
    S, A, events = data.draw(histories(potential))
    dense = fwrl.make_agent("fwrl", S, A, storage="dense")
    columns = fwrl.make_agent("fwrl", S, A, storage="columns")
    for event in events:
        assert applied(dense, event) == applied(columns, event)
        for g in data.draw(st.permutations(range(S))):
            np.testing.assert_allclose(columns.values(g), dense.values(g), rtol=1e-9, atol=1e-9)
            for s in range(S):
                F, kept = dense.action_values(s, g), columns.action_values(s, g)
                np.testing.assert_allclose(kept, F, rtol=1e-9, atol=1e-9)
                np.testing.assert_array_equal(ties(kept), ties(F))


@pytest.mark.parametrize("world", ["windy-four-rooms", "muddy-rooms", "four-rooms"])
@pytest.mark.parametrize("objective", ["reward", "steps"])
def test_columns_and_the_dense_table_make_the_same_trajectory(world, objective):
    world = fwrl.load_world(world)
    dense, columns = (
        fwrl.make_agent("fwrl", world.n_states, world.n_actions, storage=storage, objective=objective)
        for storage in ("dense", "columns")
    )
    trajectories = [
        fwrl.run(world, agent, episodes=10, steps=400, trajectory=True).trajectory for agent in (dense, columns)
    ]
    for ours, theirs in zip(*trajectories, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("rewards", ["fixed", "noisy", "zero too", "either sign"])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=25)
def test_every_answer_is_exact_while_states_are_stale(tmp_path_factory, rewards, seed):
    rng = np.random.default_rng(seed)
    S, A = int(rng.integers(2, 40)), int(rng.integers(1, 4))
    near = (np.arange(S)[:, None] + rng.integers(-2, 3, (S, A))) % S  # long ways round, a few short cuts
    cost = {"fixed": np.ones((S, A)), "zero too": rng.integers(0, 3, (S, A)) / 2}.get(rewards, 1 + rng.random((S, A)))
    h = rng.integers(-3, 4, S) if rewards == "either sign" else np.zeros(S)
    dense = fwrl.make_agent("fwrl", S, A, storage="dense")
    columns = fwrl.make_agent("fwrl", S, A, storage="columns")
    for agent in (dense, columns):
        agent.begin_episode(0, explore=False)
    for _ in range(400):
        s, a, g = int(rng.integers(S)), int(rng.integers(A)), int(rng.integers(S))
        n = int(near[s, a]) if rng.random() < 0.97 else g
        r = h[s] - h[n] - cost[s, a] - (rng.random() if rewards == "noisy" else 0.0)
        assert applied(dense, (s, a, r, n)) == applied(columns, (s, a, r, n))
        s, event = int(rng.integers(S)), rng.random()
        if event < 0.3:
            if rewards != "zero too":  # where free steps tie, columns prefer the fewest
                assert columns.act(s) == dense.act(s)  # by the same draw
        elif event < 0.6:
            asked = dense.goal if event < 0.55 else g
            assert asked is not None
            F, kept = dense.action_values(s, asked), columns.action_values(s, asked)
            np.testing.assert_allclose(kept, F, rtol=1e-9, atol=1e-9)
            np.testing.assert_array_equal(ties(kept), ties(F))
        elif event < 0.65:
            assert applied(dense, g) == applied(columns, g)
        elif event < 0.67:
            for agent in (dense, columns):
                assert agent.goal is not None
                agent.observe(agent.goal, a, 10.0, s, arrived=True)
        elif event < 0.69:
            path = tmp_path_factory.mktemp("half-way") / "a.fwrl"
            columns.save(path)
            columns = load(path)


@pytest.fixture(params=["equal", "noisy", "some zero"])
def surroundings(request):
    """(moves of a large map with these costs, a goal, which moves enter it)."""
    world, rng = four_rooms(100), np.random.default_rng(0)
    S, A = world.n_states, world.n_actions
    source, action = np.repeat(np.arange(S), A), np.tile(np.arange(A), S)
    target = world.tables.next_state[world.tables.first[:-1]]
    low = {"equal": np.ones(S * A), "noisy": 1 + rng.random(S * A) / 2, "some zero": rng.integers(0, 3, S * A) / 2.0}
    goal = S // 2
    return (source, action, -low[request.param], target), goal, (target == goal) & (source != goal)


def columns_that_know(moves, known):
    source, action, reward, target = (column[known] for column in moves)
    agent = fwrl.make_agent("fwrl", int(moves[0].max()) + 1, int(moves[1].max()) + 1, storage="columns")
    agent.observe_many(source, action, reward, target)
    return agent


def by_scipy(moves, known, goal):
    source, _, reward, target = moves
    S, moved = int(source.max()) + 1, known & (source != target)
    return -dijkstra(csr_array((-reward[moved], (target[moved], source[moved])), shape=(S, S)), indices=goal)


def test_a_jump_after_much_changed_gets_the_values_of_scipy(surroundings):
    moves, goal, enters = surroundings
    agent = columns_that_know(moves, ~enters)
    agent.begin_episode(goal)
    for e in np.flatnonzero(enters):  # the goal's first connection, and one better than the other
        agent.observe(*(column[e] for column in moves))
        best = by_scipy(moves, ~enters | (np.arange(len(enters)) <= e), goal)
        for s in (0, len(best) - 1):
            agent.act(s)
            assert agent.value(s, goal) == pytest.approx(best[s], rel=1e-12)
    np.testing.assert_allclose(agent.values(goal), best, rtol=1e-12)


def test_a_goal_that_comes_back_gets_the_values_of_scipy(surroundings):
    moves, goal, enters = surroundings
    agent = columns_that_know(moves, ~enters)
    agent.begin_episode(goal)
    for e in np.flatnonzero(enters):
        agent.observe(*(column[e] for column in moves))
    for g in (goal + 1, goal):
        agent.begin_episode(g)
        np.testing.assert_allclose(agent.values(g), by_scipy(moves, np.ones_like(enters), g), rtol=1e-12)


def test_large_worlds_get_columns_and_small_ones_the_dense_table():
    assert isinstance(fwrl.make_agent("fwrl", 2000, 2), DenseFwrl)
    assert isinstance(fwrl.make_agent("fwrl", 2001, 2), PerGoalFwrl)
    assert isinstance(fwrl.make_agent("fwrl", 2001, 1, relaxation="paper"), PaperFwrl)


def test_options_that_do_not_go_together_are_refused():
    with pytest.raises(OptionError, match="storage='columns' needs relaxation='exact', got 'paper'"):
        fwrl.make_agent("fwrl", 9, 2, relaxation="paper", storage="columns")
    for backup, explorer in (("best", "optimistic"), ("expected", "epsilon-greedy")):
        with pytest.raises(OptionError, match="explorer='optimistic' and objective='rate' need storage='columns'"):
            fwrl.make_agent("fwrl", 9, 2, backup=backup, explorer=explorer, storage="dense")
    with pytest.raises(OptionError, match="'columns'\\), got 'sparse'"):
        fwrl.make_agent("fwrl", 9, 2, storage="sparse")


@pytest.mark.parametrize("steps", [[(1, 1, 0.5, 1)], [(0, 0, 1.0, 1), (1, 1, -0.5, 0)]])
def test_columns_refuse_a_positive_cycle_and_stay_unchanged(steps, tmp_path):
    agent = fwrl.make_agent("fwrl", 3, 2, storage="columns")
    agent.begin_episode(2)
    agent.observe(1, 0, -1.0, 2)
    for step in steps[:-1]:
        agent.observe(*step)
    agent.save(tmp_path / "before.fwrl")
    with pytest.raises(PositiveCycleError, match="would close a positive cycle"):
        agent.observe(*steps[-1])
    agent.save(tmp_path / "after.fwrl")
    assert (tmp_path / "before.fwrl").read_bytes() == (tmp_path / "after.fwrl").read_bytes()


def test_edges_grow_beyond_one_for_each_pair():
    rng = np.random.default_rng(0)
    s, n = rng.integers(0, 30, 3000), rng.integers(0, 30, 3000)
    r = -rng.random(3000)
    dense, columns = (fwrl.make_agent("fwrl", 30, 1, storage=storage) for storage in ("dense", "columns"))
    for some in np.split(np.arange(3000), 10):
        for agent in (dense, columns):
            agent.begin_episode(3)
            agent.observe_many(s[some], np.zeros(300, int), r[some], n[some])
        for g in range(30):
            np.testing.assert_allclose(columns.values(g), dense.values(g), rtol=1e-12)
    assert columns.tables.edges.used[0] > 60


@pytest.mark.parametrize(
    ("key", "where", "what"),
    [
        ("edges/pair", 0, 28),
        ("edges/target", 0, -1),
        ("edges/next-leaving", 3, 3),  # a list that loops
        ("edges/leaving", 0, 10**6),
        ("edges/used", 0, 10**6),
        ("edges/best", 0, np.nan),
        ("edges/best", slice(None), 1.0),  # a positive cycle
    ],
)
def test_forged_links_are_refused(tmp_path, key, where, what):
    path = tmp_path / "a.fwrl"
    world = fwrl.load_world("h-maze", step_reward=-1.0)
    agent = fwrl.make_agent("fwrl", 7, 4, storage="columns")
    fwrl.run(world, agent, episodes=2, steps=40)
    agent.save(path)
    archive = fwrl.files.open_archive(path)
    arrays = {name: archive[name].copy() for name in archive.names}
    arrays[key][where] = what
    fwrl.files.write_archive(path, "agent", dict(archive.details), arrays)
    with pytest.raises(fwrl.errors.FileError, match="valid 'fwrl' agent"):
        fwrl.load(path)
