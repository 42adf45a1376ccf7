"""The other agents follow their equations and converge where theory says they do."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fwrl
from fwrl.agents import load
from fwrl.errors import FileError, OptionError
from fwrl.files import open_archive, write_archive
from fwrl.kernels.heap import OPEN
from fwrl.kernels.rng import next_uniform
from fwrl.oracle import optimum
from fwrl.worlds import from_outcomes

S, A = 5, 2
steps = st.lists(
    st.tuples(
        st.integers(0, S - 1), st.integers(0, A - 1), st.sampled_from([-0.25, -1.0, -1.5]), st.integers(0, S - 1)
    ),
    min_size=1,
    max_size=25,
)
quick = settings(max_examples=60)


class Splitmix:
    """SplitMix64 in Python's own integers."""

    def __init__(self, state):
        self.x = int(state) % 2**64

    def word(self):
        self.x = (self.x + 0x9E3779B97F4A7C15) % 2**64
        z = self.x
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)

    def uniform(self):
        return (self.word() >> 11) / 2**53

    def below(self, n):
        return int(self.uniform() * n)


def random_steps(world, count, seed=0):
    """Transitions from states and actions drawn uniformly."""
    rng = np.random.default_rng(seed)
    drawn = []
    for s, a in zip(rng.integers(world.n_states, size=count), rng.integers(world.n_actions, size=count), strict=True):
        outcomes = world.outcomes(int(s), int(a))
        _, n, r = outcomes[rng.choice(len(outcomes), p=[o[0] for o in outcomes])]
        drawn.append((int(s), int(a), r, n))
    return drawn


def random_trip(world, count, seed=0):
    """Transitions of one long random walk."""
    rng = np.random.default_rng(seed)
    s, trip = 0, []
    for a in rng.integers(world.n_actions, size=count).tolist():
        _, n, r = world.outcomes(s, a)[0]
        trip.append((s, a, r, n))
        s = n
    return trip


def test_the_generator_is_splitmix64():
    # The words that the published algorithm gives for the seed 1234567.
    words = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    splitmix64, ours = np.array([1234567]), Splitmix(1234567)
    assert [ours.word() for _ in words] == words
    assert [next_uniform(splitmix64) for _ in words] == [(word >> 11) / 2**53 for word in words]


# DG-learning


@quick
@given(steps, st.sampled_from([1.0, 0.5, 0.1]), st.booleans(), st.sampled_from([0.0, 7.0, 1000.0]))
def test_dg_learning_is_its_equations(transitions, alpha, relaxation, initial):
    agent = fwrl.make_agent("dg", S, A, learning_rate=alpha, relaxation=relaxation, initial_steps=initial)
    DG = np.full((S, A, S), initial)
    for s, a, r, n in transitions:
        agent.observe(s, a, r, n)
        onward = DG[n].min(axis=0)
        onward[n] = 0.0
        DG[s, a] = (1 - alpha) * DG[s, a] + alpha * (1 + onward)
        if relaxation:
            DG = np.minimum(DG, DG[:, :, s][:, :, None] + DG[s].min(axis=0))
        np.testing.assert_allclose(agent.tables.DG, DG, rtol=1e-12)
    assert agent.action_values(2, 3).tolist() == (-agent.tables.DG[2, :, 3]).tolist()


@pytest.mark.parametrize("relaxation", [True, False])
def test_dg_learning_finds_the_fewest_steps(relaxation):
    world = fwrl.load_world("muddy-rooms")  # where the fewest steps are not the most reward
    agent = fwrl.make_agent("dg", world.n_states, world.n_actions, relaxation=relaxation)
    # Relaxation needs to see each step about once; without it, news travels one step per visit.
    agent.observe_many(*zip(*random_steps(world, 6_000 if relaxation else 40_000), strict=True))
    hops = from_outcomes(
        "hops",
        [
            [[(p, n, -1.0) for p, n, _ in world.outcomes(s, a)] for a in range(world.n_actions)]
            for s in range(world.n_states)
        ],
    )
    for goal in range(0, world.n_states, 5):
        np.testing.assert_allclose(agent.values(goal), optimum(hops, goal).value, atol=1e-9)


