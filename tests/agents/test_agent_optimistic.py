"""The optimistic explorers: no epsilon, and where outcomes are certain they find the best path."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_examples import from_python

import fwrl
from fwrl.agents.baselines.sweeping import sweep
from fwrl.kernels.exploration import STEP
from fwrl.kernels.mdp.updates import unseen_share
from fwrl.oracle import optimum
from fwrl.worlds import four_rooms, from_outcomes, random_maze

unseen_share = from_python(unseen_share)

OPTIMISTIC = [
    ("fwrl", {"explorer": "optimistic"}),
    ("fwrl", {"explorer": "optimistic", "backup": "expected"}),
    ("mbrl", {"explorer": "optimistic"}),
    ("sweeping", {"explorer": "optimistic"}),
]
every_optimistic_agent = pytest.mark.parametrize(("name", "options"), OPTIMISTIC)


def made(name, options, world, seed=0):
    return fwrl.make_agent(name, world.n_states, world.n_actions, seed=seed, **options)


def pursue(agent, world, goal, start, trips, steps=3000):
    """Trips from start to goal, learning; the number of steps taken for the last, and its path reward."""
    agent.begin_episode(goal)
    for _ in range(trips):
        s, count, total = start, 0, 0.0
        while s != goal and count < steps:
            a = agent.act(s)
            [(_, n, r)] = world.outcomes(s, a)
            agent.observe(s, a, r, n)
            s, count, total = n, count + 1, total + r
        assert s == goal
    return count, total


@st.composite
def certain_worlds(draw):
    """Random tables with certain outcomes, mutually reachable by a ring; and mazes, muddy and plain rooms."""
    kind = draw(st.sampled_from(["table", "maze", "rooms", "muddy"]))
    if kind == "maze":
        return random_maze(7, 7, seed=draw(st.integers(0, 99)), loops=draw(st.sampled_from([0.0, 0.3, 1.0])))
    if kind == "rooms":
        return four_rooms(draw(st.integers(3, 6)))
    if kind == "muddy":
        return fwrl.load_world("muddy-rooms")
    S, A = draw(st.integers(2, 8)), draw(st.integers(1, 3))
    reward, state = st.sampled_from([-1.0, -0.5, -4.0]), st.integers(0, S - 1)
    ring = [[[(1.0, (s + 1) % S, draw(reward))]] for s in range(S)]
    return from_outcomes("drawn", [row + [[(1.0, draw(state), draw(reward))] for _ in range(A - 1)] for row in ring])


@given(certain_worlds(), st.data())
@settings(max_examples=80)
def test_once_nothing_changes_the_path_from_every_start_visited_is_the_best_there_is(world, data):
    state = st.integers(0, world.n_states - 1)
    agent = made("fwrl", {"explorer": "optimistic"}, world, seed=data.draw(st.integers(0, 9)))
    for goal in data.draw(st.lists(state, min_size=1, max_size=3)):
        start, known = data.draw(state), -1
        while known != agent.tables.edges.used[0]:
            known = int(agent.tables.edges.used[0])
            # An untried action may tie with a known path: several trips without a new edge.
            _, paid = pursue(agent, world, goal, start, trips=6)
        best = optimum(world, goal).value[start]
        assert paid == pytest.approx(best)
        assert agent.value(start, goal) == pytest.approx(best)


@pytest.mark.parametrize("wind", [False, True])
def test_updates_that_are_put_off_change_no_action(wind):
    """An agent that is asked for every value after every step takes the same actions as one that never is."""
    world = fwrl.load_world("windy-four-rooms") if wind else four_rooms(25)
    asked, rng = made("fwrl", {"explorer": "optimistic"}, world, seed=5), np.random.default_rng(5)
    left_alone = made("fwrl", {"explorer": "optimistic"}, world, seed=5)
    s = 0
    for goal in (world.n_states - 1, 3, world.n_states // 2):
        for agent in (asked, left_alone):
            agent.begin_episode(goal)
        for _ in range(1500):
            asked.values(goal)
            action = asked.act(s)
            assert left_alone.act(s) == action
            outcomes = world.outcomes(s, action)
            _, n, r = outcomes[rng.choice(len(outcomes), p=[p for p, _, _ in outcomes])]
            for agent in (asked, left_alone):
                agent.observe(s, action, r, n)
            s = n if n != goal else int(rng.integers(world.n_states))


@every_optimistic_agent
@pytest.mark.parametrize("name_of_world", ["four-rooms", "muddy-rooms"])
def test_every_optimistic_explorer_ends_up_on_the_best_path(name, options, name_of_world):
    world = fwrl.load_world(name_of_world)
    agent = made(name, options, world)
    for goal, start in ((0, world.n_states - 1), (40, 3)):
        _, paid = pursue(agent, world, goal, start, trips=60)
        assert paid == pytest.approx(optimum(world, goal).value[start])


@pytest.mark.parametrize(("name", "options"), OPTIMISTIC[:3])
def test_a_cheapest_step_that_is_seen_last_is_still_found(name, options):
    """The best step seen so far would promise too little: 0 -> 2 for 4, and never 0 -> 1 -> 2 for 3.5."""
    world = fwrl.load_world("cheap-last")
    for seed in range(50):
        agent = made(name, options, world, seed)
        _, paid = pursue(agent, world, goal=2, start=0, trips=20)
        assert paid == -3.5


@pytest.mark.parametrize(("name", "options"), [*OPTIMISTIC, ("rmax", {"known_after": 1}), ("rmax", {}), ("psrl", {})])
def test_untried_actions_of_terminated_states_are_not_explored(name, options):
    """0 -> 1 -> 2 costs 2; the trap 3 lies one step beside 0, and none of its actions was ever tried."""
    agent = fwrl.make_agent(name, 4, 2, **options)
    agent.begin_episode(2)
    for _ in range(70):
        agent.observe(0, 0, -1.0, 1)
        agent.observe(0, 1, -0.5, 3, terminated=True)
        agent.observe(1, 0, -1.0, 2)
        agent.observe(1, 1, -1.0, 1)
    assert {agent.act(0) for _ in range(50)} == {0}


@every_optimistic_agent
def test_there_is_no_epsilon(name, options):
    """In a corridor known from end to end, the agent never once turns back, however young the episode."""
    corridor = from_outcomes(
        "corridor", [[[(1.0, max(s - 1, 0), -1.0)], [(1.0, min(s + 1, 9), -1.0)]] for s in range(10)]
    )
    agent = made(name, options, corridor)
    for s in range(10):
        for a in (0, 1):
            [(_, n, r)] = corridor.outcomes(s, a)
            agent.observe_many([s] * 70, [a] * 70, [r] * 70, [n] * 70)
    agent.begin_episode(9)
    if name == "sweeping":
        agent.observe_many([0] * 20, [1] * 20, [-1.0] * 20, [1] * 20)  # backups come with steps
    assert [agent.act(s) for s in range(9) for _ in range(50)] == [1] * 450
    assert agent.tables.episode[STEP] == 0


@every_optimistic_agent
def test_an_untried_action_is_taken_before_a_known_path_of_more_than_one_step(name, options):
    # 0 -> 1 -> 2 is known; the other action at 0 never was tried and could lead to 2 at once.
    agent = fwrl.make_agent(name, 3, 2, **options)
    agent.begin_episode(2)
    for _ in range(80):
        agent.observe(0, 0, -1.0, 1)
        agent.observe(1, 0, -1.0, 2)
        agent.observe(1, 1, -1.0, 1)
    assert {agent.act(0) for _ in range(50)} == {1}
    assert {agent.act(1) for _ in range(50)} == {0}
    agent.begin_episode(2, explore=False)
    assert {agent.act(0) for _ in range(50)} == {0}


@every_optimistic_agent
def test_optimism_leads_across_the_map_to_the_one_untried_action(name, options):
    """All of a corridor is known but one action at its far end; the goal lies beyond it."""
    S = 8
    agent = fwrl.make_agent(name, S, 2, **options)
    for s in range(S - 1):
        for a, n in ((0, max(s - 1, 0)), (1, s + 1)):
            if (s, a) != (S - 2, 1):
                agent.observe_many([s] * 70, [a] * 70, [-1.0] * 70, [n] * 70)
    agent.begin_episode(S - 1)
    if name == "sweeping":
        agent.observe_many([0] * 20, [0] * 20, [-1.0] * 20, [0] * 20)  # backups come with steps
    assert [agent.act(s) for s in range(S - 1) for _ in range(20)] == [1] * 20 * (S - 1)


@every_optimistic_agent
def test_without_exploration_actions_and_values_are_those_without_optimism(name, options):
    world = fwrl.load_world("windy-four-rooms")
    plain = {key: value for key, value in options.items() if key != "explorer"}
    optimistic, plain_agent = made(name, options, world), made(name, plain, world)
    steps = fwrl.run(world, made("random", {}, world), episodes=3, steps=700, seed=2, trajectory=True).trajectory
    assert steps is not None
    for agent in (optimistic, plain_agent):
        agent.observe_many(
            *(column[~steps.arrived] for column in (steps.state, steps.action, steps.reward, steps.next_state))
        )
    asked = {goal: plain_agent.action_table(goal) for goal in (5, 40)}
    for goal, table in asked.items():
        np.testing.assert_allclose(optimistic.action_table(goal), table, rtol=1e-6)
        optimistic.begin_episode(goal)
        np.testing.assert_allclose(optimistic.action_table(goal), table, rtol=1e-6)
        np.testing.assert_allclose(optimistic.values(goal), plain_agent.values(goal), rtol=1e-6)
        optimistic.begin_episode(goal, explore=False)
        for s in range(world.n_states):
            assert table[s, optimistic.act(s)] == pytest.approx(table[s].max(), rel=1e-6)


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 1), st.sampled_from([-0.25, -1.0]), st.integers(0, 4)), min_size=1
    ),
    st.integers(0, 4),
)
@settings(max_examples=100)
def test_optimistic_sweeping_converges_to_the_values_of_the_optimistic_model(steps, goal):
    S, A = 5, 2
    agent = fwrl.make_agent("sweeping", S, A, explorer="optimistic", backups=2000, threshold=0.0)
    agent.begin_episode(goal)
    agent.observe_many(*zip(*steps, strict=True))
    agent.begin_episode(goal)  # which queues what has changed with the evidence on surprises
    tables, plan = agent.tables, agent.tables.plan
    sweep(tables.edges, plan, tables.terminated, goal, 0.0, 100_000)
    seen: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for s, a, r, n in steps:
        seen.setdefault((s, a), []).append((n, r))
    promise = 0.0  # no step pays more
    outcomes: list[list[list[tuple[float, int, float]]]] = [[[] for _ in range(A)] for _ in range(S)]
    for s in range(S):
        for a in range(A):
            known = seen.get((s, a), [])
            q = unseen_share(plan, len(known))
            outcomes[s][a] = [*(((1 - q) / len(known), n, r) for n, r in known), (q, goal, promise)]
    np.testing.assert_allclose(plan.V, optimum(from_outcomes("optimistic", outcomes), goal).value, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("reward", [-1.0, 0.5])
def test_a_trap_in_which_everything_was_tried_often_leads_nowhere(reward):
    agent = fwrl.make_agent("fwrl", 4, 2, explorer="optimistic", backup="expected")
    goal, trap = 3, 1
    agent.begin_episode(goal)
    for a in (0, 1):
        agent.observe_many([trap] * 63, [a] * 63, [-1.0] * 63, [trap] * 63)
    agent.observe(0, 0, reward, 2)
    agent.begin_episode(goal)
    assert agent.tables.plan.V[trap] > -np.inf
    for a in (0, 1):
        agent.observe(trap, a, -1.0, trap)
    assert agent.tables.plan.V[trap] == -np.inf
    agent.begin_episode(goal)
    assert agent.tables.plan.V[trap] == -np.inf
    assert agent.tables.plan.V[0] > -np.inf
