"""The suite, and its parts on small maps: a compiled step against a literal NumPy step and a random agent's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.scale_model import scale_model
from benchmarks.speed.columns import goals, memory, online
from benchmarks.speed.logs import ingestion, matrices, merging, routes
from benchmarks.speed.measure import Measurement, alternate, discard, seconds
from benchmarks.speed.uncertainty import uncertainty
from fwrl.agents import make_agent
from fwrl.agents.agent import Agent
from fwrl.errors import FwrlError, unknown_name
from fwrl.task import Task, Trajectory, run
from fwrl.worlds import World, four_rooms, load_world

PAPER_RUN = (50, 400)  # episodes, steps
COMPARISON_RUN = (50, 1000)  # episodes, steps
LOOP_STEPS = 400_000
FIRST_STEPS = 30_000
LITERAL_STEPS = {32: 20, 64: 3}  # literal steps timed on N x N maps; every step takes the same time
GROWTH = (8, 16, 32, 48, 64)  # N of N x N maps


class LiteralFwrl:
    """Algorithm 1 written literally in NumPy: F as one array, relaxed through s_t after every step."""

    def __init__(self, n_states: int, n_actions: int) -> None:
        self.F: NDArray[np.float64] = np.full((n_states, n_actions, n_states), -np.inf)

    def observe(self, s: int, a: int, r: float, next_s: int) -> None:
        """F(s, a, s') <- r, then F(k, b, l) <- max{F(k, b, l), F(k, b, s) + max_c F(s, c, l)}."""
        self.F[s, a, next_s] = r
        np.maximum(self.F, self.F[:, :, s, None] + self.F[s].max(axis=0), out=self.F)


def _agent(world: World, name: str = "fwrl", **options: str) -> Agent:
    """An agent with a seed; FWRL with dense storage on maps of any size (`speed.columns` measures the other)."""
    if name == "fwrl" and not options:
        options = {"storage": "dense"}
    return make_agent(name, world.n_states, world.n_actions, seed=0, **options)


def _trip(world: World, episodes: int, steps: int) -> Trajectory:
    """The ordinary steps of a run."""
    result = run(world, _agent(world), episodes=episodes, steps=steps, seed=0, trajectory=True)
    assert result.trajectory is not None
    ordinary = ~result.trajectory.arrived
    columns: list[Any] = [column[ordinary] for column in result.trajectory]
    return Trajectory(*columns)


def _literal(world: World, trip: Trajectory, steps: int) -> Callable[[], None]:
    def learn() -> None:
        agent = LiteralFwrl(world.n_states, world.n_actions)
        columns = (c[:steps].tolist() for c in trip[1:5])
        for step in zip(*columns, strict=True):
            agent.observe(*step)

    return learn


def step() -> Iterator[Measurement]:
    """One step on four rooms against literal NumPy on the same transitions, and against a random agent."""
    world = load_world("four-rooms")
    task = Task(world)
    trip = _trip(world, *PAPER_RUN)
    n = len(trip.state)

    def learn() -> None:
        _agent(world).observe_many(trip.state, trip.action, trip.reward, trip.next_state)

    ours, other = alternate(learn, _literal(world, trip, n), rounds=3)
    yield Measurement(
        "learn on four rooms / literal NumPy", ours / n, other / n, f"{n:,} ordinary steps of a 50 x 400 run"
    )

    steps = LOOP_STEPS

    def run_agent(name: str) -> Callable[[], None]:
        return lambda: discard(run(task, _agent(world, name), episodes=1, steps=steps, seed=0))

    ours, other = alternate(run_agent("fwrl"), run_agent("random"), rounds=9)
    note = f"{steps:,} steps; costs {ours / other:.1f} random ones"
    yield Measurement("act, learn on four rooms / random agent", ours / steps, other / steps, note)


def beyond() -> Iterator[Measurement]:
    """A step of FWRL with the expected backup and the optimistic explorer against one without."""
    episodes, steps = COMPARISON_RUN
    for name in ("four-rooms", "windy-four-rooms"):
        task = Task(load_world(name))

        def run_agent(task: Task, **options: str) -> None:
            run(task, _agent(task.world, **options), episodes=episodes, steps=steps, seed=0)

        ours, other = alternate(
            lambda t=task, r=run_agent: r(t, backup="expected", explorer="optimistic"),  # type: ignore[misc]
            lambda t=task, r=run_agent: r(t),  # type: ignore[misc]
            rounds=5,
        )
        note = f"{episodes} x {steps} steps; costs {ours / other:.1f} plain ones"
        taken = episodes * steps
        yield Measurement(f"expected, optimistic on {name} / plain", ours / taken, other / taken, note)


def scale() -> Iterator[Measurement]:
    """The first steps of a run on larger four-room maps against literal NumPy, of which few steps are timed."""
    for size, timed in LITERAL_STEPS.items():
        world = four_rooms(size)
        trip = _trip(world, 1, FIRST_STEPS)
        agent = _agent(world)
        task = Task(world)
        ours = seconds(lambda a=agent, t=task: discard(run(t, a, episodes=1, steps=FIRST_STEPS, seed=0)))  # type: ignore[misc]
        # Allocating F is not part of a step: the time of a run without steps is subtracted.
        other = seconds(_literal(world, trip, timed)) - seconds(_literal(world, trip, 0))
        note = f"first {FIRST_STEPS:,}; literal: {timed}, extrapolated"
        name = f"{world.n_states:,} states / literal NumPy"
        yield Measurement(name, ours / FIRST_STEPS, other / timed, note)


def growth() -> Iterator[Measurement]:
    """The time of a step as the map grows, against the random agent's on the same map."""
    for size in GROWTH:
        task = Task(four_rooms(size))
        run(task, _agent(task.world), episodes=1, steps=1, seed=0)

        def run_agent(name: str, task: Task = task) -> None:
            run(task, _agent(task.world, name), episodes=1, steps=FIRST_STEPS, seed=0)

        ours, other = alternate(lambda r=run_agent: r("fwrl"), lambda r=run_agent: r("random"), rounds=1)  # type: ignore[misc]
        name = f"{task.world.n_states:,} states / random agent"
        yield Measurement(name, ours / FIRST_STEPS, other / FIRST_STEPS, f"first {FIRST_STEPS:,} steps")


SUITE: dict[str, Callable[[], Iterator[Measurement]]] = {
    "step": step,
    "beyond": beyond,
    "scale": scale,
    "growth": growth,
    "goals": goals,
    "online": online,
    "memory": memory,
    "fit": ingestion,
    "merge": merging,
    "plan": routes,
    "matrix": matrices,
    "uncertainty": uncertainty,
    "scale-model": scale_model,
}


def run_suite(
    only: list[str] | None = None, begun: Callable[[str], None] = discard
) -> Iterator[tuple[str, Measurement]]:
    """Yield the measurements of the parts in `only`, or of all, one by one.

    `begun` is called before each part and after each measurement, with what to show as progress.
    """
    parts = list(only or SUITE)
    for part in parts:
        if part not in SUITE:
            raise unknown_name("part of the suite", part, SUITE)
    if "plan" in parts and find_spec("networkx") is None:
        raise FwrlError("the part 'plan' of the suite needs networkx; install it with: pip install networkx")
    for number, part in enumerate(parts, 1):
        name = f"{part} ({number} of {len(parts)})"
        begun(name)
        for done, measurement in enumerate(SUITE[part](), 1):
            yield part, measurement
            begun(f"{name}, {done} measured: {measurement.name}")
