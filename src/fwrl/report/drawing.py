"""The report's figures, each drawn from stored results by one function."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fwrl.arrays import Floats
from fwrl.experiment.catalogue import (
    FOUR_ROOMS,
    FWRL,
    FWRL_EXACT,
    H_MAZE,
    MBRL,
    MBRL_STRAIGHT,
    PLAYER,
    QLCAT,
    VISUAL_ABSTRACT,
    WINDY,
)
from fwrl.experiment.spec import Experiment, Stage
from fwrl.figures import (
    Figure,
    Panel,
    PredictionRow,
    RewardCurve,
    Strip,
    comparison_scores,
    forest,
    h_maze,
    intuition,
    prediction,
    results,
    reward_curves,
    save,
    world_map,
)
from fwrl.metrics import bootstrap_curve, box_plot, iqm, nanmedian
from fwrl.report.estimate import Estimate
from fwrl.report.stored_results import StoredResults

SEED = 0  # of the runs shown as trajectories
BASELINES = ("QL", QLCAT.label, MBRL_STRAIGHT.label, MBRL.label)


class CaptionedFigure(NamedTuple):
    """A figure on disk: its files and its caption."""

    name: str
    caption: str
    files: tuple[Path, ...]


Draw = Callable[[StoredResults, Path], CaptionedFigure]


def draw_figures(stored: StoredResults, folder: Path) -> Iterator[tuple[str, CaptionedFigure]]:
    """Draw every figure whose experiment has been run, with the run that it shows, into `folder`; by kind."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind, drawn in FIGURES.items():
        for experiment, draw in drawn:
            if stored.has_run(experiment, SEED) if draw in TRAJECTORIES else stored.has(experiment):
                yield kind, draw(stored, folder)


def draw_intuition(stored: StoredResults, folder: Path) -> CaptionedFigure:
    """The visual abstract, from a real run."""
    first, second, third = (_trip(stored, VISUAL_ABSTRACT, FWRL_EXACT.label, n) for n in range(3))
    shared = next(s for s in second if s in set(first))
    caption = "Two trips share a state, so FWRL joins them into a third that nobody has made."
    figure = intuition(stored.world(VISUAL_ABSTRACT.world), first, second, third, shared, caption)
    return _saved(figure, folder, "intuition", caption)


def draw_worlds(stored: StoredResults, folder: Path) -> CaptionedFigure:
    """The two worlds of the paper."""
    figure = world_map([stored.world(e.world) for e in (FOUR_ROOMS, WINDY)])
    caption = (
        "Four rooms, and windy four rooms: on leaving a cell with an arrow, the wind adds one move in its direction "
        "with probability 0.25."
    )
    return _saved(figure, folder, "worlds", caption)


def draw_results(experiment: Experiment) -> Draw:
    """Both metrics of every agent."""

    def strips(scores: dict[str, Floats]) -> dict[str, Strip]:
        return {label: Strip(values, box_plot(values)) for label, values in scores.items()}

    def draw(stored: StoredResults, folder: Path) -> CaptionedFigure:
        labels = [agent.label for agent in experiment.agents]
        reward = strips({label: stored.reward(experiment, label) for label in labels})
        inefficiency = strips({label: stored.inefficiency(experiment, label) for label in labels})
        seeds = stored.seeds(experiment)
        caption = f"{experiment.title}: {experiment.episodes} episodes of {experiment.steps} steps, {seeds} seeds."
        figure = results(experiment.title, reward, inefficiency, seeds)
        return _saved(figure, folder, f"results-{experiment.id}", caption)

    return draw


def draw_curves(experiment: Experiment) -> Draw:
    """Reward over episodes, with intervals."""

    def draw(stored: StoredResults, folder: Path) -> CaptionedFigure:
        curves = {}
        for agent in experiment.agents:
            if agent != PLAYER:
                reward = stored.reward(experiment, agent.label)
                curves[agent.label] = RewardCurve(iqm(reward, axis=0), *bootstrap_curve(reward, iqm, resamples=500))
        oracle = iqm(stored.reference(experiment).oracle, axis=0)
        note = f"interquartile mean and its 95 % bootstrap interval over {stored.seeds(experiment)} seeds"
        figure = reward_curves(experiment.title, curves, note, oracle=oracle)
        caption = f"{experiment.title}: reward curves, {note}."
        return _saved(figure, folder, f"curves-{experiment.id}", caption)

    return draw


def draw_regret(experiment: Experiment) -> Draw:
    """Regret over episodes, with intervals."""

    def draw(stored: StoredResults, folder: Path) -> CaptionedFigure:
        curves = {}
        for agent in experiment.agents:
            regret = stored.regret(experiment, agent.label)
            curves[agent.label] = RewardCurve(iqm(regret, axis=0), *bootstrap_curve(regret, iqm, resamples=500))
        note = f"interquartile mean and its 95 % bootstrap interval over {stored.seeds(experiment)} seeds"
        figure = reward_curves(
            experiment.title, curves, note, of="regret, episodes of the oracle's lead over random play"
        )
        caption = f"{experiment.title}: regret against the exact oracle, {note}."
        return _saved(figure, folder, f"regret-{experiment.id}", caption)

    return draw


