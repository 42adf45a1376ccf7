"""A trial: one run of one agent with one seed, the unit of the store."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from fwrl.agents.agent import Agent
from fwrl.experiment.audit import Audit, audit
from fwrl.experiment.spec import ORACLE, AgentSpec, Experiment, Stage
from fwrl.task import Result, Task, Trajectory, run
from fwrl.task.agent_for_world import agent_for
from fwrl.task.oracle_player import OraclePlayer
from fwrl.worlds import World, load_world

AGENT_STREAM = 3  # the task uses the streams 0, 1 and 2


class Trial(NamedTuple):
    """The results of a run."""

    experiment: str
    agent: str
    seed: int
    result: Result
    audits: list[Audit]


def run_trial(experiment: Experiment, label: str, seed: int) -> Trial:
    """Run one agent of the experiment with one seed."""
    agent = seeded_agent(experiment, experiment.agent(label), seed)
    if experiment.stages:
        result = _joined([_play(experiment, agent, stage, seed) for stage in experiment.stages])
    else:
        result = run(
            _task(experiment.world),
            agent,
            episodes=experiment.episodes,
            steps=experiment.steps,
            seed=seed,
            goal=experiment.goal,
            start=experiment.start,
        )
    audited = label in experiment.audit and seed < experiment.audited_seeds
    audits = audit(agent, _world(experiment.world), experiment.goal, experiment.start) if audited else []
    return Trial(experiment.id, label, seed, result, audits)


def seeded_agent(experiment: Experiment, spec: AgentSpec, seed: int) -> Agent:
    """The agent of a run, before its first step."""
    world = _world(experiment.world)
    if spec.name == ORACLE:
        return _player(experiment.world, experiment.start)
    stream = np.random.SeedSequence(seed, spawn_key=(AGENT_STREAM,))
    return agent_for(world, spec.name, stream, **spec.options)


@functools.cache
def _world(name: str) -> World:
    return load_world(name)


@functools.cache
def _task(name: str) -> Task:
    return Task(_world(name))


@functools.cache
def _player(name: str, start: int | None) -> OraclePlayer:
    return OraclePlayer(_task(name), start)


def _play(experiment: Experiment, agent: Agent, stage: Stage, seed: int) -> Result:
    world = _world(experiment.world)
    start, goal = world.state_at(*stage.start), world.state_at(*stage.goal)
    task = Task(world, respawn=False)
    walker = agent if stage.walker == "agent" else OraclePlayer(task, start)
    result = run(
        task,
        walker,
        episodes=1,
        steps=stage.steps,
        seed=seed,
        goal=goal,
        start=start,
        learn=stage.learn,
        explore=stage.explore,
        trajectory=True,
    )
    if walker is not agent and result.trajectory is not None:
        watch(agent, goal, result.trajectory)
    return result


def watch(agent: Agent, goal: int, trip: Trajectory) -> None:
    """Show `agent` the steps of a trip that another agent made."""
    agent.begin_episode(goal)
    for step in zip(*(column.tolist() for column in trip[1:]), strict=True):
        agent.observe(*step)


def _joined(results: list[Result]) -> Result:
    """Join the stages of a script into one result, an episode per stage."""
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(result, name) for result in results])
        for name in Result.__dataclass_fields__
        if name != "trajectory"
    }
    trips = [result.trajectory for result in results if result.trajectory is not None]
    columns: list[Any] = [np.concatenate(column) for column in zip(*(trip[1:] for trip in trips), strict=True)]
    episode = np.repeat(np.arange(len(trips)), [len(trip.state) for trip in trips])
    return Result(**joined, trajectory=Trajectory(episode, *columns))