def test_relaxation_answers_a_trip_that_was_never_made():
    made = [(0, 0, -1.0, 1), (1, 1, -1.0, 2)]
    relaxed, plain = (fwrl.make_agent("dg", 4, 2, relaxation=relaxation) for relaxation in (True, False))
    for agent in (relaxed, plain):
        for step in made:
            agent.observe(*step)
    assert relaxed.action_values(0, 2).tolist() == [-2.0, -1000.0]
    assert plain.action_values(0, 2).tolist() == [-1001.0, -1000.0]


# All-goals Q-learning


@quick
@given(steps, st.sampled_from([1.0, 0.3]), st.integers(0, 3), st.integers(1, 4))
def test_all_goals_q_learning_is_its_equation(transitions, alpha, replays, capacity):
    agent = fwrl.make_agent("agql", S, A, seed=4, learning_rate=alpha, replays=replays, capacity=capacity)
    splitmix64, Q, kept = Splitmix(agent.tables.splitmix64[0]), np.zeros((S, A, S)), {}

    def update(s, a, r, n):
        onward = Q[n].max(axis=0)
        onward[n] = 0.0
        Q[s, a] += alpha * (r + onward - Q[s, a])

    for n, step in enumerate(transitions):
        agent.observe(*step)
        update(*step)
        kept[n % capacity] = step
        for _ in range(replays):
            update(*kept[splitmix64.below(len(kept))])
        np.testing.assert_allclose(agent.tables.Q, Q, rtol=1e-12)


def test_all_goals_q_learning_with_replay_is_exact_where_outcomes_are_certain():
    world = fwrl.load_world("muddy-rooms")
    agent = fwrl.make_agent("agql", world.n_states, world.n_actions, learning_rate=1.0)
    agent.observe_many(*zip(*random_steps(world, 20_000), strict=True))
    for goal in range(0, world.n_states, 5):
        best = optimum(world, goal)
        np.testing.assert_allclose(agent.action_table(goal), best.action_value, rtol=1e-9)
        np.testing.assert_allclose(agent.values(goal), best.value, rtol=1e-9)


# Hindsight experience replay

events = st.lists(
    st.one_of(
        st.tuples(st.just("go"), st.integers(0, A - 1), st.integers(0, S - 1)),
        st.tuples(st.just("jump"), st.integers(0, S - 1)),
        st.tuples(st.just("arrive"), st.integers(0, A - 1), st.integers(0, S - 1)),
        st.tuples(st.just("episode"), st.integers(0, S - 1)),
    ),
    min_size=1,
    max_size=40,
)


@quick
@given(events, st.sampled_from([1.0, 0.3]), st.integers(0, 3), st.integers(0, 3), st.integers(1, 6))
def test_hindsight_replay_is_its_equations(history, alpha, replays, k, capacity):
    R = 7.0
    agent = fwrl.make_agent(
        "her", S, A, seed=2, learning_rate=alpha, replays=replays, k=k, capacity=capacity, goal_reward=R
    )
    splitmix64, Q, goal, at = Splitmix(agent.tables.splitmix64[0]), np.ones((S, S, A)), -1, 0
    trips: list[list[Any]] = []
    stored: list[tuple[list[Any], int, int]] = []  # (trip, place in it, goal pursued)

    def update(g, s, a, r, n):
        Q[g, s, a] += alpha * (r + (R if n == g else Q[g, n].max()) - Q[g, s, a])

    begins = True
    for what, *details in history:
        if what == "episode":
            goal, begins = details[0], True
            agent.begin_episode(goal)
        elif what == "jump":
            at = details[0]
        elif what == "arrive":
            agent.observe(at, details[0], 10.0, details[1], arrived=True)
            if goal >= 0:
                Q[goal, at, details[0]] = 10.0
            at, begins = details[1], True
        else:
            step = (at, details[0], -0.5, details[1])
            agent.observe(*step)
            if begins or trips[-1][-1][3] != at:
                trips.append([])
            trips[-1].append(step)
            begins, at = False, details[1]
            stored.append((trips[-1], len(trips[-1]) - 1, goal))
            if goal >= 0:
                update(goal, *step)
            slots = {n % capacity: stored[n] for n in range(max(0, len(stored) - capacity), len(stored))}
            for _ in range(replays):
                trip, place, pursued = slots[splitmix64.below(len(slots))]
                if pursued >= 0:
                    update(pursued, *trip[place])
                for _ in range(k):
                    later = trip[place:]
                    update(later[splitmix64.below(len(later))][3], *trip[place])
        np.testing.assert_allclose(agent.tables.Q, Q, rtol=1e-12)