def draw_forest(
    name: str, compare: Callable[[StoredResults, Experiment, str], Estimate], tie: float, of: str, digits: int = 2
) -> Draw:
    """FWRL against every baseline, in both worlds."""

    def draw(stored: StoredResults, folder: Path) -> CaptionedFigure:
        worlds = [experiment for experiment in (FOUR_ROOMS, WINDY) if stored.has(experiment)]
        effects = {e.title: {label: compare(stored, e, label) for label in BASELINES} for e in worlds}
        caption = (
            f"FWRL (Algorithm 1) against every baseline: {of}, with 95 % intervals over {stored.seeds(worlds[0])} "
            "seeds. Green: FWRL is better. Red: the baseline is. Grey: too close to call."
        )
        return _saved(forest(effects, tie, of, digits), folder, f"forest-{name}", caption)

    return draw


def draw_h_maze(stored: StoredResults, folder: Path) -> CaptionedFigure:
    """The qualitative figure: values and trajectories in the H-maze."""
    world = stored.world(H_MAZE.world)
    rows = []
    for label in (QLCAT.label, FWRL.label):
        row = []
        for n, (stage, moments) in enumerate(zip(H_MAZE.stages, stored.replayed(H_MAZE, label, SEED), strict=True)):
            start, goal = world.state_at(*stage.start), world.state_at(*stage.goal)
            trip = np.array(_trip(stored, H_MAZE, label, n))
            row.append(Panel(f"{label}, {_title(n, stage)}", moments[-1].values, trip, start, goal))
        rows.append(row)
    caption = (
        "H-maze: the value of every cell after each episode, and the path taken. The test has the goal of the first "
        f"training episode and the start of the second (seed {SEED})."
    )
    return _saved(h_maze(world, rows), folder, "h-maze", caption)


def draw_prediction(experiment: Experiment) -> Draw:
    """Predicted and true path costs of the agents whose values are path rewards."""

    def draw(stored: StoredResults, folder: Path) -> CaptionedFigure:
        rows = {label: _prediction_row(stored, experiment, label) for label in experiment.audit}
        rows = {label: row for label, row in rows.items() if np.isfinite(row.predicted).any()}
        caption = (
            f"{experiment.title} after the last episode: the path cost that an agent predicts and the exact cost of "
            "its greedy policy, in units of the cheapest step, mean over all pairs. FWRL's maximum treats the best "
            "observed outcome as certain."
        )
        title = f"Predicted and true path costs: {experiment.title}"
        figure = prediction(title, rows, stored.optimal_cost(experiment))
        return _saved(figure, folder, f"prediction-{experiment.id}", caption)

    return draw


def draw_comparison(scores: dict[str, dict[str, Estimate]], seeds: Sequence[int], folder: Path) -> CaptionedFigure:
    """The score of every agent in every world, into `folder`."""
    note = f"95 % bootstrap intervals over {' or '.join(map(str, seeds))} seeds"
    caption = f"Scores from random play, 0, to the exact oracle, 1; {note}."
    return _saved(comparison_scores(scores, note), folder, "comparison", caption)


FIGURES: dict[str, tuple[tuple[Experiment, Draw], ...]] = {
    "reward": (
        (
            FOUR_ROOMS,
            draw_forest(
                "reward", StoredResults.reward_gap, 0.0, "mean reward per episode, FWRL's minus the baseline's", 1
            ),
        ),
    ),
    "inefficiency": (
        (
            FOUR_ROOMS,
            draw_forest(
                "inefficiency",
                StoredResults.inefficiency_gap,
                0.0,
                "median distance-inefficiency, the baseline's minus FWRL's",
            ),
        ),
    ),
    "efficiency": (
        (
            FOUR_ROOMS,
            draw_forest(
                "efficiency",
                StoredResults.faster_learning,
                0.5,
                "probability that FWRL is first at 90 % of the way from random play to the oracle",
            ),
        ),
        (FOUR_ROOMS, draw_curves(FOUR_ROOMS)),
        (WINDY, draw_curves(WINDY)),
    ),
    "h-maze": ((H_MAZE, draw_h_maze),),
    "more": (
        (VISUAL_ABSTRACT, draw_intuition),
        (WINDY, draw_worlds),
        (FOUR_ROOMS, draw_results(FOUR_ROOMS)),
        (WINDY, draw_results(WINDY)),
        (WINDY, draw_prediction(WINDY)),
    ),
}
TRAJECTORIES = (draw_intuition, draw_h_maze)  # figures of the run with `SEED`


def _saved(figure: Figure, folder: Path, name: str, caption: str) -> CaptionedFigure:
    # World names may be paths or gymnasium:ID, which can't name files.
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-")
    return CaptionedFigure(plain, caption, tuple(save(figure, folder, plain)))


def _title(n: int, stage: Stage) -> str:
    return f"training {n + 1}" if stage.learn else "test"


def _trip(stored: StoredResults, experiment: Experiment, label: str, episode: int) -> list[int]:
    """The states of a trip from start to end; the step taken on the goal is left out."""
    steps = [s for s in stored.store.steps(experiment.id, label, SEED, episode) if not s[4]]
    return [steps[0][0], *(step[3] for step in steps)] if steps else []


def _prediction_row(stored: StoredResults, experiment: Experiment, label: str) -> PredictionRow:
    predicted, true = (stored.audited(experiment, label, column) for column in ("believed", "kept"))
    known = np.where(np.isfinite(predicted), predicted, np.nan)
    return PredictionRow(predicted, true, nanmedian(known), nanmedian(true), int(np.count_nonzero(~np.isfinite(true))))
