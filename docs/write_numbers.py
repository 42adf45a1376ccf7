"""Write the measured numbers and pictures of README.md and docs/*.md.

A block `<!-- numbers: NAME -->` ... `<!-- end -->` of a page is the output of the generator NAME below. Generators read
measured results only: the stores of `fwrl reproduce` and `fwrl compare`, the JSON of
docs/measure.py and of the programs in benchmarks/, the pages of `python -m benchmarks.pointmaze` and
`python -m benchmarks.online` in `results/benchmark`. `make measure` produces all but these in `results`. A block
without results stays as it is.

    python docs/write_numbers.py [RESULTS]
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import fwrl.kernels
from fwrl.experiment import Store
from fwrl.experiment.catalogue import (
    FOUR_ROOMS,
    FWRL,
    H_MAZE,
    MBRL,
    MBRL_STRAIGHT,
    MUDDY,
    PLAYER,
    WIND_READINGS,
    WINDY,
)
from fwrl.experiment.compared_agents import PAPER, default_agents
from fwrl.experiment.comparison import COMPARED_WORLDS, comparison
from fwrl.experiment.spec import Experiment
from fwrl.report import Finding, StoredResults, findings
from fwrl.report.estimate import Estimate
from fwrl.report.standings import comparison_findings, first_or_tied, standings

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
BLOCK = re.compile(r"(<!-- numbers: ([\w-]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)

PICTURE_WIDTH, PICTURE_COLOURS = 1200, 128
LINE = 120  # characters

EPISODES, STEPS = 50, 1000  # of comparisons
EXPLORERS = {  # rows of the table of exploration: what `fwrl compare` calls them, what the page does
    PAPER: "FWRL, Algorithm 1",
    "fwrl:backup=expected": "`expected` alone",
    "fwrl:explorer=optimistic": "`optimistic` alone",
    "fwrl:backup=expected,explorer=optimistic": "both",
    "fwrl": "both, by rate",
    "sweeping:explorer=epsilon-greedy": "`sweeping`, epsilon-greedy",
    "sweeping:explorer=optimistic": "`sweeping`, `optimistic`",
}
EXPLORED_WORLDS = {"four-rooms": "four rooms", "windy-four-rooms": "windy four rooms", "risky-bridge": "risky bridge"}
HARD = (  # worlds of the table of hard exploration: name, what the page calls it, start, goal, episodes, steps
    ("door-corridor-0.5", "door 0.5", 0, 60, 100, 400),
    ("door-corridor-0.3", "door 0.3", 0, 60, 100, 400),
    ("door-corridor-0.1", "door 0.1", 0, 60, 100, 400),
    ("door-corridor-0.03", "door 0.03", 0, 60, 100, 400),
    ("riverswim-6", "RiverSwim", 0, 5, 20, 1000),
    ("combination-lock-12-0", "lock", 0, 12, 20, 1000),
    ("varied-costs-8-0", "varied costs", None, None, 20, 1000),
    ("maze-51x51-7", "maze 51 x 51", None, None, 20, 1000),
)
RULES = {  # its rows
    "fwrl": "**FWRL, optimistic**",
    "fwrl:backup=expected": "FWRL, epsilon-greedy",
    "psrl": "posterior sampling",
    "rmax:known_after=1": "R-max, m = 1",
    "rmax:known_after=2": "R-max, m = 2",
    "rmax:known_after=5": "R-max, m = 5",
}
WORLDS = {
    "four-rooms": "four rooms",
    "windy-four-rooms": "windy four rooms",
    "h-maze": "H-maze",
    "muddy-rooms": "muddy rooms",
    "risky-bridge": "risky bridge",
    "maze-15x15-7": "maze 15 x 15",
    "maze-51x51-7": "maze 51 x 51",
    "door-corridor-0.3": "door 0.3",
    "riverswim-6": "RiverSwim",
    "combination-lock-12-0": "lock",
    "varied-costs-8-0": "varied costs",
    "gymnasium:CliffWalking-v1": "CliffWalking",
    "gymnasium:FrozenLake-v1": "FrozenLake",
}
AGENTS = {
    "fwrl": "**FWRL**",
    "mbrl": "MBRL, optimistic",
    "sweeping": "sweeping, optimistic",
    "agql": "all-goals Q-learning",
    "dg": "DG-learning",
    "her": "hindsight replay",
    "rmax": "R-max",
    "psrl": "posterior sampling",
    "uvfa": "universal values (UVFA)",
    "tdm": "temporal difference models",
    "trl": "Transitive RL",
    PAPER: "FWRL, Algorithm 1",
    "qlcat": "QLCAT",
    "ql": "QL",
}


class NotMeasuredError(Exception):
    """Results that a block needs are not there."""


class Results:
    """The folder of measured results; stores stay open until `close`.

    Args:
        folder: where `make measure` wrote.

    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open = contextlib.ExitStack()
        self._stores: dict[str, StoredResults] = {}

    def close(self) -> None:
        """Close all stores."""
        self._open.close()

    def file(self, name: str) -> Path:
        """A file of the folder."""
        path = self.folder / name
        if not path.is_file():
            raise NotMeasuredError(f"{path} does not exist")
        return path

    def stored(self, name: str, experiments: Iterable[Experiment]) -> StoredResults:
        """The results in a store, which has runs of all these experiments."""
        if name not in self._stores:
            self._stores[name] = StoredResults(self._open.enter_context(Store(self.file(name))))
        for experiment in experiments:
            if not self._stores[name].has(experiment):
                raise NotMeasuredError(f"{self.folder / name} lacks runs of {experiment.id}")
        return self._stores[name]

    def paper(self, *experiments: Experiment) -> StoredResults:
        """What `fwrl reproduce` stored."""
        return self.stored("results.sqlite", experiments)

    def comparison(
        self, worlds: Sequence[str], agents: Sequence[str], folder: str = "comparison"
    ) -> tuple[StoredResults, tuple[Experiment, ...]]:
        """What `fwrl compare` stored, and its experiments."""
        experiments = comparison(worlds, agents, EPISODES, STEPS)
        return self.stored(f"{folder}/results.sqlite", experiments), experiments

    def json(self, name: str) -> Any:
        """The JSON that a command printed."""
        return json.loads(self.file(name).read_text(encoding="utf-8"))