def test_hindsight_replay_of_one_walk_without_a_goal_knows_the_way_to_any():
    world = fwrl.load_world("four-rooms")
    agent = fwrl.make_agent("her", world.n_states, world.n_actions, replays=50)
    agent.observe_many(*zip(*random_trip(world, 20_000), strict=True))
    for goal in range(0, world.n_states, 5):
        others = np.arange(world.n_states) != goal
        np.testing.assert_allclose(agent.values(goal)[others], 10.0 + optimum(world, goal).value[others], rtol=1e-9)


# Transitive RL


@quick
@given(
    events,
    st.sampled_from([1.0, 0.3]),
    st.sampled_from([0.5, 0.7, 1.0]),
    st.sampled_from([0.0, 0.25, 1.0]),
    st.integers(0, 4),
    st.integers(1, 6),
)
def test_transitive_rl_is_its_equations(history, alpha, kappa, initial, replays, capacity):
    gamma = 0.9
    agent = fwrl.make_agent(
        "trl",
        S,
        A,
        seed=2,
        learning_rate=alpha,
        expectile=kappa,
        discount=gamma,
        initial_value=initial,
        replays=replays,
        capacity=capacity,
    )
    splitmix64, Q, at, begins = Splitmix(agent.tables.splitmix64[0]), np.full((S, A, S), initial), 0, True
    states: list[list[int]] = []  # of each trip, one more than its actions
    actions: list[list[int]] = []
    stored: list[tuple[int, int]] = []  # (trip, time in it)

    def half(trip, i, j):
        """The value of the part of a trip from time i to time j."""
        s, g = states[trip][i], states[trip][j]
        return gamma if j - i == 1 else Q[s, actions[trip][i], g]

    def update(trip, i, j, y):
        key = states[trip][i], actions[trip][i], states[trip][j]
        Q[key] += alpha * (1.0 if y > Q[key] else (1 - kappa) / kappa) * (y - Q[key])

    for what, *details in history:
        if what == "episode":
            begins = True
            agent.begin_episode(details[0])
        elif what == "jump":
            at = details[0]
        elif what == "arrive":
            agent.observe(at, details[0], 10.0, details[1], arrived=True)
            at, begins = details[1], True
        else:
            agent.observe(at, details[0], -0.5, details[1])
            if begins or states[-1][-1] != at:
                states.append([at])
                actions.append([])
            states[-1].append(details[1])
            actions[-1].append(details[0])
            begins, at, newest = False, details[1], len(actions[-1])
            stored.append((len(states) - 1, newest - 1))
            update(len(states) - 1, newest - 1, newest, gamma)
            slots = {n % capacity: stored[n] for n in range(max(0, len(stored) - capacity), len(stored))}
            for _ in range(replays):
                trip, i = slots[splitmix64.below(len(slots))]
                j = min(i + 1 + int(np.log(1.0 - splitmix64.uniform()) / np.log(gamma)), len(actions[trip]))
                y = gamma
                if j > i + 1:
                    k = i + 1 + splitmix64.below(j - i - 1)
                    arrived = states[trip][k] == states[trip][j]
                    y = half(trip, i, k) * (1.0 if arrived else half(trip, k, j))
                update(trip, i, j, y)
        np.testing.assert_allclose(agent.tables.Q, Q, rtol=1e-12)
    with np.errstate(divide="ignore"):
        steps = -np.log(Q[2, :, 3]) / np.log(gamma)
    np.testing.assert_allclose(agent.action_values(2, 3), steps, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("name", "exact"), [("h-maze", True), ("four-rooms", False)])
def test_transitive_rl_of_one_walk_comes_to_the_fewest_steps_from_above(name, exact):
    world = fwrl.load_world(name, step_reward=-1.0)
    agent = fwrl.make_agent("trl", world.n_states, world.n_actions, expectile=1.0)
    agent.observe_many(*zip(*random_trip(world, 5_000), strict=True))
    for goal in range(world.n_states):
        best = optimum(world, goal).value
        assert (agent.values(goal) <= best + 1e-9).all()
        if exact:
            np.testing.assert_allclose(agent.values(goal), best, atol=1e-9)


