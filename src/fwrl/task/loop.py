"""The compiled loop: steps of an episode of the paper's protocol, for any agent.

An episode may be run whole or in slices, each going on where the last one stopped. `rollout` in the module beside this
one is the same loop in Python; tests hold all of them to the same trajectory, bit for bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.verbs import LEARNED, Loop, act, observe
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.sampling import one_of
from fwrl.task.task import Setup, Streams
from fwrl.worlds.world import OutcomeTables

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Place(NamedTuple):
    """Where an unfinished episode stands."""

    state: Ints  # (1,)
    trip: Floats  # (2,) distance travelled since the trip began, shortest distance it could take


class Record(NamedTuple):
    """What a slice of an episode writes down: visits always, steps where there is room for them."""

    totals: Floats  # (1,) reward
    visit_distance: Floats  # (T,) travelled on each completed trip
    visit_shortest: Floats  # (T,) shortest distance of each
    state: Ints  # (T,) or empty
    action: Ints
    reward: Floats
    next_state: Ints
    arrived: NDArray[np.bool_]


def blank_record(steps: int, trace: bool) -> Record:
    """Room for `steps` steps."""
    T = steps if trace else 0
    ints = [np.zeros(T, np.int64) for _ in range(3)]
    return Record(
        np.zeros(1),
        np.zeros(steps),
        np.zeros(steps),
        ints[0],
        ints[1],
        np.zeros(T),
        ints[2],
        np.zeros(T, np.bool_),
    )


@compiled
def draw_outcome(world: OutcomeTables, pair: int, dynamics: np.random.Generator) -> int:
    """Which of the outcomes of `pair` happens; a certain one draws nothing."""
    o = world.first[pair]
    last = world.first[pair + 1] - 1
    if o < last:
        u = dynamics.random()
        while o < last and u >= world.cumulative[o]:
            o += 1
    return int(o)


@compiled
def draw_start(setup: Setup, starts: np.random.Generator) -> int:
    """Where the next trip begins."""
    return int(setup.starts[one_of(len(setup.starts), starts)])


def begin_trip(setup: Setup, s: int) -> Place:
    """A trip from `s`, not a step of it taken."""
    return Place(np.array([s], np.int64), np.array([0.0, setup.to_goal[s]]))


def _run_steps(
    world: OutcomeTables,
    setup: Setup,
    agent: Any,
    rng: np.random.Generator,
    streams: Streams,
    place: Place,
    steps: int,
    goal_reward: float,
    respawn: bool,
    learn: bool,
    record: Record,
) -> tuple[int, int, int]:
    """Take `steps` steps on from `place`; (steps taken, visits, LEARNED or what `observe` said of the last step)."""
    A = (len(world.first) - 1) // len(setup.arrives)
    s = place.state[0]
    travelled = place.trip[0]
    shortest = place.trip[1]
    visits = 0
    taken = 0
    verdict = LEARNED
    while taken < steps:
        a = act(agent, s, rng)
        arrived = setup.arrives[s]
        if arrived:
            r = goal_reward
            next_s = draw_start(setup, streams[0]) if respawn else s
        else:
            o = draw_outcome(world, s * A + a, streams[1])
            r = world.reward[o]
            next_s = world.next_state[o]
            travelled += world.length[o]
        record.totals[0] += r
        if len(record.state) > 0:
            record.state[taken] = s
            record.action[taken] = a
            record.reward[taken] = r
            record.next_state[taken] = next_s
            record.arrived[taken] = arrived
        taken += 1
        if learn:
            verdict = observe(agent, s, a, r, next_s, arrived)
            if verdict != LEARNED:
                break
        if arrived:
            record.visit_distance[visits] = travelled
            record.visit_shortest[visits] = shortest
            visits += 1
            if not respawn:
                break
            travelled = 0.0
            shortest = setup.to_goal[next_s]
        s = next_s
    place.state[0] = s
    place.trip[0] = travelled
    place.trip[1] = shortest
    return taken, visits, verdict


run_steps = Loop(_run_steps)
