"""Values for the goals in use, at a million states: against SciPy, against a map a hundredth the size."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra, floyd_warshall

from fwrl.agents import make_agent
from fwrl.agents.agent import Agent
from fwrl.bench.measure import Measurement, alternate, discard, peak_of, seconds
from fwrl.bench.walker import (
    EXPLORER,
    NOISE,
    SEEKER,
    STROLLER,
    Moves,
    Walker,
    agent_of,
    live,
    live_step_by_step,
    moves_of,
    new_life,
    rewards,
)
from fwrl.kernels.graph.incoming_csr import incoming_csr
from fwrl.kernels.graph.shortest_paths import ShortestPaths
from fwrl.worlds import World, four_rooms

Floats = NDArray[np.float64]

LARGE, SMALL, PAIRS = 1000, 100, 46  # sides of four-room maps
STROLL = 2_000_000  # steps
SEEK = 20_000
SINGLE_STEPS = 500_000
REPEATS = 3
LONG = 5e-3  # seconds that no step should take
GOALS = 10  # in use at once


def goals() -> Iterator[Measurement]:
    """The values of every state for a new goal, and for all goals, both sides given the edges ready to search."""
    moves = _without_bumps(moves_of(four_rooms(LARGE)))
    S = int(moves.source.max()) + 1
    for costs, noise in (("equal", 0.0), ("random", NOISE)):
        search, graph = _both(moves, noise)
        goal = iter(np.random.default_rng(0).integers(0, S, 100).tolist())
        V = np.empty(S)
        ours, other = alternate(
            lambda: discard(search.column(next(goal), out=V)),  # noqa: B023
            lambda: discard(dijkstra(graph, indices=next(goal))),  # noqa: B023
            rounds=7,
        )
        note = f"{costs} costs; takes {ours / other:.2f} times as long"
        yield Measurement(f"a goal, {S:,} states / SciPy dijkstra", ours, other, note)

    moves = _without_bumps(moves_of(four_rooms(PAIRS)))
    S = int(moves.source.max()) + 1
    search, graph = _both(moves, NOISE)
    V = np.empty((S, S))

    def all_goals() -> None:
        for g in range(S):
            search.column(g, out=V[g])

    for name, rival in (("dijkstra from all", dijkstra), ("floyd_warshall", floyd_warshall)):
        ours, other = alternate(all_goals, lambda: discard(rival(graph)), rounds=3)  # noqa: B023
        note = f"random costs; takes {ours / other:.3f} times as long"
        yield Measurement(f"all pairs of {S:,} / SciPy {name}", ours, other, note)


def online() -> Iterator[Measurement]:
    """A step of learning, on a large map against a small one; the longest step against a fresh column."""
    large, small = four_rooms(LARGE), four_rooms(SMALL)
    share = small.n_states / large.n_states
    lives = [(walker, noise) for walker in (STROLLER, EXPLORER, SEEKER) for noise in (0.0, NOISE)]
    for walker, noise in lives:
        steps = SEEK if (walker, noise) == (SEEKER, NOISE) else STROLL
        for words, fewer in (("as many steps", 1.0), ("as many a state", share)):
            ours, other = _costs((large, small), (steps, int(steps * fewer) + 1), noise, walker)
            note = f"{walker.words}, {_words(noise)}, {words}; costs {ours / other:.2f} times as much"
            yield Measurement(f"{large.n_states:,} / {small.n_states:,} states", ours, other, note)
    for walker, noise in lives:
        steps = SEEK if (walker, noise) == (SEEKER, NOISE) else SINGLE_STEPS
        least, fresh = _single_steps(large, noise, steps, walker)
        over = int((least > LONG).sum())
        note = f"{walker.words}, {_words(noise)}; {over} of {steps:,} steps over {1000 * LONG:.0f} ms"
        yield Measurement("longest step / fresh column", float(least.max()), fresh, note)
    for noise in (0.0, NOISE):
        ours, other = _first_connection(large, noise)
        note = f"{_words(noise)}; takes {ours / other:.2f} times as long"
        yield Measurement("a goal's first connection / fresh column", ours, other, note)


def memory() -> Iterator[Measurement]:
    """Most memory that a process takes which knows every move of a million states, ten goals in use."""
    moves = moves_of(four_rooms(LARGE))
    with tempfile.TemporaryDirectory(prefix="fwrl-bench-") as folder:
        for name, column in moves._asdict().items():
            np.save(Path(folder) / name, column.astype(np.int32))
        # The second process counts: the first one may have to compile.
        ours, other = ([peak_of(f"{side}({folder!r}, {GOALS})") for _ in range(2)][1] for side in ("ours", "scipy"))
    S = int(moves.source.max()) + 1
    note = f"{S:,} states, {GOALS} goals; peak of a process"
    yield Measurement("columns in memory / SciPy dijkstra", ours, other, note, unit="B")


def _costs(worlds: tuple[World, World], steps: tuple[int, int], noise: float, walker: Walker) -> list[float]:
    """Median seconds a step in each world, over several lives, taken in turn; the first turn is not counted."""
    taken: list[list[float]] = [[], []]
    for turn in range(REPEATS + 1):
        for world, n, took in zip(worlds, steps, taken, strict=True):
            goal = _goal(world)
            agent, life = agent_of(walker, world, goal, noise, n), new_life(world, goal, noise, n, seed=turn)
            loop = live.of(agent.verbs)
            took.append(seconds(lambda: loop(agent.tables, agent.rng, life, goal, walker.strolls)) / n)  # noqa: B023
    return [float(np.median(took[1:])) for took in taken]


def _single_steps(world: World, noise: float, steps: int, walker: Walker) -> tuple[Floats, float]:
    """(T,) the least seconds that each step took in several runs alike, and the seconds of a fresh column."""
    goal, taken, fresh = _goal(world), [], []
    for _ in range(REPEATS):
        agent, life = agent_of(walker, world, goal, noise, steps), new_life(world, goal, noise, steps, seed=2)
        taken.append(live_step_by_step(agent, life, goal, walker.strolls))
        fresh.append(seconds(lambda: agent.begin_episode(goal + 1)))  # noqa: B023
    least: Floats = np.min(taken, axis=0)
    return least, float(np.median(fresh))


def _first_connection(world: World, noise: float) -> tuple[float, float]:
    """Seconds of the first step into a goal and the farthest question after it, and of a fresh column instead."""
    moves, goal, S = moves_of(world), _goal(world), world.n_states
    paid = rewards(len(moves.source), noise, np.random.default_rng(0))
    enters = (moves.target == goal) & (moves.source != goal)
    last = int(np.flatnonzero(enters)[0])
    before = ~enters

    def knowing() -> Agent:
        agent = make_agent("fwrl", S, world.n_actions, seed=0, storage="columns")
        agent.observe_many(moves.source[before], moves.action[before], paid[before], moves.target[before])
        agent.begin_episode(goal)
        return agent

    def connect(agent: Agent) -> None:
        agent.observe(int(moves.source[last]), int(moves.action[last]), paid[last], goal)

    def connect_and_ask(agent: Agent) -> None:
        connect(agent)
        agent.act(S - 1)

    first, fresh = [], []
    for _ in range(REPEATS + 1):
        agent = knowing()
        first.append(seconds(lambda: connect_and_ask(agent)))  # noqa: B023
        agent = knowing()
        connect(agent)
        fresh.append(seconds(lambda: agent.begin_episode(goal + 1)))  # noqa: B023
    return float(np.median(first[1:])), float(np.median(fresh[1:]))


def _goal(world: World) -> int:
    """A state in the middle of a room."""
    return int(np.sqrt(world.n_states) // 4) * int(np.sqrt(world.n_states)) + int(np.sqrt(world.n_states) // 4)


def _both(moves: Moves, noise: float) -> tuple[ShortestPaths, Any]:
    """The same edges, ready for ours, and turned round for SciPy, which searches from a source."""
    S = int(moves.source.max()) + 1
    cost = -rewards(len(moves.source), noise, np.random.default_rng(0))
    edges, _ = incoming_csr(S, moves.source, moves.target, -cost)
    return ShortestPaths(edges), csr_array((cost, (moves.target, moves.source)), shape=(S, S))


def _without_bumps(moves: Moves) -> Moves:
    moved = moves.source != moves.target
    return Moves(moves.source[moved], moves.action[moved], moves.target[moved])


def _words(noise: float) -> str:
    return "noisy rewards" if noise else "fixed rewards"