def test_transitive_rl_never_learns_a_pair_that_no_trip_joins():
    # Two trips that cross at 2: 0 -> 2 -> 4 and 1 -> 2 -> 3. Nobody went from 0 to 3.
    trips = [[(0, 0, -1.0, 2), (2, 0, -1.0, 4)], [(1, 0, -1.0, 2), (2, 1, -1.0, 3)]]
    fwrl_agent, dg = (fwrl.make_agent(name, 5, 2) for name in ("fwrl", "dg"))
    trl = fwrl.make_agent("trl", 5, 2, replays=1000)
    for _ in range(3):
        for trip in trips:
            for step in trip:
                for agent in (fwrl_agent, dg, trl):
                    agent.observe(*step)
    assert fwrl_agent.value(0, 3) == dg.value(0, 3) == -2.0
    assert trl.value(0, 3) == -np.inf
    np.testing.assert_allclose([trl.value(0, 4), trl.value(1, 3)], -2.0)


@pytest.mark.parametrize("expectile", [0.5, 0.7, 1.0])
def test_transitive_rl_takes_a_lucky_portal_for_certain(expectile):
    # At 0 the portal leads to the goal 2 once in twenty tries, else into the dead end 3. The corridor by 1 is safe.
    portal = [(0, 0, -1.0, 2)] + [(0, 0, -1.0, 3), (3, 0, -1.0, 3)] * 19
    corridor = [(0, 1, -1.0, 1), (1, 0, -1.0, 2)]
    trl = fwrl.make_agent("trl", 4, 2, expectile=expectile, replays=50)
    mean = fwrl.make_agent("fwrl", 4, 2, backup="expected")
    best = fwrl.make_agent("fwrl", 4, 2)
    for agent in (trl, mean, best):
        agent.observe_many(*zip(*portal, *[corridor[0], corridor[1]] * 5, strict=True))
    # No trip through the dead end goes on to the goal, so nothing ever pulls the portal's value down.
    np.testing.assert_allclose(trl.action_values(0, 2), [-1.0, -2.0])
    assert best.action_values(0, 2).tolist() == [-1.0, -2.0]
    assert trl.greedy(0, 2) == best.greedy(0, 2) == 0
    assert (mean.greedy(0, 2), mean.arrival(0, 2), mean.value(0, 2)) == (1, 1.0, -2.0)


@pytest.mark.parametrize("expectile", [0.5, 0.7, 0.9])
def test_transitive_rl_believes_more_than_the_mean_by_its_expectile(expectile):
    # A try leads from 0 to the goal 1 half of the time, else to 2 and from there to the goal: y is gamma or gamma^2.
    agent = fwrl.make_agent("trl", 3, 1, expectile=expectile, learning_rate=0.001, replays=20, discount=0.5)
    for lucky in np.random.default_rng(0).random(10_000) < 0.5:
        for step in ((0, 0, -1.0, 1),) if lucky else ((0, 0, -1.0, 2), (2, 0, -1.0, 1)):
            agent.observe(*step)
        agent.begin_episode(1)
    # Two trips, one lucky, have three transitions and 60 draws: 20 of the lucky one, 20 of the other's first step, half
    # of these for the goal. The lucky step is also learned as it's made. That's 21 times gamma and 10 times gamma^2.
    good, bad = 21 * expectile, 10 * (1 - expectile)
    assert agent.tables.Q[0, 0, 1] == pytest.approx((good * 0.5 + bad * 0.25) / (good + bad), abs=0.01)
    assert agent.tables.Q[0, 0, 1] > 0.375 + 0.03  # the mean of gamma^d


# Prioritised sweeping


