"""Column storage at a million states, against SciPy and against a map of a hundredth of the size.

Online learning is timed on walks. A random walker that has observed every transition once moves at random and passes
over the goal like over any other state. An exploring walker does the same without prior observations. A goal-seeking
walker has observed every transition, takes the agent's actions, and restarts at a random state after the goal. Rewards
are -1, or noisy: between -1 and -1.5.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra, floyd_warshall

from benchmarks.speed.measure import Measurement, alternate, discard, peak_of, seconds
from fwrl.agents import make_agent
from fwrl.agents.agent import Agent
from fwrl.agents.loops import Loop, act, act_once, observe, observe_once
from fwrl.arrays import Floats, Ints
from fwrl.kernels.shortest_paths import ShortestPaths, incoming_csr
from fwrl.worlds import World, four_rooms

LARGE, SMALL, PAIRS = 1000, 100, 46  # sides of four-room maps
WALK_STEPS = 2_000_000
NOISY_SEEKER_STEPS = 20_000  # far slower a step than the other walks
SINGLE_STEPS = 500_000
REPEATS = 3
LONG = 5e-3  # seconds; longer steps are counted
GOALS = 10  # in use at once
NOISE = 0.5


class Walker(NamedTuple):
    """How a walker learns and moves."""

    description: str
    trained: bool  # has observed every transition before the first step
    random: bool  # moves at random instead of by the agent's actions


RANDOM_WALKER, EXPLORER, GOAL_SEEKER = (
    Walker("random walk", trained=True, random=True),
    Walker("exploring", trained=False, random=True),
    Walker("goal-seeking", trained=True, random=False),
)


class Moves(NamedTuple):
    """Every transition of a deterministic map: from `source` by `action` to `target`."""

    source: Ints  # (S * A,)
    action: Ints
    target: Ints


class Walk(NamedTuple):
    """The state of a walk, and its random choices, drawn beforehand."""

    state: Ints  # (1,) the present state
    target: NDArray[np.int32]  # (S * A,) the next state of every (state, action)
    action: Ints  # (T,) the actions of a random walker
    reward: Floats  # (T,)
    start: Ints  # (T,) where a goal-seeking walker restarts


def goals() -> Iterator[Measurement]:
    """The values of all states for a new goal, and for all goals; building the edges is not timed for either side."""
    known = _without_self_loops(transitions_of(four_rooms(LARGE)))
    S = int(known.source.max()) + 1
    for costs, noise in (("equal", 0.0), ("random", NOISE)):
        search, graph = _both(known, noise)
        goal = iter(np.random.default_rng(0).integers(0, S, 100).tolist())
        V = np.empty(S)
        ours, other = alternate(
            lambda: discard(search.column(next(goal), out=V)),  # noqa: B023
            lambda: discard(dijkstra(graph, indices=next(goal))),  # noqa: B023
            rounds=7,
        )
        note = f"{costs} costs; takes {ours / other:.2f} times as long"
        yield Measurement(f"a goal, {S:,} states / SciPy dijkstra", ours, other, note)

    known = _without_self_loops(transitions_of(four_rooms(PAIRS)))
    S = int(known.source.max()) + 1
    search, graph = _both(known, NOISE)
    V = np.empty((S, S))

    def all_goals() -> None:
        for g in range(S):
            search.column(g, out=V[g])

    for name, rival in (("dijkstra from all", dijkstra), ("floyd_warshall", floyd_warshall)):
        ours, other = alternate(all_goals, lambda: discard(rival(graph)), rounds=3)  # noqa: B023
        note = f"random costs; takes {ours / other:.3f} times as long"
        yield Measurement(f"all pairs of {S:,} / SciPy {name}", ours, other, note)


def online() -> Iterator[Measurement]:
    """A learning step on a large map against a small one, and the longest step against a fresh column."""
    large, small = four_rooms(LARGE), four_rooms(SMALL)
    share = small.n_states / large.n_states
    cases = [(walker, noise) for walker in (RANDOM_WALKER, EXPLORER, GOAL_SEEKER) for noise in (0.0, NOISE)]
    for walker, noise in cases:
        steps = NOISY_SEEKER_STEPS if (walker, noise) == (GOAL_SEEKER, NOISE) else WALK_STEPS
        for words, fewer in (("the same steps", 1.0), ("the same steps per state", share)):
            ours, other = _costs((large, small), (steps, int(steps * fewer) + 1), noise, walker)
            note = f"{walker.description}, {_words(noise)}, {words}; costs {ours / other:.2f} times as much"
            yield Measurement(f"{large.n_states:,} / {small.n_states:,} states", ours, other, note)
    for walker, noise in cases:
        steps = NOISY_SEEKER_STEPS if (walker, noise) == (GOAL_SEEKER, NOISE) else SINGLE_STEPS
        least, column = _single_steps(large, noise, steps, walker)
        over = int((least > LONG).sum())
        note = f"{walker.description}, {_words(noise)}; {over} of {steps:,} steps over {1000 * LONG:.0f} ms"
        yield Measurement("longest step / fresh column", float(least.max()), column, note)
    for noise in (0.0, NOISE):
        ours, other = _first_connection(large, noise)
        note = f"{_words(noise)}; takes {ours / other:.2f} times as long"
        yield Measurement("a goal's first connection / fresh column", ours, other, note)


def memory() -> Iterator[Measurement]:
    """The peak memory of a process that has observed every transition of a million states, with ten goals in use."""
    known = transitions_of(four_rooms(LARGE))
    with tempfile.TemporaryDirectory(prefix="fwrl-bench-") as folder:
        for name, column in known._asdict().items():
            np.save(Path(folder) / name, column.astype(np.int32))
        # The second process is measured: the first one may have to compile.
        ours, other = (
            [peak_of(f"columns_of_{side}({folder!r}, {GOALS})") for _ in range(2)][1] for side in ("fwrl", "scipy")
        )
    S = int(known.source.max()) + 1
    note = f"{S:,} states, {GOALS} goals; peak of a process"
    yield Measurement("columns in memory / SciPy dijkstra", ours, other, note, unit="B")


def _costs(worlds: tuple[World, World], steps: tuple[int, int], noise: float, walker: Walker) -> list[float]:
    """Median seconds a step in each world, over several walks, alternately; the first round is not counted."""
    taken: list[list[float]] = [[], []]
    for number in range(REPEATS + 1):
        for world, n, took in zip(worlds, steps, taken, strict=True):
            goal = _goal(world)
            agent, walk = agent_of(walker, world, goal, noise, n), new_walk(world, goal, noise, n, seed=number)
            loop = walk_loop.of(agent.verbs)
            took.append(seconds(lambda: loop(agent.tables, agent.rng, walk, goal, walker.random)) / n)  # noqa: B023
    return [float(np.median(took[1:])) for took in taken]


def _single_steps(world: World, noise: float, steps: int, walker: Walker) -> tuple[Floats, float]:
    """(T,) the least seconds of each step over several equal runs, and the seconds of a fresh column."""
    goal, taken, column = _goal(world), [], []
    for _ in range(REPEATS):
        agent, walk = agent_of(walker, world, goal, noise, steps), new_walk(world, goal, noise, steps, seed=2)
        taken.append(timed_steps(agent, walk, goal, walker.random))
        column.append(seconds(lambda: agent.begin_episode(goal + 1)))  # noqa: B023
    least: Floats = np.min(taken, axis=0)
    return least, float(np.median(column))


def _first_connection(world: World, noise: float) -> tuple[float, float]:
    """Seconds of the first step into a goal and the farthest query after it, and of a fresh column instead."""
    known, goal, S = transitions_of(world), _goal(world), world.n_states
    reward = rewards(len(known.source), noise, np.random.default_rng(0))
    enters = (known.target == goal) & (known.source != goal)
    last = int(np.flatnonzero(enters)[0])
    before = ~enters

    def unconnected() -> Agent:
        agent = make_agent("fwrl", S, world.n_actions, seed=0, storage="columns")
        agent.observe_many(known.source[before], known.action[before], reward[before], known.target[before])
        agent.begin_episode(goal)
        return agent

    def connect(agent: Agent) -> None:
        agent.observe(int(known.source[last]), int(known.action[last]), reward[last], goal)

    def connect_and_query(agent: Agent) -> None:
        connect(agent)
        agent.act(S - 1)

    first, column = [], []
    for _ in range(REPEATS + 1):
        agent = unconnected()
        first.append(seconds(lambda: connect_and_query(agent)))  # noqa: B023
        agent = unconnected()
        connect(agent)
        column.append(seconds(lambda: agent.begin_episode(goal + 1)))  # noqa: B023
    return float(np.median(first[1:])), float(np.median(column[1:]))


def _goal(world: World) -> int:
    """A state in the middle of a room."""
    return int(np.sqrt(world.n_states) // 4) * int(np.sqrt(world.n_states)) + int(np.sqrt(world.n_states) // 4)


def _both(known: Moves, noise: float) -> tuple[ShortestPaths, Any]:
    """The same edges for fwrl, and reversed for SciPy, which searches from a source."""
    S = int(known.source.max()) + 1
    cost = -rewards(len(known.source), noise, np.random.default_rng(0))
    edges, _ = incoming_csr(S, known.source, known.target, -cost)
    return ShortestPaths(edges), csr_array((cost, (known.target, known.source)), shape=(S, S))


def _without_self_loops(known: Moves) -> Moves:
    moved = known.source != known.target
    return Moves(known.source[moved], known.action[moved], known.target[moved])


def _words(noise: float) -> str:
    return "noisy rewards" if noise else "fixed rewards"


def transitions_of(world: World) -> Moves:
    """The transitions of a deterministic map."""
    S, A, T = world.n_states, world.n_actions, world.tables
    target = T.next_state[T.first[:-1]].astype(np.int64)
    return Moves(np.repeat(np.arange(S), A), np.tile(np.arange(A), S), target)


def rewards(n: int, noise: float, rng: np.random.Generator) -> Floats:
    """(n,) rewards between -1 and -1 - `noise`."""
    paid: Floats = -1.0 - noise * rng.random(n)
    return paid


def agent_of(walker: Walker, world: World, goal: int, noise: float, steps: int) -> Agent:
    """The agent of a walker at the beginning of an episode of `steps` steps for `goal`."""
    agent = make_agent("fwrl", world.n_states, world.n_actions, seed=0, storage="columns")
    if walker.trained:
        known = transitions_of(world)
        reward = rewards(len(known.source), noise, np.random.default_rng(0))
        agent.observe_many(known.source, known.action, reward, known.target)
    agent.reserve(steps)
    agent.begin_episode(goal, steps=steps)
    return agent


def new_walk(world: World, start: int, noise: float, steps: int, seed: int) -> Walk:
    """A walk of `steps` steps, the same for every agent."""
    rng = np.random.default_rng(seed)
    action, restart = rng.integers(0, world.n_actions, steps), rng.integers(0, world.n_states, steps)
    target = transitions_of(world).target.astype(np.int32)
    return Walk(np.array([start]), target, action, rewards(steps, noise, rng), restart)


def _walk(agent: Any, rng: np.random.Generator, walk: Walk, goal: int, random: bool) -> None:
    s = walk.state[0]
    A = len(walk.target) // len(agent.terminated)
    for t in range(len(walk.action)):
        a = act(agent, s, rng)
        if random:
            a = walk.action[t]
        arrived = s == goal and not random
        next_s = walk.start[t] if arrived else walk.target[s * A + a]
        observe(agent, s, a, walk.reward[t], next_s, arrived)
        s = next_s
    walk.state[0] = s


walk_loop = Loop(_walk)


def timed_steps(agent: Agent, walk: Walk, goal: int, random: bool) -> Floats:
    """The same walk from Python, one compiled call at a time: (T,) seconds of each step's two calls."""
    choose, learn = act_once.of(agent.verbs), observe_once.of(agent.verbs)
    tables, rng, now = agent.tables, agent.rng, time.perf_counter
    target, A, s = walk.target, agent.n_actions, int(walk.state[0])
    taken = np.zeros(len(walk.action))
    for t, (action, r, start) in enumerate(
        zip(walk.action.tolist(), walk.reward.tolist(), walk.start.tolist(), strict=True)
    ):
        begin = now()
        a = choose(tables, s, rng)
        between = now()
        arrived = s == goal and not random
        if random:
            a = action
        next_s = start if arrived else int(target[s * A + a])
        again = now()
        learn(tables, s, a, r, next_s, arrived)
        taken[t] = now() - again + between - begin
        s = next_s
    return taken