Generator = Callable[[Results], str]
GENERATORS: dict[str, Generator] = {}


def generator(name: str) -> Callable[[Generator], Generator]:
    """Register the function that writes the blocks called `name`."""

    def register(function: Generator) -> Generator:
        GENERATORS[name] = function
        return function

    return register


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def bullets(items: Iterable[str]) -> str:
    """A Markdown list, wrapped."""
    return "\n".join(
        textwrap.fill(item, LINE, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False) for item in items
    )


def table_of(page: Path) -> str:
    """The lines of the table of a Markdown page."""
    lines = page.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if line.startswith("|"))


def picture(results: Results, drawn: str, name: str, folder: str = "figures") -> Path:
    """Write a smaller copy of a drawn picture to the images of the documentation; its path from the root."""
    with Image.open(results.file(f"{folder}/{drawn}.png")) as image:
        width = min(PICTURE_WIDTH, image.width)
        small = image.convert("RGB").resize((width, image.height * width // image.width), Image.Resampling.LANCZOS)
        small.quantize(PICTURE_COLOURS).save(IMAGES / name, optimize=True)
    return (IMAGES / name).relative_to(ROOT)


@generator("pointmaze-table")
def pointmaze_table(results: Results) -> str:
    """Success on OGBench's point mazes next to the published numbers, from `python -m benchmarks.pointmaze`."""
    return table_of(results.file("benchmark/pointmaze.md"))


@generator("pointmaze-picture")
def pointmaze_picture(results: Results) -> str:
    """Cells and paths, from `python -m benchmarks.pointmaze`."""
    path = picture(results, "navigation", "navigation.png", "benchmark").relative_to("docs")
    return f"![Cells coloured by their value for a goal, and a path of the navigator over them]({path})"


@generator("online-table")
def online_results(results: Results) -> str:
    """Success after learning from nothing, from `python -m benchmarks.online`."""
    return table_of(results.file("benchmark/online.md"))


@generator("symbol-table")
def symbol_table(_: Results) -> str:
    """The letters of the kernels, as their package defines them."""
    lines = (fwrl.kernels.__doc__ or "").splitlines()
    return "\n".join(line for line in lines if line.startswith("|"))


@generator("intuition-picture")
def intuition_picture(results: Results) -> str:
    """The visual abstract."""
    path = picture(results, "intuition", "intuition.png")
    words = "Two trips through four rooms share a state; the third is stitched from both, and nobody has made it"
    return f'<img src="{path}" width="420" alt="{words}">'


@generator("paper-medians")
def paper_medians(results: Results) -> str:
    """Both metrics of the paper for every agent, in both worlds."""
    stored = results.paper(FOUR_ROOMS, WINDY)
    names = {
        MBRL_STRAIGHT.label: "MBRL, straight lines only (the authors')",
        MBRL.label: "MBRL, free to turn",
        FWRL.label: "**FWRL, Algorithm 1**",
    }
    rows = []
    for label in ("QL", "QLCAT", MBRL_STRAIGHT.label, MBRL.label, FWRL.label):
        cells = [names.get(label, label)]
        for experiment in (FOUR_ROOMS, WINDY):
            summary = stored.summary(experiment, label)
            cells += [summary.reward.text(0), summary.inefficiency.text(2)]
        rows.append(cells)
    seeds = stored.seeds(FOUR_ROOMS)
    text = (
        f"Medians over all episodes of {FOUR_ROOMS.steps} steps and {seeds} seeds, with 95 % bootstrap intervals. An "
        f"omniscient player earns {stored.summary(FOUR_ROOMS, PLAYER.label).reward.value:.0f}."
    )
    columns = ("", "reward, four rooms", "inefficiency", "reward, windy", "inefficiency")
    return f"{text}\n\n{table(columns, rows)}"


@generator("paper-picture")
def paper_picture(results: Results) -> str:
    """Both metrics on four rooms."""
    path = Path("..") / picture(results, f"results-{FOUR_ROOMS.id}", "results-four-rooms.png").relative_to("docs")
    return f"![Reward and distance-inefficiency of every agent on four rooms]({path})"


@generator("paper-findings")
def paper_findings(results: Results) -> str:
    """The claims of the paper in a few sentences."""
    stored = results.paper(FOUR_ROOMS, *WIND_READINGS, H_MAZE, MUDDY)
    found = {finding.claim: finding for finding in findings(stored)}

    def named(words: str) -> Finding:
        return next(finding for claim, finding in found.items() if words in claim)

    times = {label: stored.reward_ratio(FOUR_ROOMS, label) for label in ("QL", MBRL.label)}
    means = {label: stored.mean_ratio(FOUR_ROOMS, label) for label in ("QL", MBRL.label)}
    wind = stored.mean_ratio(WINDY, MBRL.label)
    promised, paid = (float(np.mean(stored.audited(WINDY, FWRL.label, column))) for column in ("believed", "kept"))
    stuck = named("into the wall")
    return bullets(
        [
            f"**Against Q-learning FWRL does what the paper says**: {times['QL'].text(1)} times the median reward of "
            f"QL on four rooms, {means['QL'].text(1)} times its mean (rewards are nearly multiples of 10, so medians "
            "are coarse).",
            f"**H-maze, a goal never reached from this start**: FWRL takes the "
            f"{named('Algorithm 1) takes the shortest').numbers}; {named('QLCAT does not').numbers}. QLCAT repeats the "
            f"action into a wall {stuck.numbers}.",
            '**"Twice the next best baseline" is not what we measure, and we cannot explain it.** '
            f"{named('Four rooms: twice the median of the authors').reason} Against a planner on "
            f"the same counts that is free to turn, FWRL's mean reward is {means[MBRL.label].text(2)} times as high on "
            f"four rooms and {wind.text(2)} times in wind.",
            "**In wind FWRL is overconfident.** It takes a lucky outcome for certain: over all pairs of start and goal "
            f"it predicts a mean path of {promised:.1f} steps, its policy takes {paid:.1f} (exact, mean over runs).",
            f"**How wind is read matters**: {named('reading of wind').numbers}.",
            f"**Maximum reward, not fewest steps** (muddy rooms, in units of a clean step). {named('Muddy').numbers}.",
            f"**The best path is not the best episode**: {named('maximises the total reward').numbers}.",
        ]
    )


@generator("install-sizes")
def install_sizes(results: Results) -> str:
    """Sizes of the parts of an install, and times of imports."""
    found = results.json("install.json")
    sizes = [(part, f"{size:.0f} MB") for part, size in found["megabytes"].items()]
    sizes.append(("all", f"{sum(found['megabytes'].values()):.0f} MB"))
    seconds = [(f"`{code}`", f"{taken:.2f} s") for code, taken in found["seconds"].items()]
    return f"{table(('part', 'size'), sizes)}\n\n{table(('statement', 'processor time'), seconds)}"


@generator("first-minute")
def first_minute(results: Results) -> str:
    """First commands with empty caches, from `python -m benchmarks.first_minute`."""
    found = results.json("first-minute.json")
    minute = [(step, f"{seconds:.0f} s") for step, seconds in found["minute"].items()]
    minute.append(("all", f"{sum(found['minute'].values()):.0f} s"))
    commands = [
        (f"`{row['command']}`", *(f"{row[key]:.1f} s" for key in ("after", "again"))) for row in found["commands"]
    ]
    first = table(("step", "by the clock"), minute)
    return f"{first}\n\n{table(('processor time of', 'first time', 'second time'), commands)}"


@generator("all-bench")
def all_bench(results: Results) -> str:
    """Everything that `make bench` measures."""
    parts = dict.fromkeys(row["part"] for row in results.json("bench.json"))
    return "\n\n".join(f"### {part}\n\n{bench_table(results, part)}" for part in parts)


def bench_table(results: Results, part: str) -> str:
    """The rows of one part of `python -m benchmarks.speed --json`."""
    rows = [row for row in results.json("bench.json") if row["part"] == part]
    cells = [(row["name"], f"{row['ours'] / row['other']:.3g}", row["note"]) for row in rows]
    return table(("ours / other", "ratio", "measured"), cells)


@generator("beyond-shares")
def beyond_shares(results: Results) -> str:
    """FWRL of the paper and beyond it: share of the oracle's reward, first episode."""
    stored, experiments = results.comparison(list(EXPLORED_WORLDS), list(EXPLORERS), "explorers")
    chosen = experiments[:2]
    rows = []
    for label, name in ((PAPER, "FWRL, Algorithm 1"), ("fwrl", "FWRL, expected, optimistic, by rate")):
        first = stored.reward(chosen[0], label)[:, :1]
        shares = [share(stored, experiment, label) for experiment in chosen]
        rows.append((name, *shares, mean(first).brief(0)))
    seeds = stored.seeds(chosen[0])
    text = (
        f"Share of the exact oracle's expected reward over {EPISODES} episodes of {STEPS} steps, {seeds} seeds, ± "
        "half the 95 % interval:"
    )
    return f"{text}\n\n{table(('', 'four rooms', 'windy four rooms', 'first episode, four rooms'), rows)}"


def share(stored: StoredResults, experiment: Experiment, label: str) -> str:
    """An agent's share of the oracle's expected reward; where an episode may lose much its score, with a star."""
    found = stored.share(experiment, label)
    return stored.score(experiment, label).brief(3) + "*" if np.isnan(found.value) else found.brief(3)


def mean(values: Any) -> Estimate:
    """A mean over runs with its 95 % normal interval."""
    by_run = values.mean(axis=1)
    half = 1.96 * by_run.std(ddof=1) / np.sqrt(len(by_run)) if len(by_run) > 1 else np.inf
    return Estimate(float(by_run.mean()), float(by_run.mean() - half), float(by_run.mean() + half))


@generator("comparison-verdict")
def comparison_verdict(results: Results) -> str:
    """In how many worlds FWRL is first or tied."""
    stored, experiments = results.comparison(COMPARED_WORLDS, default_agents())
    found = [first_or_tied(standings(stored, experiment, lambda *_: np.nan)) for experiment in experiments]
    won = sum(finding is not None and finding.result == "confirmed" for finding in found)
    return f"FWRL is first or tied in {won} of {len(experiments)} worlds."


@generator("comparison")
def comparison_table(results: Results) -> str:
    """Every agent's share of the oracle's reward in every world."""
    stored, experiments = results.comparison(COMPARED_WORLDS, default_agents())
    rows = [
        (AGENTS[label], *(share(stored, experiment, label) for experiment in experiments))
        for label in sorted(default_agents(), key=list(AGENTS).index)
    ]
    columns = ("", *(WORLDS[experiment.world] for experiment in experiments))
    counts = {experiment.world: stored.seeds(experiment) for experiment in experiments}
    most = max(counts.values())
    fewer = ", ".join(f"{count} in {WORLDS[world]}" for world, count in counts.items() if count < most)
    text = (
        f"{most} seeds{f' ({fewer})' if fewer else ''}; share of the exact oracle's expected reward, ± half the 95 % "
        "bootstrap interval. A star marks worlds in which an episode may lose much: there the number is the score, 0 "
        "for random play and 1 for the oracle."
    )
    return f"{text}\n\n{table(columns, rows)}"


@generator("agent-shares")
def agent_shares(results: Results) -> str:
    """Every agent of the comparison in the two worlds of the paper."""
    stored, experiments = results.comparison(COMPARED_WORLDS, default_agents())
    paper = [experiment for experiment in experiments if experiment.world in ("four-rooms", "windy-four-rooms")]
    rows = [
        (AGENTS[label], *(share(stored, experiment, label) for experiment in paper))
        for label in sorted(default_agents(), key=list(AGENTS).index)
    ]
    return table(("agent", *(WORLDS[experiment.world] for experiment in paper)), rows)


@generator("comparison-findings")
def comparison_sentences(results: Results) -> str:
    """Where FWRL is not first, and whose predictions differ from the truth."""
    stored, experiments = results.comparison(COMPARED_WORLDS, default_agents())
    lines = []
    for experiment in experiments:
        found = standings(stored, experiment, lambda *_: np.nan)
        for finding in comparison_findings(WORLDS[experiment.world], found):
            reason = f" {finding.reason}." if finding.reason and finding.result != "confirmed" else ""
            lines.append(f"{finding.claim}: **{finding.result}**. {finding.numbers}.{reason}")
    return bullets(lines)


@generator("exploration")
def exploration(results: Results) -> str:
    """Each half of what goes beyond the paper, alone and together."""
    stored, experiments = results.comparison(list(EXPLORED_WORLDS), list(EXPLORERS), "explorers")
    rows = []
    for label, name in EXPLORERS.items():
        cells = [name]
        for experiment in experiments:
            cells += [share(stored, experiment, label), mean(stored.reward(experiment, label)[:, :1]).text(0)]
        rows.append(cells)
    columns = ["agent"]
    for experiment in experiments:
        columns += [EXPLORED_WORLDS[experiment.world], "first episode"]
    return f"{stored.seeds(experiments[0])} seeds.\n\n{table(columns, rows)}"


@generator("hard-exploration")
def hard_exploration(results: Results) -> str:
    """Rules of exploration in worlds where a wrong one costs much."""
    experiments = [hard_experiment(*row) for row in HARD]
    stored = results.stored("hard/results.sqlite", experiments)
    rows = [(name, *(share(stored, experiment, label) for experiment in experiments)) for label, name in RULES.items()]
    seeds = ", ".join(sorted({str(stored.seeds(experiment)) for experiment in experiments}, key=int))
    return f"{seeds} seeds.\n\n{table(('', *(row[1] for row in HARD)), rows)}"


def hard_experiment(world: str, _: str, start: int | None, goal: int | None, episodes: int, steps: int) -> Experiment:
    """The experiment of one world of the table of hard exploration."""
    (experiment,) = comparison([world], list(RULES), episodes, steps, start, goal)
    return experiment


@generator("random-experience")
def random_experience(results: Results) -> str:
    """Predicted and true costs after random experience."""
    return table(
        ("world", "backup", "predicted cost", "true cost", "optimum", "one pair: predicted", "true", "optimum"),
        ([str(cell) for cell in row] for row in results.json("random-experience.json")),
    )


@generator("surprise-rates")
def surprise_rates(results: Results) -> str:
    """Beta, as agents have learned it."""
    rows = results.json("surprise-rates.json")
    return table(("world", "beta"), ((name, f"{beta:.3f}") for name, beta in rows.items()))


def long(seconds: float) -> str:
    """A duration in the largest unit below it."""
    units = (("years", 365.25 * 86400), ("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0), ("s", 1.0))
    unit, size = next(((unit, size) for unit, size in units if seconds >= 2 * size), ("ms", 1e-3))
    return f"{seconds / size:.2g} {unit}" if seconds < 100 * size else f"{seconds / size:,.0f} {unit}"


def large(size: float) -> str:
    """An amount of memory."""
    unit, scale = next(((u, s) for u, s in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9)) if size >= s), ("MB", 1e6))
    return f"{size / scale:.2g} {unit}" if size < 100 * scale else f"{size / scale:,.0f} {unit}"


@generator("scale-costs")
def scale_costs(results: Results) -> str:
    """Costs of a row, an edge, a state and a goal."""
    found = results.json("scale-model.json")
    sizes, seconds = found["sizes"], {model["name"]: model["seconds"] for model in found["models"]}
    fit, merge, goal = (seconds[name] for name in ("fit", "merge", "new goal"))
    rows = [
        ("row of a log", f"{20e9 * fit[1]:.0f} ns to fit, and {1e9 * fit[3]:.0f} ns where it is read again", ""),
        ("edge", f"{20e9 * fit[2]:.0f} ns to fit, {20e9 * merge[1]:.0f} ns to merge", f"{sizes['edge']:.0f} in a file"),
        ("state", "", f"{sizes['state']:.0f} in a file"),
        ("trip", "", f"{sizes['trip']:.0f} in a file"),
        ("goal", f"{1e9 * goal[1]:.0f} ns per edge", f"{sizes['column']:.0f} per state"),
    ]
    return table(("each", "processor time", "bytes"), rows)


@generator("scale-points")
def scale_points(results: Results) -> str:
    """Points beyond those that the model was fitted to."""
    rows = []
    for model in results.json("scale-model.json")["models"]:
        largest = [max(amounts) for amounts in zip(*(point[0] for point in model["fitted"]), strict=True)]
        for (amounts, seconds), model_said in zip(model["beyond"], model["said"], strict=True):
            of = ", ".join(f"{n:,.0f} {kind}" for n, kind in zip(amounts, model["kinds"], strict=True))
            times = max(n / most for n, most in zip(amounts, largest, strict=True))
            rows.append((model["name"], of, f"{times:.1f}", f"{seconds:.3g} s", f"{model_said / seconds:.2f}"))
    return table(("what", "how much", "times the largest fitted", "measured", "model / measured"), rows)


@generator("scale-said")
def scale_said(results: Results) -> str:
    """Predictions of the model for sizes that were not measured."""
    rows = [
        (
            f"{found['transitions']:.0e}".replace("e+", "e"),
            f"{found['states']:.0e}".replace("e+", "e"),
            long(found["fit"]),
            long(found["fit"] / 64),
            long(found["fit by workers"]),
            large(found["sent"]),
            large(found["edges"]),
            large(found["column"]),
            long(found["new goal"]),
        )
        for found in results.json("scale-model.json")["said"]
    ]
    head = (
        "transitions",
        "states",
        "fit, one thread",
        "64 threads",
        "100 workers",
        "planners sent",
        "edges",
        "a column",
        "first route",
    )
    return table(head, rows)


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """(name, content) of every block of a page."""
    for found in BLOCK.finditer(text):
        yield found[2], found[3].rstrip("\n")


def rewritten(text: str, results: Results, report: Callable[[str], None]) -> str:
    """The page with every block whose results are there written again."""

    def replace(found: re.Match[str]) -> str:
        try:
            body = GENERATORS[found[2]](results)
        except NotMeasuredError as reason:
            report(f"{found[2]}: left as it is, {reason}")
            return found[0]
        return f"{found[1]}{body}\n{found[4]}"

    return BLOCK.sub(replace, text)


def main(folder: Path) -> None:
    """Rewrite all pages in place."""
    results = Results(folder)
    try:
        for page in PAGES:
            before = page.read_text(encoding="utf-8")
            after = rewritten(before, results, print)
            if after != before:
                page.write_text(after, encoding="utf-8")
                print(f"wrote {page.relative_to(ROOT)}")
    finally:
        results.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "results")