@quick
@given(steps, st.integers(0, S - 1), st.sampled_from([0.0, 0.3]))
def test_a_backup_and_the_priorities_after_it_are_the_equations(transitions, goal, threshold):
    D = -50.0
    agent = fwrl.make_agent("sweeping", S, A, backups=1, threshold=threshold, dead_end=D)
    agent.begin_episode(goal)
    seen: dict[Any, list[Any]] = defaultdict(list)
    queued: dict[int, float] = {}
    V = np.full(S, D)
    V[goal] = 0.0

    def q(s, a):
        elsewhere = [V[n] for _, n in seen[s, a] if n != s]
        return (sum(r for r, _ in seen[s, a]) + sum(elsewhere)) / len(elsewhere) if elsewhere else D

    for s, a, r, n in transitions:
        seen[s, a].append((r, n))
        first = s
        if s == goal:  # nothing to back up there, so the first in the queue is next
            ranked = sorted(queued.values())
            first = max(queued, key=queued.__getitem__, default=None)
            if len(ranked) > 1 and np.isclose(ranked[-1], ranked[-2]):
                return  # either may come first
        agent.observe(s, a, r, n)
        if first is None:
            continue
        queued.pop(first, None)
        value = max(D, *(q(first, b) for b in range(A)))
        delta, V[first] = abs(value - V[first]), value
        for (x, _), outcomes in seen.items():
            share = Counter(y for _, y in outcomes)[first] / max(1, len(outcomes))
            if x not in (goal, first) and delta * share > threshold:
                queued[x] = max(queued.get(x, 0.0), delta * share)
        np.testing.assert_allclose(agent.values(goal), V, rtol=1e-9)
        queue = agent.tables.plan.stale
        left = queue.state[: queue.size[OPEN]].tolist()
        assert sorted(left) == sorted(queued)
        np.testing.assert_allclose(queue.key[: len(left)], [queued[x] for x in left], rtol=1e-6)


def empirical(world, transitions):
    """The world that transitions are a fair sample of, as a world for the oracle."""
    seen: dict[Any, Counter[Any]] = defaultdict(Counter)
    for s, a, r, n in transitions:
        seen[s, a][n, r] += 1
    return from_outcomes(
        "empirical",
        [
            [[(c / seen[s, a].total(), n, r) for (n, r), c in seen[s, a].items()] for a in range(world.n_actions)]
            for s in range(world.n_states)
        ],
    )


@pytest.mark.parametrize("in_use", [True, False])
def test_sweeping_comes_to_the_values_of_the_counted_model(in_use):
    world = fwrl.load_world("windy-four-rooms")
    transitions = random_steps(world, 9_000)
    model = empirical(world, transitions)
    agent = fwrl.make_agent("sweeping", world.n_states, world.n_actions, backups=200, threshold=1e-13)
    for begin, goal in ((0, 3), (3_000, 40), (6_000, 3)):  # 3 comes back, and finds a better model
        if in_use:
            agent.begin_episode(goal)
        agent.observe_many(*zip(*transitions[begin : begin + 3_000], strict=True))
    for goal in (3, 40):
        best = optimum(model, goal)
        np.testing.assert_allclose(agent.values(goal), best.value, rtol=1e-7)
        np.testing.assert_allclose(agent.action_table(goal), best.action_value, rtol=1e-7)


def test_a_state_that_cannot_arrive_has_the_value_of_a_dead_end():
    # From 0 one action is a coin toss between the goal 2 and the trap 1; the other is a detour by 3.
    agent = fwrl.make_agent("sweeping", 4, 2, dead_end=-100.0)
    agent.begin_episode(2)
    agent.observe_many([0, 0, 1, 1, 0, 3], [0, 0, 0, 1, 1, 0], [-1.0, -1.0, 0.0, 0.0, -30.0, -30.0], [2, 1, 1, 1, 3, 2])
    agent.observe_many([1] * 500, [0] * 500, [0.0] * 500, [1] * 500)
    assert agent.value(1, 2) == -100.0
    assert agent.action_values(0, 2).tolist() == [-51.0, -60.0]
    for _ in range(2):  # the coin falls badly twice more
        agent.observe(0, 0, -1.0, 1)
    assert agent.action_values(0, 2).tolist() == [-76.0, -60.0]


# All of them


def test_nothing_is_learned_from_the_jump_to_a_new_start():
    for name, unknown in (("dg", -1000.0), ("agql", 0.0), ("sweeping", -1000.0)):
        agent = fwrl.make_agent(name, 3, 1)
        agent.begin_episode(1)
        agent.observe(1, 0, 10.0, 2, arrived=True)
        assert agent.value(1, 2) == unknown
        assert agent.value(1, 1) == 0.0
    agent = fwrl.make_agent("her", 3, 1)
    agent.begin_episode(1)
    agent.observe(1, 0, 10.0, 2, arrived=True)
    assert agent.value(1, 1) == 10.0
    assert agent.value(1, 2) == 1.0


