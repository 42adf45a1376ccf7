"""Measure everything that docs/write_numbers.py writes into README.md and docs/*.md.

    python docs/measure.py [RESULTS]

runs `fwrl reproduce`, comparisons, the speed suite, the model of costs for docs/scale.md, and measurements without a
command: values after random experience (docs/options.md), and what a second try is expected to gain
(docs/exploration.md). It takes some hours on two cores; commands that were interrupted continue.
"""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import write_numbers

import fwrl
from fwrl.experiment.audit import audit, greedy_policy
from fwrl.kernels.mdp.updates import surprise_rate
from fwrl.oracle import evaluate, optimum
from fwrl.worlds.goal_sampler import GoalSampler

ROOT = Path(__file__).resolve().parents[1]
NAMES = {"four-rooms": "four rooms", "windy-four-rooms": "windy four rooms", "risky-bridge": "risky bridge"}
RANDOM_SEEDS, RANDOM_RUN = 10, {"episodes": 20, "steps": 1000}
SURPRISE_SEEDS, SURPRISE_RUN = 20, {"episodes": 50, "steps": 1000}
BRIDGE = ("risky-bridge", (0, 0), (12, 0))  # world, start and goal of the one pair


def experienced(world: fwrl.World, backup: str, seed: int) -> fwrl.Agent:
    """FWRL with the experience of an agent that acts at random."""
    walker = fwrl.make_agent("random", world.n_states, world.n_actions, seed=seed)
    seen = fwrl.run(world, walker, **RANDOM_RUN, seed=seed, trajectory=True).trajectory
    assert seen is not None
    ordinary = ~seen.arrived
    agent = fwrl.make_agent("fwrl", world.n_states, world.n_actions, seed=seed, backup=backup)
    columns = (seen.state, seen.action, seen.reward, seen.next_state)
    agent.observe_many(*(column[ordinary] for column in columns))
    return agent


def cheapest_step(world: fwrl.World) -> float:
    """The reward of an ordinary step, the unit of costs."""
    rewards = world.tables.reward
    return float(rewards[rewards < 0].max())


def random_experience() -> Iterator[list[Any]]:
    """Rows of predicted, true and optimal costs in steps, over all pairs and for the ends of the bridge."""
    for name in ("windy-four-rooms", "risky-bridge"):
        world = fwrl.load_world(name)
        sampler = GoalSampler(world, threshold=0.0)
        best = np.mean([optimum(world, g).value[sampler.starts(g)].mean() for g in sampler.goals.tolist()])
        for backup in ("best", "expected"):
            agents = [experienced(world, backup, seed) for seed in range(RANDOM_SEEDS)]
            audits = [audit(agent, world) for agent in agents]
            believed, kept = (
                np.mean([[getattr(goal, column) for goal in found] for found in audits])
                for column in ("believed", "kept")
            )
            costs = [f"{value / cheapest_step(world):.2f}" for value in (believed, kept, best)]
            yield [NAMES[name], f"`{backup}`", *costs, *one_pair(name, world, agents)]


def one_pair(name: str, world: fwrl.World, agents: list[fwrl.Agent]) -> list[str]:
    """Predicted, true and optimal cost between the ends of the bridge, means over agents."""
    if name != BRIDGE[0]:
        return [""] * 3
    start, goal = (world.state_at(*position) for position in BRIDGE[1:])
    believed = np.mean([agent.value(start, goal) for agent in agents])
    true = np.mean([evaluate(world, greedy_policy(agent, goal), goal).value[start] for agent in agents])
    costs = (believed, true, optimum(world, goal).value[start])
    return [f"{cost / cheapest_step(world):.1f}" for cost in costs]


