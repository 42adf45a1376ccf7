"""Greedy actions arrive wherever arrival is certain: in every variant, with free steps, free cycles and rates."""

from __future__ import annotations

import itertools
from typing import Any

import gymnasium
import numpy as np
import pytest

import fwrl
from fwrl.worlds import from_outcomes

CERTAIN: list[dict[str, Any]] = [
    {"relaxation": "paper"},
    {"storage": "dense"},
    {"storage": "columns"},
    {"explorer": "optimistic"},
    {"objective": "rate"},
    {"objective": "rate", "explorer": "optimistic"},
]
UNCERTAIN: list[dict[str, Any]] = [
    {"backup": "expected"},
    {"backup": "expected", "explorer": "optimistic"},
    {"backup": "expected", "objective": "rate"},
    {"backup": "expected", "objective": "rate", "explorer": "optimistic"},
]
every_variant = pytest.mark.parametrize("options", [*CERTAIN, *UNCERTAIN], ids=lambda o: "-".join(o.values()))


def random_model(rng, certain):
    """{(s, a): [(times, s')]} and rewards: many are free, and some cycles cost nothing in all."""
    S, A = int(rng.integers(3, 9)), int(rng.integers(1, 4))
    h = rng.choice([0.0, 0.0, 1.0, -2.0], S)  # rewards h(s) - h(s') add up to 0 round every cycle
    model = {}
    for s, a in itertools.product(range(S), range(A)):
        if a == 0 or rng.random() < 0.8:  # every state was left: no open ends
            ends = rng.choice(S, 1 if certain else int(rng.integers(1, 3)), replace=False)
            model[s, a] = [(int(rng.integers(1, 4)), int(y)) for y in ends]
    cost = {key: float(rng.choice([0.0, 0.0, 0.0, 1.0])) for key in model}
    return S, A, model, lambda s, a, y: h[s] - h[y] - cost[s, a]


def informed(options, S, A, model, reward, goal):
    agent = fwrl.make_agent("fwrl", S, A, **options)
    if options.get("objective") == "rate":
        agent.begin_episode(goal)
    for (s, a), ends in model.items():
        for times, y in ends:
            for _ in range(times):
                agent.observe(s, a, reward(s, a, y), y)
    if options.get("objective") == "rate":  # some trips and what arriving pays
        for s in range(S):
            agent.observe(goal, 0, 1.0, s, arrived=True)
    return agent


def arrives(policy, model, S, goal, start):
    """Whether a policy, followed from `start`, arrives with probability 1: from all it reaches, the goal is reached."""
    onward = {s: {y for _, y in model.get((s, policy(s)), [])} for s in range(S) if s != goal}
    reached, queue = {start}, [start]
    while queue:
        for y in onward.get(queue.pop(), ()):
            if y not in reached:
                reached.add(y)
                queue.append(y)
    back = {goal}
    while more := {s for s in reached - back if onward.get(s, set()) & back}:
        back |= more
    return reached <= back


@every_variant
@pytest.mark.parametrize("part", range(5))
def test_greedy_policies_arrive_wherever_arrival_is_certain(options, part):
    """Five hundred random models for each variant, in five parts."""
    certain = options.get("backup") != "expected"
    tried = 0
    for seed in range(100 * part, 100 * part + 100):
        rng = np.random.default_rng(seed)
        S, A, model, reward = random_model(rng, certain)
        goal = int(rng.integers(S))
        agent = informed(options, S, A, model, reward, goal)
        best, sure = agent.best_actions(goal), agent.arrivals(goal) == 1.0
        agent.begin_episode(goal, explore=False)
        drawn = {s: agent.act(s) for s in range(S)}
        greedy = {s: agent.greedy(s, goal) for s in range(S)}
        last_best = {s: int(np.flatnonzero(best[s])[-1]) for s in range(S) if best[s].any()}
        for start in np.flatnonzero(sure).tolist():
            if start == goal:
                continue
            tried += 1
            for policy in (greedy, last_best, drawn):
                assert arrives(policy.__getitem__, model, S, goal, start), seed
    assert tried > 100


