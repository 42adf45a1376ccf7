"""The paper's protocol as a compiled loop, for any agent.

You can run an episode whole or in slices that continue each other. `task.rollout` is the same loop in Python; tests
compare their trajectories bit for bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent
from fwrl.agents.loops import LEARNED, PENDING, POSITIVE_CYCLE, Loop, act, observe
from fwrl.arrays import Floats, Ints
from fwrl.errors import PositiveCycleError
from fwrl.kernels.jit import compiled
from fwrl.kernels.rng import one_of
from fwrl.task.task import Setup, Streams, Task
from fwrl.worlds.outcomes import OutcomeTables

TRAVELLED, SHORTEST = 0, 1  # positions in `Place.trip`
REWARD = 0  # position in `Record.totals`


class Place(NamedTuple):
    """The position in an unfinished episode."""

    state: Ints  # (1,)
    trip: Floats  # (2,) current trip: distance travelled at TRAVELLED, its shortest distance at SHORTEST


class Record(NamedTuple):
    """The record of a slice of an episode: visits always, steps only if the arrays have room for them."""

    totals: Floats  # (1,) summed reward at REWARD
    visit_distance: Floats  # (T,) travelled on each completed trip
    visit_shortest: Floats  # (T,) shortest distance of each
    state: Ints  # (T,) or empty
    action: Ints
    reward: Floats
    next_state: Ints
    arrived: NDArray[np.bool_]


def blank_record(steps: int, trace: bool) -> Record:
    """Make an empty record for up to `steps` steps; `trace` to record each of them."""
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
    """Draw one of the outcomes of `pair`; a certain outcome uses no random number."""
    o = world.first[pair]
    last = world.first[pair + 1] - 1
    if o < last:
        u = dynamics.random()
        while o < last and u >= world.cumulative[o]:
            o += 1
    return int(o)


@compiled
def draw_start(setup: Setup, starts: np.random.Generator) -> int:
    """Draw the start of a trip."""
    return int(setup.starts[one_of(len(setup.starts), starts)])


def first_start(setup: Setup, starts: np.random.Generator) -> int:
    """Draw the start of a trip, for callers in Python."""
    return int(setup.starts[int(starts.random() * len(setup.starts))])


def begin_trip(setup: Setup, s: int) -> Place:
    """Return the position at the start of a trip from `s`."""
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
    """Take up to `steps` steps from `place`; return steps taken, visits, and the last result of `observe`."""
    A = (len(world.first) - 1) // len(setup.arrives)
    s = place.state[0]
    travelled = place.trip[TRAVELLED]
    shortest = place.trip[SHORTEST]
    visits = 0
    taken = 0
    status = LEARNED
    while taken < steps:
        a = act(agent, s, rng)
        arrived = setup.arrives[s]
        if arrived:
            r = goal_reward
            next_s = draw_start(setup, streams.starts) if respawn else s
        else:
            o = draw_outcome(world, s * A + a, streams.dynamics)
            r = world.reward[o]
            next_s = world.next_state[o]
            travelled += world.length[o]
        record.totals[REWARD] += r
        if len(record.state) > 0:
            record.state[taken] = s
            record.action[taken] = a
            record.reward[taken] = r
            record.next_state[taken] = next_s
            record.arrived[taken] = arrived
        taken += 1
        if learn:
            status = observe(agent, s, a, r, next_s, arrived)
            if status == POSITIVE_CYCLE:
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
        if status == PENDING:
            break
    place.state[0] = s
    place.trip[TRAVELLED] = travelled
    place.trip[SHORTEST] = shortest
    return taken, visits, status


run_steps = Loop(_run_steps)


def advance(
    task: Task, setup: Setup, agent: Agent, streams: Streams, place: Place, steps: int, learn: bool, record: Record
) -> tuple[int, int]:
    """Take up to `steps` steps from `place`, in slices if the agent must process pending updates in between.

    Returns:
        Steps taken and visits; fewer steps only if the episode has ended.
    """
    loop, world = run_steps.of(agent.verbs), task.world
    agent.reserve(steps)
    taken, visits, status = 0, 0, PENDING
    while status == PENDING or (status == LEARNED and taken < steps):
        agent.flush()
        rest = record if taken == 0 else _rest(record, taken, visits)
        more, reached, status = loop(
            world.tables,
            setup,
            agent.tables,
            agent.rng,
            streams,
            place,
            steps - taken,
            task.goal_reward,
            task.respawn,
            learn,
            rest,
        )
        taken, visits = taken + more, visits + reached
        if visits and not task.respawn:
            break
    if status == POSITIVE_CYCLE:
        raise PositiveCycleError(
            f"the world {world.name!r} has a positive cycle, so its values grow without bound; choose another world"
        )
    return taken, visits


def _rest(record: Record, taken: int, visits: int) -> Record:
    """Return the rest of a record, after `taken` steps and `visits` visits."""
    part = {name: getattr(record, name)[taken:] for name in ("state", "action", "reward", "next_state", "arrived")}
    trips = {name: getattr(record, name)[visits:] for name in ("visit_distance", "visit_shortest")}
    return record._replace(**part, **trips)