def surprise_rates() -> dict[str, float]:
    """By world, the mean over runs of beta: what a second try is expected to gain."""
    found = {}
    for name in (*NAMES, "riverswim-8"):
        world = fwrl.load_world(name)
        rates = []
        for seed in range(SURPRISE_SEEDS):
            options = {"backup": "expected", "explorer": "optimistic"}
            agent = fwrl.make_agent("fwrl", world.n_states, world.n_actions, seed=seed, **options)
            fwrl.run(world, agent, **SURPRISE_RUN, seed=seed)
            rates.append(surprise_rate(agent.tables.plan))
        found[NAMES.get(name, name)] = float(np.mean(rates))
    return found


INSTALLED = {  # parts of an install: the distributions that they consist of
    "kernels, agents, worlds, oracle": ("numpy", "numba", "llvmlite", "scipy"),
    "environments": ("gymnasium", "cloudpickle", "farama-notifications"),
    "figures": (
        "matplotlib",
        "contourpy",
        "cycler",
        "fonttools",
        "kiwisolver",
        "pillow",
        "pyparsing",
        "python-dateutil",
    ),
    "logs": ("duckdb",),
    "pages": ("starlette", "uvicorn", "websockets", "anyio", "h11"),
    "command line": ("typer", "rich", "click", "pygments"),
}
IMPORTED = (
    "import fwrl",
    "import fwrl; fwrl.run",
    "import fwrl; fwrl.Planner",
    "import matplotlib.figure",
    "import duckdb",
)


def install_sizes() -> dict[str, Any]:
    """Megabytes of each part of an install, and processor seconds of imports, the fastest of five."""
    sizes = {}
    for part, names in INSTALLED.items():
        paths = [file.locate() for name in names for file in importlib.metadata.distribution(name).files or ()]
        sizes[part] = sum(Path(str(path)).stat().st_size for path in paths if Path(str(path)).is_file()) / 1e6
    seconds = {code: min(_import_seconds(code) for _ in range(5)) for code in IMPORTED}
    return {"megabytes": sizes, "seconds": seconds}


def _import_seconds(code: str) -> float:
    """Processor seconds of a statement in a new interpreter, beyond what the interpreter itself takes."""
    timed = f"import time; begin = time.process_time(); {code}; print(time.process_time() - begin)"
    return float(subprocess.run([sys.executable, "-c", timed], check=True, capture_output=True, text=True).stdout)


def run_commands(folder: Path) -> None:
    """Run the commands and benchmarks whose results the pages show."""
    python = [sys.executable, "-m"]
    explored = [
        "compare",
        *write_numbers.EXPLORED_WORLDS,
        "--agents",
        " ".join(write_numbers.EXPLORERS),
        "--seeds",
        "20",
    ]
    rules = ["--agents", " ".join(write_numbers.RULES), "--seeds", "30", "--out", folder / "hard"]
    hard = [
        ["compare", world, "--episodes", episodes, "--steps", steps, *_trip(start, goal), *rules]
        for world, _, start, goal, episodes, steps in write_numbers.HARD
    ]
    for words in (
        ["reproduce", "--out", folder],
        ["compare", "--out", folder / "comparison"],
        [*explored, "--out", folder / "explorers"],
        *hard,
    ):
        subprocess.run([*python, "fwrl", *map(str, words)], check=True)
    done = subprocess.run([*python, "benchmarks.speed", "--json"], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    (folder / "bench.json").write_bytes(done.stdout)
    subprocess.run([*python, "benchmarks.scale_model", str(folder.resolve())], cwd=ROOT, check=True)


def _trip(start: int | None, goal: int | None) -> list[Any]:
    """The options of `fwrl compare` for start and goal."""
    options = (("--start", start), ("--goal", goal))
    return [word for option, state in options if state is not None for word in (option, state)]


def main(folder: Path) -> None:
    """Measure everything into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    run_commands(folder)
    measured = {
        "random-experience": list(random_experience()),
        "surprise-rates": surprise_rates(),
        "install": install_sizes(),
    }
    for name, found in measured.items():
        (folder / f"{name}.json").write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "results")