@every_variant
def test_free_steps_in_a_row_are_taken_towards_the_goal(options):
    agent = fwrl.make_agent("fwrl", 4, 2, **options)
    for s in range(4):
        agent.observe(s, 0, 0.0, max(s - 1, 0))
        agent.observe(s, 1, 0.0, min(s + 1, 3))
    assert [agent.greedy(s, 3) for s in range(3)] == [1, 1, 1]
    assert agent.predict({"observation": [0, 1, 2], "desired_goal": 3}, deterministic=False)[0].tolist() == [1, 1, 1]
    agent.begin_episode(3, explore=False)
    assert [agent.act(s) for s in range(3) for _ in range(20)] == [1] * 60


@pytest.mark.parametrize("options", [*CERTAIN[:4], *UNCERTAIN[:2]], ids=lambda o: "-".join(o.values()))
def test_frozen_lake_without_slip_is_solved_with_its_own_rewards(options):
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    agent, rng = fwrl.make_agent("fwrl", 16, 4, **options), np.random.default_rng(0)
    for episode in range(500):
        state, done = env.reset(seed=episode)[0], False
        while not done:
            action = int(rng.integers(4))
            following, reward, terminated, truncated, _ = env.step(action)
            agent.observe(state, action, float(reward), following, terminated=terminated)
            state, done = following, terminated or truncated
    solved = 0
    for episode in range(300):
        state, done = env.reset(seed=1000 + episode)[0], False
        while not done:
            action = int(agent.predict({"observation": state, "desired_goal": 15})[0])
            state, reward, terminated, truncated, _ = env.step(action)
            done = terminated or truncated
            solved += reward == 1.0
    assert solved == 300


def test_a_value_is_the_largest_action_value_where_arrivals_nearly_tie():
    """Action 1 loses two in a thousand million of the arrival, and would cost a hundredth."""
    outcomes = [
        [[(1.0, 1, -100.0)], [(1.0 - 2e-9, 1, -1.0), (2e-9, 2, -1.0)]],
        [[(1.0, 1, 0.0)]] * 2,
        [[(1.0, 2, 0.0)]] * 2,
    ]
    world = from_outcomes("nearly", outcomes)
    agent = fwrl.make_agent("fwrl", 3, 2, backup="expected")
    for _ in range(2):
        agent.observe(0, 0, -100.0, 1)
        agent.observe(2, 0, 0.0, 2)
        agent.observe(2, 1, 0.0, 2)
    agent.observe(0, 1, -1.0, 1)
    agent.observe(0, 1, -1.0, 2)
    agent.tables.edges.times[agent.tables.edges.used[0] - 2] = 499_999_999
    agent.tables.edges.total[agent.tables.edges.used[0] - 2] = -499_999_999.0
    assert world.n_states == 3
    values = agent.action_values(0, 1)
    assert agent.value(0, 1) == values.max() == values[agent.greedy(0, 1)]
    for a in range(2):
        assert values[a] == -np.inf or values[a] <= agent.value(0, 1)


@every_variant
def test_nothing_follows_a_terminated_state(options):
    """0 -> 1 -> 2 was seen, and that the environment ends at 1: there is no way to 2, but one to 1."""
    for when in ("before", "after"):
        agent = fwrl.make_agent("fwrl", 3, 1, **options)
        if when == "before":
            agent.observe(0, 0, -1.0, 1, terminated=True)
        agent.observe(0, 0, -1.0, 1)
        agent.observe(1, 0, -1.0, 2)
        if when == "after" and options.get("relaxation") != "paper":  # which keeps no steps to compute F from
            assert agent.value(0, 2) == -2.0
            agent.observe(0, 0, -1.0, 1, terminated=True)
        elif when == "after":
            continue
        assert agent.value(0, 2) == agent.value(1, 2) == -np.inf
        assert agent.value(0, 1) == -1.0
        assert agent.arrival(0, 2) == 0.0


@pytest.mark.parametrize("objective", ["reward", "steps", "rate"])
def test_a_door_that_failed_often_by_bad_luck_is_tried_again(objective):
    """A door that opens every second time failed 26 times in a row."""
    world = fwrl.load_world("door-corridor-0.5")
    agent = fwrl.make_agent(
        "fwrl", world.n_states, world.n_actions, 3, backup="expected", explorer="optimistic", objective=objective
    )
    for s in range(60):
        for a in range(3):
            y = world.outcomes(s, a)[0].next_state if (s, a) != (0, 2) else 0
            for _ in range(26):
                agent.observe(s, a, world.outcomes(s, a)[0].reward, y)
    fwrl.run(world, agent, episodes=20, steps=2000, seed=3, start=0, goal=60)
    assert agent.greedy(0, 60) == 2
