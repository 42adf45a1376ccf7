"""The rivals' settings, chosen by a search on seeds that are used for nothing else.

Every combination of a rival's grid plays a few episodes in each tuning world; its score is the mean over worlds of its
share of the oracle's reward. The best combination is what the rival runs with in a league.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fwrl.errors import OptionError, unknown_name
from fwrl.experiment.runner import begin_work
from fwrl.experiment.spec import ORACLE, AgentSpec, Experiment
from fwrl.experiment.trial import run_trial
from fwrl.files import replaced

FIRST_SEED = 1_000_000  # leagues count seeds from 0
WORLDS = ("four-rooms", "windy-four-rooms", "muddy-rooms")
EPISODES, STEPS = 50, 1000  # as long as a league's: what is best early need not be best late

RATES = (0.25, 0.5, 1.0)
GRIDS: Mapping[str, Mapping[str, Sequence[Any]]] = {
    "ql": {"learning_rate": RATES, "initial_value": (-1.0, 0.0, 1.0, 10.0)},
    "qlcat": {"learning_rate": RATES, "initial_value": (-1.0, 0.0, 1.0, 10.0)},
    "mbrl": {"explorer": ("epsilon-greedy", "optimistic")},
    "dg": {"learning_rate": RATES, "relaxation": (True, False), "initial_steps": (0.0, 30.0, 100.0, 1000.0)},
    "agql": {"learning_rate": RATES, "initial_value": (0.0, -0.01), "replays": (30, 100, 300)},
    "her": {"learning_rate": RATES, "initial_value": (-1.0, 0.0, 1.0), "k": (4, 8, 16), "replays": (3, 10, 30)},
    "sweeping": {"explorer": ("epsilon-greedy", "optimistic"), "backups": (5, 20, 50, 200)},
}


class Candidate(NamedTuple):
    """One combination of options, and the share of the oracle's reward it earned."""

    agent: str
    options: dict[str, Any]
    score: float


class Search(NamedTuple):
    """What to try where."""

    agent: str
    options: dict[str, Any]
    seeds: int


def tune(
    agents: Sequence[str],
    seeds: int = 5,
    workers: int = 1,
    watch: Callable[[int, int], None] = lambda *_: None,
) -> list[Candidate]:
    """Every combination of every agent's grid with its score, the best of each agent first."""
    for name in agents:
        if name not in GRIDS:
            raise unknown_name("agent to tune", name, GRIDS)
    if seeds < 1:
        raise OptionError(f"expected at least one seed, got {seeds}")
    searches = [Search(name, options, seeds) for name in agents for options in combinations(GRIDS[name])]
    found = []
    for candidate in _carried_out(searches, workers):
        found.append(candidate)
        watch(len(found), len(searches))
    order = {name: n for n, name in enumerate(agents)}
    return sorted(found, key=lambda c: (order[c.agent], -c.score))


def combinations(grid: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Every choice of one value for each option.

    >>> [*combinations({"a": (1, 2), "b": (3,)})]
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    """
    for values in itertools.product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def score(search: Search) -> Candidate:
    """The mean over worlds of the share of the oracle's reward."""
    shares = []
    spec, player = AgentSpec("candidate", search.agent, search.options), AgentSpec(ORACLE, ORACLE)
    for world in WORLDS:
        experiment = Experiment("tuning", world, world, (spec, player), episodes=EPISODES, steps=STEPS)
        earned, possible = (
            sum(run_trial(experiment, label, FIRST_SEED + seed).result.reward.sum() for seed in range(search.seeds))
            for label in (spec.label, player.label)
        )
        shares.append(earned / possible)
    return Candidate(search.agent, search.options, float(np.mean(shares)))


def record(found: Sequence[Candidate], path: Path, seeds: int) -> None:
    """Write the best of each agent down, with how it was found."""
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


def _carried_out(searches: Sequence[Search], workers: int) -> Iterator[Candidate]:
    if workers == 1:
        yield from map(score, searches)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=begin_work) as pool:
        yield from pool.map(score, searches)
