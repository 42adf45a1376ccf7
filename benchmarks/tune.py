"""Grid search for the rivals' settings, on seeds that are used for nothing else.

Every combination of a rival's grid runs in each tuning world. Its score is the mean over worlds of its share of the
oracle's reward. The best combination is the rival's setting in a league.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fwrl.errors import OptionError, unknown_name
from fwrl.experiment.reference import reference
from fwrl.experiment.spec import AgentSpec, Experiment
from fwrl.experiment.store import versions
from fwrl.experiment.trial import run_trial
from fwrl.files import Partials, replaced
from fwrl.metrics import share_of_oracle
from fwrl.pool import Pool, PoolError, finished, process_pool

FIRST_SEED = 1_000_000  # the seeds of leagues start at 0
WORLDS = ("four-rooms", "windy-four-rooms", "muddy-rooms")
EPISODES, STEPS = 50, 1000  # as in a league: the best settings early in learning need not be the best later

RATES = (0.25, 0.5, 1.0)
GRIDS: Mapping[str, Mapping[str, Sequence[Any]]] = {
    "ql": {"learning_rate": RATES, "initial_value": (-1.0, 0.0, 1.0, 10.0)},
    "qlcat": {"learning_rate": RATES, "initial_value": (-1.0, 0.0, 1.0, 10.0)},
    "mbrl": {"explorer": ("epsilon-greedy", "optimistic")},
    "dg": {"learning_rate": RATES, "relaxation": (True, False), "initial_steps": (0.0, 30.0, 100.0, 1000.0)},
    "agql": {"learning_rate": RATES, "initial_value": (0.0, -0.01), "replays": (30, 100, 300)},
    "her": {"learning_rate": RATES, "initial_value": (-1.0, 0.0, 1.0), "k": (4, 8, 16), "replays": (3, 10, 30)},
    "rmax": {"known_after": (1, 2, 5, 10)},
    "uvfa": {"training": ("end-to-end", "two-stage"), "learning_rate": (0.25, 0.5), "initial_value": (0.0, 0.5)},
    "tdm": {"learning_rate": (0.25, 1.0), "horizon": (8, 16), "replays": (0, 3)},
    "sweeping": {"explorer": ("epsilon-greedy", "optimistic"), "backups": (5, 20, 50, 200)},
}


class Candidate(NamedTuple):
    """One combination of options, and the share of the oracle's reward it earned."""

    agent: str
    options: dict[str, Any]
    score: float


class Setting(NamedTuple):
    """One combination of options to score, and the number of seeds."""

    agent: str
    options: dict[str, Any]
    seeds: int


def tune(
    agents: Sequence[str],
    seeds: int = 5,
    workers: int = 1,
    watch: Callable[[int, int, int], None] = lambda *_: None,
    *,
    pool: Pool | None = None,
    kept: Partials | None = None,
) -> list[Candidate]:
    """Every combination of every agent's grid with its score, sorted by agent and then by score, best first.

    They are scored in `pool`, by default in as many processes as there are `workers`. Scores are kept in `kept`, and
    those that are there already are used. `watch` is called after each combination with the numbers done, in all, and
    of workers.
    """
    for name in agents:
        if name not in GRIDS:
            raise unknown_name("agent to tune", name, GRIDS)
    if seeds < 1:
        raise OptionError(f"expected at least one seed, got {seeds}")
    settings = [Setting(name, options, seeds) for name in agents for options in combinations(GRIDS[name])]
    scores = {n: known for n, setting in enumerate(settings) if (known := _known(setting, kept)) is not None}
    todo = [(n, setting) for n, setting in enumerate(settings) if n not in scores]
    with contextlib.nullcontext(pool) if pool else process_pool(workers) as chosen:
        watch(len(scores), len(settings), chosen.workers())
        try:
            queue = iter(todo)
            for (n, setting), found in finished(chosen, _numbered_score, lambda: next(queue, None), named=_named):
                scores[n] = found
                if kept is not None:
                    kept.write(_key(setting), json.dumps(found).encode())
                watch(len(scores), len(settings), chosen.workers())
        except PoolError as error:
            again = "finished scores are kept, and the same command continues" if kept else "run the command again"
            raise PoolError(f"{error}; {again}") from error
    order = {name: n for n, name in enumerate(agents)}
    candidates = [Candidate(setting.agent, setting.options, scores[n]) for n, setting in enumerate(settings)]
    return sorted(candidates, key=lambda c: (order[c.agent], -c.score))


def combinations(grid: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Every choice of one value for each option.

    >>> [*combinations({"a": (1, 2), "b": (3,)})]
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    """
    for values in itertools.product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def score(setting: Setting) -> float:
    """The score of a setting: the mean over worlds of its share of the oracle's reward."""
    shares = []
    spec = AgentSpec("candidate", setting.agent, setting.options)
    for world in WORLDS:
        experiment = Experiment("tuning", world, world, (spec,), episodes=EPISODES, steps=STEPS)
        runs = [run_trial(experiment, spec.label, FIRST_SEED + seed).result for seed in range(setting.seeds)]
        goals = np.array([run.goal for run in runs])
        shares.append(share_of_oracle([run.reward for run in runs], reference(experiment, goals).oracle))
    return float(np.mean(shares))


def record(found: Sequence[Candidate], path: Path, seeds: int) -> None:
    """Write the best options of each agent, and how they were found, as JSON."""
    best: dict[str, Candidate] = {}
    for candidate in found:
        best.setdefault(candidate.agent, candidate)
    page = {
        "worlds": list(WORLDS),
        "episodes": EPISODES,
        "steps": STEPS,
        "seeds": [FIRST_SEED, FIRST_SEED + seeds - 1],
        "agents": {
            name: {
                "options": candidate.options,
                "share_of_oracle": round(candidate.score, 4),
                "tried": sum(c.agent == name for c in found),
            }
            for name, candidate in best.items()
        },
    }
    with replaced(path) as draft:
        draft.write_text(json.dumps(page, indent=2) + "\n", encoding="utf-8")


def _numbered_score(task: tuple[int, Setting]) -> float:
    return score(task[1])


def _named(task: tuple[int, Setting]) -> str:
    return f"{task[1].agent!r} with {task[1].options}"


def _key(setting: Setting) -> str:
    """All that determines a score."""
    return json.dumps([versions(), WORLDS, EPISODES, STEPS, *setting], sort_keys=True)


def _known(setting: Setting, kept: Partials | None) -> float | None:
    """The score of an earlier run of the same command; None where there is none."""
    if kept is None or not (path := kept.path(_key(setting))).is_file():
        return None
    return float(json.loads(path.read_bytes()))
