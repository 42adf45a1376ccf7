"""MiniGrid, the real package: fully observable grids are learned through `fwrl.wrap`."""

from __future__ import annotations

import importlib

import gymnasium
import pytest

import fwrl

minigrid = pytest.importorskip("minigrid")


def door_and_key(size=5):
    return wrapped(f"MiniGrid-DoorKey-{size}x{size}-v0", 0)


def wrapped(name, seed):
    """One layout of an environment, fully observable."""
    wrappers = importlib.import_module("minigrid.wrappers")
    return fwrl.wrap(wrappers.ReseedWrapper(wrappers.FullyObsWrapper(gymnasium.make(name)), seeds=[seed]))


def test_the_key_is_fetched_and_the_door_opened():
    env = door_and_key()
    agent = fwrl.make_agent("fwrl", env.n_states, env.n_actions, explorer="optimistic")
    learned = fwrl.learn(agent, env, 6000, seed=0)
    assert learned.success[-20:].all()
    start = int(env.reset()[0]["observation"])
    known = -agent.value(start, 0) / env.step_cost
    assert (learned.steps[-20:] == round(known)).all(), "it takes as many steps as it believes"
    assert known == pytest.approx(shortest(door_and_key()))


def shortest(env):
    """The fewest steps to success, by breadth-first search over sequences of actions that reach new states."""
    frontier: list[tuple[int, ...]] = [()]
    seen = set()
    while frontier:
        following = []
        for actions in frontier:
            for action in range(env.n_actions):
                env.reset()
                for earlier in actions:
                    env.step(earlier)
                observation, _, over, _, info = env.step(action)
                if info["is_success"]:
                    return len(actions) + 1
                state = int(observation["observation"])
                if not over and state not in seen:
                    seen.add(state)
                    following.append((*actions, action))
        frontier = following
    raise AssertionError("no way")


def test_any_seen_state_is_a_goal_there():
    env = door_and_key()
    agent = fwrl.make_agent("fwrl", env.n_states, env.n_actions, explorer="optimistic")
    fwrl.learn(agent, env, 3000, seed=0)
    first = int(env.reset()[0]["observation"])
    turned = int(env.step(0)[0]["observation"])
    env.aim(turned)
    assert fwrl.learn(agent, env, 10, seed=0).steps.tolist() == [1] * 10
    assert agent.value(turned, first) == pytest.approx(-env.step_cost)


def test_empty_rooms_end_with_success():
    env = wrapped("MiniGrid-FourRooms-v0", 3)
    agent = fwrl.make_agent("fwrl", env.n_states, env.n_actions, explorer="optimistic")
    learned = fwrl.learn(agent, env, 5_000, seed=0)
    assert learned.success[-5:].all()
    assert env.n_states > 300
