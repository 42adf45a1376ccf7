"""Statements of the paper that no comparison of agents decides: definitions, formulas and assumptions.

Each is checked exactly, on examples that are small enough to be read, or on the paper's own worlds.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from fwrl.agents import Agent, make_agent
from fwrl.experiment.audit import greedy_policy
from fwrl.oracle import by_final_state, evaluate, optimum, q_from_f
from fwrl.report.finding import Finding, result_over
from fwrl.task import Task
from fwrl.task.agent_for_world import agent_for
from fwrl.task.expectation import best_rewards, expected_rewards
from fwrl.worlds import World, from_outcomes, load_world

STEPS = 400  # of an episode
WORLDS, STATES, ACTIONS = 100, 6, 2  # random worlds in which the triangle inequality is checked
AS_GOOD = 0.995  # of the best reward: what is left is the last trip of an episode
TIMES = (4, 8, 16)  # horizons of temporal difference models


def statements() -> Iterator[Finding]:
    """A finding for every statement."""
    for check in (
        sum_of_path_functions,
        triangle_inequality,
        horizon_independence,
        total_reward,
        range_of_rewards,
        complexities,
    ):
        yield check()


@functools.cache
def sum_of_path_functions() -> Finding:
    """Q = sum P F, on three states in a row."""
    row = from_outcomes("row", [[[(1.0, 1, -1.0)]], [[(1.0, 2, -1.0)]], [[(1.0, 2, 0.0)]]])
    P, F = by_final_state(row, [0, 0, 0], steps=2)
    exact = float(q_from_f(P, F)[0, 0])
    ways = [evaluate(row, [0, 0, 0], goal) for goal in (1, 2)]
    printed = sum(float(way.arrival[0] * way.value[0]) for way in ways)
    return Finding(
        "Q(s, a) = sum over s' of P(s' | s, a) F(s, a, s')",
        "not confirmed" if printed != exact else "confirmed",
        f"{printed:g}, not {exact:g}",
        f"three states in a row, -1 a step, two steps: Q is {exact:g}, the sum over states arrived at is {printed:g}",
        "An episode arrives at many states; their probabilities sum to more than 1, and the first rewards are counted "
        f"once for each. With P the distribution of the final state the sum is {exact:g}, as it should be.",
        "P as printed: the probability of arriving at s' within the episode.",
    )


@functools.cache
def triangle_inequality() -> Finding:
    """F(i, a, j) >= F(i, a, k) + max_b F(k, b, j) for the exact optimum of random worlds, by whether legs are sure."""
    checked, violated = {True: 0, False: 0}, {True: 0, False: 0}
    for seed in range(WORLDS):
        world = _random_world(seed)
        best = [optimum(world, g) for g in range(STATES)]
        for i, a, j, k in product(range(STATES), range(ACTIONS), range(STATES), range(STATES)):
            there, onward = best[k].action_value[i, a], best[j].value[k]
            if len({i, j, k}) < 3 or not np.isfinite(there + onward):
                continue
            sure = bool(best[k].action_arrival[i, a] > 1 - 1e-12 and best[j].arrival[k] > 1 - 1e-12)
            checked[sure] += 1
            violated[sure] += bool(best[j].action_value[i, a] < there + onward - 1e-9)
    return Finding(
        "F(i, a, j) >= F(i, a, k) + max_b F(k, b, j), always",
        "confirmed" if not any(violated.values()) else "not confirmed" if violated[True] else "partly confirmed",
        f"{sum(violated.values())} of {sum(checked.values()):,} fail",
        f"{WORLDS} random worlds, exact: where both legs arrive for certain, {violated[True]} of {checked[True]:,} "
        f"inequalities are violated, otherwise {violated[False]} of {checked[False]:,}",
        "If a leg may fail, going by k is another event than going to j: both values are means over the trips that "
        "arrive, and those that arrive by k need not be the same. (Credit: the paper's own footnote says that "
        "Kaelbling 1993 has a similar main contribution.)",
        "The optimal F as defined, where outcomes vary: the expected reward given arrival, arrival first.",
    )


@functools.cache
def horizon_independence() -> Finding:
    """The share of pairs that a horizon reaches, for temporal difference models and for FWRL with the same steps."""
    world = load_world("four-rooms")
    s, a = np.divmod(np.arange(world.n_states * world.n_actions), world.n_actions)
    landed = np.array([world.outcomes(int(x), int(b))[0].next_state for x, b in zip(s, a, strict=True)])
    reached = {}
    for T in TIMES:
        agent = agent_for(world, "tdm", horizon=T)
        for _ in range(T + 1):
            agent.observe_many(s, a, np.full(len(s), world.step_reward), landed)
        reached[T] = _arriving(agent, world)
    stitched = make_agent("fwrl", world.n_states, world.n_actions)
    stitched.observe_many(s, a, np.full(len(s), world.step_reward), landed)
    ours = _arriving(stitched, world)
    shares = ", ".join(f"{reached[T]:.0%} with {T}" for T in TIMES)
    return Finding(
        "FWRL's values are horizon independent, unlike TDM's",
        "confirmed" if ours == 1.0 and reached[TIMES[0]] < 1.0 else "not confirmed",
        f"{ours:.0%}, TDM {reached[TIMES[0]]:.0%}",
        f"four rooms, every step seen: greedy temporal difference models reach {shares} times of all ordered pairs "
        f"(exact), FWRL {ours:.0%}",
        "",
        "The horizon of values. The longest shortest path has 16 steps. Distances are L1 between positions.",
    )


@functools.cache
def total_reward() -> Finding:
    """The expected reward of an episode under the policy that F seeks, over the best possible."""
    shares = {}
    for name in ("four-rooms", "windy-four-rooms", "muddy-rooms", "risky-bridge"):
        task = Task(load_world(name))
        goals = task.sampler.goals.tolist()
        best = best_rewards(task, goals, STEPS).reward.sum()
        paths = [expected_rewards(task, optimum(task.world, g).policy, [g], STEPS)[0] for g in goals]
        shares[name] = sum(paths) / best
    numbers = ", ".join(f"{name} {share:.3f}" for name, share in shares.items())
    return Finding(
        "The best path maximises the total reward of an episode",
        result_over([share > AS_GOOD for share in shares.values()]),
        f"{min(shares.values()):.3f} at worst",
        f"expected reward of an episode of {STEPS} steps under the optimal path policy, over the best possible "
        f"(exact, all goals): {numbers}",
        "Episodes have a fixed length, so a costlier but shorter path can earn more: it leaves time for more trips. If "
        "all steps cost the same, the two agree except for the last trip, which can't be finished. FWRL with "
        "objective='rate' maximises the reward per step.",
        "The paper's objective is the total reward of an episode; F is the reward of one path.",
    )


@functools.cache
def range_of_rewards() -> Finding:
    """Whether ordinary rewards lie within the goal reward."""
    least, most = _limits(("four-rooms", "windy-four-rooms", "h-maze"))
    R = Task(load_world("four-rooms")).goal_reward
    cliff = _limits(("gymnasium:CliffWalking-v1",))[0]
    return Finding(
        "Rewards lie in [-R_goal, R_goal], R_goal the highest",
        "confirmed" if least >= -R and most < R else "not confirmed",
        f"{least:g} to {R:g}",
        f"the paper's worlds: ordinary rewards from {least:g} to {most:g}, R_goal {R:g}",
        "Only the upper end is needed, to tell the goal by its reward, and this project's tasks refuse a world without "
        f"it. Nothing depends on the lower end: CliffWalking pays {cliff:g} for a fall.",
        "The rewards of the authors' program.",
    )


@functools.cache
def complexities() -> Finding:
    """Compare the published complexities with the number of edges that must be read."""
    sizes = (64, 1024)
    dense = [V * (V - 1) / (V * math.log2(V)) for V in sizes]
    grid = [4 * V / (V * math.log2(V)) for V in sizes]
    return Finding(
        "The complexities of Dijkstra, Floyd-Warshall, Johnson",
        "partly confirmed",
        f"{dense[1]:.0f} times V log V",
        f"edges that Dijkstra must read, over V log2 V: complete graphs of {sizes[0]} and {sizes[1]:,} vertices "
        f"{dense[0]:.1f} and {dense[1]:.1f}, grids {grid[0]:.2f} and {grid[1]:.2f}",
        "The bound of Dijkstra's algorithm is O(E + V log V) with Fibonacci heaps; what is printed holds where E grows "
        "like V, as on grids. The other two are those of the textbooks (Floyd 1962; Johnson 1977).",
        "Worst cases of comparisons and additions; the paper prints O(V log V) for Dijkstra's algorithm, O(V^3) for "
        "Floyd-Warshall and O(V^2 log V + V E) for Johnson's.",
    )


def _arriving(agent: Agent, world: World) -> float:
    """The share of ordered pairs for which the greedy policy arrives for certain."""
    S = world.n_states
    arrival = np.array([evaluate(world, greedy_policy(agent, g), g).arrival for g in range(S)])
    return float((np.sum(arrival > 1 - 1e-9) - S) / (S * (S - 1)))


def _limits(names: Sequence[str]) -> tuple[float, float]:
    rewards = np.concatenate([load_world(name).tables.reward for name in names])
    return float(rewards.min()), float(rewards.max())


def _random_world(seed: int) -> World:
    """A world in which every action has one or two outcomes, anywhere; the last state is a trap."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(STATES - 1):
        row = []
        for _ in range(ACTIONS):
            n = int(rng.integers(1, 3))
            targets, costs = rng.integers(STATES, size=n), -rng.integers(1, 9, size=n) / 4
            row.append([(1.0 / n, int(t), float(c)) for t, c in zip(targets, costs, strict=True)])
        rows.append(row)
    rows.append([[(1.0, STATES - 1, -1.0)]] * ACTIONS)
    return from_outcomes("random", rows)
