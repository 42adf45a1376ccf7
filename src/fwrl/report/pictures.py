"""The report's pictures, each drawn from the store by one function."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent
from fwrl.experiment.catalogue import (
    FOUR_ROOMS,
    FWRL,
    FWRL_EXACT,
    H_MAZE,
    PLAYER,
    QLCAT,
    VISUAL_ABSTRACT,
    WINDY,
)
from fwrl.experiment.spec import Experiment
from fwrl.experiment.trial import seeded_agent
from fwrl.figures import (
    Belief,
    Curve,
    Frame,
    Panel,
    Scene,
    belief,
    h_maze,
    h_maze_animation,
    intuition,
    results,
    reward_curves,
    save,
    world_map,
)
from fwrl.metrics import bootstrap_curve, iqm
from fwrl.report.evidence import Evidence, best_path
from fwrl.worlds import load_world

SEED = 0  # of the runs shown as trajectories


class Picture(NamedTuple):
    """A picture on disk: its files and what it shows."""

    name: str
    caption: str
    files: tuple[Path, ...]


def draw_pictures(evidence: Evidence, folder: Path) -> Iterator[Picture]:
    """Draw every picture whose experiment has been run, into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for experiment, draw in PICTURES:
        if evidence.has(experiment):
            yield draw(evidence, folder)


def draw_intuition(evidence: Evidence, folder: Path) -> Picture:
    """The visual abstract, from a real run."""
    world = load_world(VISUAL_ABSTRACT.world)
    first, second, third = (_states(evidence, VISUAL_ABSTRACT, FWRL_EXACT.label, n) for n in range(3))
    shared = next(s for s in second if s in set(first))
    caption = "Two trips were made. They share a state, so FWRL knows a third that nobody made."
    figure = intuition(world, first, second, third, shared, caption)
    return _saved(figure, folder, "intuition", caption)


def draw_worlds(evidence: Evidence, folder: Path) -> Picture:
    """The two worlds."""
    figure = world_map([load_world(e.world) for e in (FOUR_ROOMS, WINDY)])
    caption = (
        "Four rooms, and windy four rooms: on leaving a cell with an arrow, the wind adds one move in its direction "
        "with probability 0.25."
    )
    return _saved(figure, folder, "worlds", caption)


def draw_results(experiment: Experiment) -> Callable[[Evidence, Path], Picture]:
    """Both metrics of every agent."""

    def draw(evidence: Evidence, folder: Path) -> Picture:
        labels = [agent.label for agent in experiment.agents]
        reward = {label: evidence.reward(experiment, label) for label in labels}
        detours = {label: evidence.inefficiency(experiment, label) for label in labels}
        seeds = evidence.seeds(experiment)
        caption = f"{experiment.title}: {experiment.episodes} episodes of {experiment.steps} steps, {seeds} seeds."
        figure = results(experiment.title, reward, detours, seeds)
        return _saved(figure, folder, f"results-{experiment.id}", caption)

    return draw


def draw_curves(experiment: Experiment) -> Callable[[Evidence, Path], Picture]:
    """Reward over episodes, with intervals."""

    def draw(evidence: Evidence, folder: Path) -> Picture:
        curves = {}
        for agent in experiment.agents:
            if agent != PLAYER:
                reward = evidence.reward(experiment, agent.label)
                curves[agent.label] = Curve(iqm(reward, axis=0), *bootstrap_curve(reward, iqm, resamples=500))
        oracle = iqm(evidence.reward(experiment, PLAYER.label), axis=0)
        note = f"interquartile mean and its 95 % bootstrap interval over {evidence.seeds(experiment)} seeds"
        figure = reward_curves(experiment.title, curves, note, oracle=oracle)
        caption = f"{experiment.title}: reward curves, {note}."
        return _saved(figure, folder, f"curves-{experiment.id}", caption)

    return draw


def draw_h_maze(evidence: Evidence, folder: Path) -> Picture:
    """The qualitative figure: values and trajectories in the H-maze."""
    world = load_world(H_MAZE.world)
    rows = []
    for spec in (QLCAT, FWRL):
        agent = seeded_agent(H_MAZE, spec, SEED)
        row = []
        for n, stage in enumerate(H_MAZE.stages):
            goal = world.state_at(*stage.goal)
            for _ in _replayed(evidence, agent, spec.label, n, goal):
                pass
            name = f"training {n + 1}" if stage.learn else "test"
            states = _states(evidence, H_MAZE, spec.label, n)
            start = world.state_at(*stage.start)
            row.append(Panel(f"{spec.label}, {name}", agent.values(goal), np.array(states), start, goal))
        rows.append(row)
    caption = (
        "H-maze: the value of every cell after each episode, and the way taken. In the test the goal is that of the "
        f"first training, the start that of the second (seed {SEED})."
    )
    return _saved(h_maze(world, rows), folder, "h-maze", caption)


