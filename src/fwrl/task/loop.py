"""The compiled loop: one episode of the paper's protocol, for any agent.

`walk` in the module beside this one is the same loop in Python; a test holds the two to the same trajectory, bit
for bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.verbs import LEARNED, Loop, act, observe
from fwrl.kernels.chance import one_of
from fwrl.kernels.compiled import compiled
from fwrl.task.task import Setup, Streams
from fwrl.worlds.world import OutcomeTables

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Record(NamedTuple):
    """What an episode writes down: visits always, steps where there is room for them."""

    totals: Floats  # (1,) reward
    visit_distance: Floats  # (T,) travelled on each completed trip
    visit_shortest: Floats  # (T,) shortest distance of each
    state: Ints  # (T,) or empty
    action: Ints
    reward: Floats
    next_state: Ints
    arrived: NDArray[np.bool_]


def blank_record(steps: int, trace: bool) -> Record:
    """Room for an episode of `steps` steps."""
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


def _run_episode(
    world: OutcomeTables,
    setup: Setup,
    agent: Any,
    rng: np.random.Generator,
    streams: Streams,
    steps: int,
    goal_reward: float,
    respawn: bool,
    learn: bool,
    record: Record,
) -> tuple[int, int, int]:
    """Run one episode; (steps taken, visits, LEARNED or what `observe` said of the last step)."""
    A = (len(world.first) - 1) // len(setup.arrives)
    s = draw_start(setup, streams[0])
    shortest = setup.to_goal[s]
    travelled = 0.0
    visits = 0
    for t in range(steps):
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
            record.state[t] = s
            record.action[t] = a
            record.reward[t] = r
            record.next_state[t] = next_s
            record.arrived[t] = arrived
        if learn:
            verdict = observe(agent, s, a, r, next_s, arrived)
            if verdict != LEARNED:
                return t + 1, visits, verdict
        if arrived:
            record.visit_distance[visits] = travelled
            record.visit_shortest[visits] = shortest
            visits += 1
            if not respawn:
                return t + 1, visits, LEARNED
            travelled = 0.0
            shortest = setup.to_goal[next_s]
        s = next_s
    return steps, visits, LEARNED


run_episode = Loop(_run_episode)
