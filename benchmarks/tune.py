"""`python -m benchmarks.tune`: grid search for the baselines' settings, on seeds that are used for nothing else.

Every combination of a baseline's grid runs in each tuning world. Its score is the mean over worlds of its share of the
oracle's reward. The best combination is the baseline's setting in `fwrl compare`, which reads it from
src/fwrl/experiment/tuned.json.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from benchmarks.running import run_command
from fwrl.cli.output_paths import check_file
from fwrl.cli.workers import Cluster, Workers, chosen_pool
from fwrl.errors import unknown_name
from fwrl.experiment.reference import reference
from fwrl.experiment.spec import AgentSpec, Experiment
from fwrl.experiment.store import versions
from fwrl.experiment.trial import run_trial
from fwrl.files import replaced
from fwrl.metrics import share_of_oracle
from fwrl.pool import Pool, PoolError, finished

FIRST_SEED = 1_000_000  # the seeds of comparisons start at 0
WORLDS = ("four-rooms", "windy-four-rooms", "muddy-rooms")
EPISODES, STEPS = 50, 1000  # as in a comparison: the best settings early in learning need not be the best later

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
    "trl": {
        "learning_rate": (0.25, 1.0),
        "expectile": (0.7, 0.9, 1.0),
        "discount": (0.8, 0.9),
        "replays": (100, 300, 1000),
    },
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
    agents: Annotated[list[str] | None, typer.Argument(help="Baselines to tune. Default: all.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds for every combination.")] = 5,
    workers: Workers = None,
    cluster: Cluster = None,
    out: Annotated[Path | None, typer.Option(help="The file to write the best settings to, as JSON.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Score every combination of each baseline's options on seeds that no comparison uses, and print them, best first.

    With --out, finished scores are kept next to that file: after an interruption, the same command continues.
    """
    for name in agents or ():
        if name not in GRIDS:
            raise unknown_name("agent to tune", name, GRIDS)
    if out is not None:
        check_file(out)
    kept = None if out is None else out.with_name(f"{out.name}.scores")
    with chosen_pool(workers, cluster) as pool:
        found = search(agents or list(GRIDS), seeds, pool, kept)
    if out is not None and kept is not None:
        record(found, out, seeds)
        kept.unlink()
    if as_json:
        typer.echo(json.dumps([candidate._asdict() for candidate in found], indent=2))
    else:
        _print(found)


def search(agents: Sequence[str], seeds: int, pool: Pool, kept: Path | None) -> list[Candidate]:
    """Every combination of every agent's grid with its score, sorted by agent and then by score, best first.

    Scores are appended to the file `kept`, and those that are in it already are used.
    """
    settings = [Setting(name, options, seeds) for name in agents for options in combinations(GRIDS[name])]
    known = _read(kept)
    scores = {n: known[key] for n, setting in enumerate(settings) if (key := _key(setting)) in known}
    queue = iter([(n, setting) for n, setting in enumerate(settings) if n not in scores])
    columns = (TextColumn("tuning"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description},"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        line = bar.add_task(pool.name, total=len(settings), completed=len(scores))
        try:
            for (n, setting), found in finished(pool, _numbered_score, lambda: next(queue, None), named=_named):
                scores[n] = found
                if kept is not None:
                    with kept.open("a", encoding="utf-8") as file:
                        file.write(json.dumps([_key(setting), found]) + "\n")
                bar.update(line, completed=len(scores), description=f"{pool.workers()} {pool.name}")
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


def _read(kept: Path | None) -> dict[str, float]:
    """The scores of an earlier run of the same command, by what determines them; a line cut off is left out."""
    if kept is None or not kept.is_file():
        return {}
    lines = kept.read_text(encoding="utf-8").splitlines(keepends=True)
    return dict(json.loads(line) for line in lines if line.endswith("\n"))


def _print(found: Sequence[Candidate]) -> None:
    table = Table(title="Best settings first", title_justify="left", box=None, pad_edge=False)
    table.add_column("agent", style="bold")
    table.add_column("share of oracle", justify="right")
    table.add_column("options")
    for candidate in found:
        options = ", ".join(f"{name}={value}" for name, value in candidate.options.items())
        table.add_row(candidate.agent, f"{candidate.score:.4f}", options)
    Console(highlight=False).print(table)


if __name__ == "__main__":
    from benchmarks.tune import tune as imported  # workers find what they run by the name of its module

    run_command(imported)