def draw_animation(evidence: Evidence, folder: Path) -> Picture:
    """The same as a film of the learning."""
    world = load_world(H_MAZE.world)
    agents = {spec.label: seeded_agent(H_MAZE, spec, SEED) for spec in (QLCAT, FWRL)}
    frames: list[Frame] = []
    for n, stage in enumerate(H_MAZE.stages):
        goal = world.state_at(*stage.goal)
        name = f"training {n + 1}" if stage.learn else "test"
        films = {
            label: [(s, agent.values(goal)) for s in _replayed(evidence, agent, label, n, goal)]
            for label, agent in agents.items()
        }
        for k in _moments(max(len(film) for film in films.values())):
            scenes = []
            for label, film in films.items():
                state, values = film[min(k, len(film) - 1)]
                note = f"step {k}" if k < len(film) - 1 else f"{len(film) - 1} steps"
                scenes.append(Scene(label, values, state, world.state_at(*stage.start), goal, note))
            frames.append(Frame(name, tuple(scenes)))
    path = folder / "h-maze.gif"
    h_maze_animation(world, frames, path)
    return Picture("h-maze-film", "The same as a film: values appear as the agents learn.", (path,))


def draw_belief(experiment: Experiment) -> Callable[[Evidence, Path], Picture]:
    """What agents promise, and what they get; those whose values promise nothing are left out."""

    def draw(evidence: Evidence, folder: Path) -> Picture:
        pairs = {
            label: Belief(evidence.audited(experiment, label, "believed"), evidence.audited(experiment, label, "value"))
            for label in experiment.audit
        }
        rows = {label: pair for label, pair in pairs.items() if np.isfinite(pair.believed).any()}
        caption = (
            f"{experiment.title} after the last episode: path cost in steps' worth, mean over all pairs, that an agent "
            "believes in and that its greedy policy really pays (exact). FWRL's maximum books luck as certain."
        )
        title = f"Believed and true path costs: {experiment.title}"
        return _saved(belief(title, rows, best_path(experiment.world)), folder, f"belief-{experiment.id}", caption)

    return draw


PICTURES: tuple[tuple[Experiment, Callable[[Evidence, Path], Picture]], ...] = (
    (VISUAL_ABSTRACT, draw_intuition),
    (WINDY, draw_worlds),
    (FOUR_ROOMS, draw_results(FOUR_ROOMS)),
    (FOUR_ROOMS, draw_curves(FOUR_ROOMS)),
    (WINDY, draw_results(WINDY)),
    (WINDY, draw_curves(WINDY)),
    (H_MAZE, draw_h_maze),
    (H_MAZE, draw_animation),
    (WINDY, draw_belief(WINDY)),
)


def _saved(figure: object, folder: Path, name: str, caption: str) -> Picture:
    # Worlds may be named by a path or by gymnasium:ID.
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-")
    return Picture(plain, caption, tuple(save(figure, folder, plain)))  # type: ignore[arg-type]


def _states(evidence: Evidence, experiment: Experiment, label: str, episode: int) -> list[int]:
    """The states of a trip, the last one included, the arriving step left out."""
    steps = [s for s in evidence.store.steps(experiment.id, label, SEED, episode) if not s[4]]
    return [steps[0][0], *(step[3] for step in steps)] if steps else []


def _replayed(evidence: Evidence, agent: Agent, label: str, episode: int, goal: int) -> Iterator[int]:
    """Let `agent` live through a stored episode again: its state after every step."""
    agent.begin_episode(goal)
    learns = H_MAZE.stages[episode].learn
    for n, (state, action, reward, next_state, arrived) in enumerate(
        evidence.store.steps(H_MAZE.id, label, SEED, episode)
    ):
        if n == 0:
            yield state
        if learns:
            agent.observe(state, action, reward, next_state, bool(arrived))
        yield state if arrived else next_state


def _moments(length: int, most: int = 36) -> NDArray[np.int64]:
    """Which steps of an episode to show: the first ones all, later ones thinned out."""
    if length <= most:
        return np.arange(length)
    return np.unique(np.append(np.geomspace(1, length, most).astype(np.int64) - 1, length - 1))