@pytest.mark.parametrize("name", ["agql", "her", "trl"])
def test_what_is_replayed_is_saved(name, tmp_path):
    world = fwrl.load_world("four-rooms")
    agent = fwrl.make_agent(name, world.n_states, world.n_actions, capacity=70)
    fwrl.run(world, agent, episodes=2, steps=60)
    agent.save(tmp_path / "a.fwrl")
    loaded = load(tmp_path / "a.fwrl")
    assert loaded.tables.ring.stored[0] > 70
    for each in (agent, loaded):
        each.observe(0, 1, -1.0, 2)
    np.testing.assert_array_equal(agent.tables.Q, loaded.tables.Q)
    np.testing.assert_array_equal(agent.tables.ring.state, loaded.tables.ring.state)
    assert agent.tables.splitmix64[0] == loaded.tables.splitmix64[0]


@pytest.mark.parametrize(
    ("name", "key", "where", "what"),
    [
        ("agql", "ring/state", 3, 7),
        ("agql", "ring/next-state", 3, -1),
        ("agql", "ring/action", 3, 4),
        ("agql", "ring/reward", 3, np.nan),
        ("agql", "ring/stored", 0, -1),
        ("her", "ring/state", 3, 7),
        ("her", "trips/goal", 3, 7),
        ("her", "trips/trip", 3, 10**6),
        ("her", "trips/last", 0, 10**6),
        ("her", "trips/newest", 0, 10**6),
        ("her", "ring/stored", 0, 10),
        ("sweeping", "plan/stale/state", 0, 7),
        ("sweeping", "plan/stale/place", slice(None), 3),
        ("sweeping", "plan/stale/size", 0, 77),
        ("sweeping", "plan/V", 0, np.inf),
        ("sweeping", "slot", 3, 99),
        ("sweeping", "edges/target", 0, 7),
    ],
)
def test_inconsistent_tables_are_refused(name, key, where, what, tmp_path):
    world = fwrl.load_world("h-maze", step_reward=-1.0)
    agent = fwrl.make_agent(name, 7, 4)
    fwrl.run(world, agent, episodes=4, steps=100, goal=0)
    agent.begin_episode(world.state_at(1, 1))  # queues the states next to it
    path = tmp_path / "a.fwrl"
    agent.save(path)
    archive = open_archive(path)
    arrays = {section: archive[section].copy() for section in archive.names}
    arrays[key][where] = what
    write_archive(path, "agent", dict(archive.details), arrays)
    with pytest.raises(FileError, match=f"is not a valid '{name}' agent file"):
        fwrl.load(path)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("dg", {"learning_rate": 0}, "0 < learning_rate <= 1, got 0"),
        ("dg", {"relaxation": "yes"}, "true or false, got 'yes'"),
        ("dg", {"initial_steps": float("inf")}, "finite number of at least 0, got inf"),
        ("agql", {"replays": -1}, "whole number from 0 to 10,000, got -1"),
        ("agql", {"capacity": 0}, "whole number from 1 to 10,000,000, got 0"),
        ("agql", {"learning_rate": 1.5}, "learning_rate <= 1"),
        ("her", {"k": 1.5}, "expected k to be a whole number"),
        ("her", {"goal_reward": "ten"}, "expected goal_reward to be a finite number, got 'ten'"),
        ("trl", {"expectile": 0.4}, "0.5 <= expectile <= 1, got 0.4"),
        ("trl", {"expectile": 1.1}, "0.5 <= expectile <= 1, got 1.1"),
        ("trl", {"discount": 1.0}, "0 < discount < 1, got 1.0"),
        ("trl", {"initial_value": 2}, "0 <= initial_value <= 1, got 2"),
        ("trl", {"learning_rate": 0}, "0 < learning_rate <= 1, got 0"),
        ("sweeping", {"backups": 0}, "from 1 to 100,000, got 0"),
        ("sweeping", {"threshold": -1.0}, "at least 0, got -1.0"),
        ("sweeping", {"dead_end": float("-inf")}, "finite number, got -inf"),
    ],
)
def test_options_out_of_range_are_refused_in_words(name, options, message):
    with pytest.raises(OptionError, match=message):
        fwrl.make_agent(name, 3, 2, **options)


@pytest.mark.parametrize("name", ["dg", "agql", "her", "trl"])
def test_tables_that_cannot_fit_are_refused(name):
    with pytest.raises(OptionError, match="at most 8 GiB"):
        fwrl.make_agent(name, 100_000, 4)
