"""The page of the roads: one table, one picture, and what explains the worst tenth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator

from benchmarks.roads.network import PLACES
from benchmarks.roads.questions import PAIRS, SHARES, SUPPORT, Answers
from fwrl.arrays import Floats
from fwrl.figures.palette import BLUE, GREY, VERMILLION
from fwrl.figures.style import Figure, figure_of, save, sheet
from fwrl.files import replaced

Results = dict[str, dict[str, list[Answers]]]  # by place and question, for each seed
Statistic = Callable[[Floats], Any]  # a number
Part = tuple[str, Statistic, str]  # of which answers, what of them, and how it is written

RESAMPLES = 1000
COLOURS = dict(zip(PLACES, (BLUE, VERMILLION), strict=True))

WORDS = Path(__file__).with_name("page.md")


def write_page(results: Results, folder: Path) -> Path:
    """Write `roads.md` and `images/roads.png`."""
    save(roads_figure(results), folder / "images", "roads").svg.unlink()  # the page shows the PNG
    path = folder / "roads.md"
    with replaced(path) as draft:
        words = WORDS.read_text(encoding="utf-8")
        draft.write_text(words.format(table=table(results), **_numbers(results)), encoding="utf-8")
    return path


def table(results: Results) -> str:
    """The table in Markdown."""
    rows: list[tuple[str, list[str]]] = []

    def add(words: str, question: str, *parts: Part) -> None:
        """A row: numbers of a question, each with its interval."""
        cells = []
        for place in results:
            runs = results[place][question]
            cells.append(" / ".join(_cell(runs, key, statistic, form) for key, statistic, form in parts))
        rows.append((words, cells))

    for share in SHARES:
        question, seen = f"growth-{share:g}", percent(share)
        number = " and ".join(f"{results[place][question][0]['trips'][0]:,.0f}" for place in results)
        covered: list[Part] = [("covered", np.mean, ".0%"), ("exists", np.mean, ".0%")]
        add(f"**{seen} of the trips** ({number}): one past trip / a stitched route joins the pair", question, *covered)
        add(f"{seen}: time over best, median / nine in ten", question, *_times("over_best"))
        add(f'{seen}: the same with `backup="best"`', question, *_times("best_backup"))
    for kind, words in (("day", "whole day"), ("rush", "rush")):
        keys: list[Part] = [(f"{kind}_{name}_90", np.mean, ".1%") for name in ("held", "same_day")]
        add(f"**{words}: vehicles that keep the 90 % quantile**, other days / logged day", "calibration", *keys)
    for when in ("rush", "night"):
        for kind, words in (("day", "plan of the whole day"), ("at", "plan for the hour")):
            key = f"{when}_{kind}"
            add(f"**{when}, {words}**: a route exists", "hours", (f"{key}_exists", np.mean, ".0%"))
            add(f"{when}: time over best, median / nine in ten", "hours", *_times(f"{key}_over_best"))
            add(f"{when}: true over promised time, median", "hours", (f"{key}_over_promise", np.median, ".2f"))
    for share in SHARES[2:]:
        words = f"**a closed street**, {percent(share)} of the trips: a detour is found"
        add(words, "closed", (f"exists_{share:g}", np.mean, ".0%"))
        add("time over the best detour, median / nine in ten", "closed", *_times(f"over_best_{share:g}"))
    for least in (1, 2, 3):
        words = (
            f"**a forbidden shortcut**, 25 % of the trips, `min_trips` {least}: routes that take it / a route exists"
        )
        add(words, "shortcut", (f"illegal_{least}", np.mean, ".0%"), (f"exists_{least}", np.mean, ".0%"))
    for kind, words in (
        ("plain", "GPS points, squares by `fit`"),
        ("headed", "GPS points, small squares with heading"),
    ):
        keys = [(f"{kind}_{name}", np.mean, ".0%") for name in ("exists", "drivable")]
        add(f"**{words}**: a route exists / of these, can be driven", "gps", *keys)
        add("time over best of those, median / nine in ten", "gps", *_times(f"{kind}_over_best"))
        add("promised over best time, median", "gps", (f"{kind}_promise_over_best", np.median, ".2f"))
    head = ["", *(PLACES[place].name for place in results)]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join([words, *cells]) + " |" for words, cells in rows)])


def _times(key: str) -> list[Part]:
    return [(key, np.median, ".2f"), (key, nine_in_ten, ".2f")]


def percent(share: float, form: str = ".0%") -> str:
    """As 25 %."""
    return format(share, form).replace("%", " %")


def nine_in_ten(values: Floats) -> float:
    """Return the value that nine in ten don't exceed."""
    return float(np.quantile(values, 0.9))


def _cell(runs: Sequence[Answers], key: str, statistic: Statistic, form: str) -> str:
    low, high = interval(runs, key, statistic)
    middle = format(statistic(pooled(runs, key)), form)
    unit = "%" if form.endswith("%") else ""
    ends = (format(end, form).removesuffix("%") for end in (low, high))
    return f"{middle.removesuffix('%')}{' ' if unit else ''}{unit} [{', '.join(ends)}]"


def pooled(runs: Sequence[Answers], key: str) -> Floats:
    """The answers of all seeds."""
    return np.concatenate([np.asarray(run.get(key, []), np.float64) for run in runs])


def interval(runs: Sequence[Answers], key: str, statistic: Statistic) -> tuple[float, float]:
    """A 95 % interval: seeds are drawn with replacement, and answers within each."""
    rng, parts = np.random.default_rng(0), [np.asarray(run[key], np.float64) for run in runs if run.get(key)]
    found = [
        statistic(
            np.concatenate([rng.choice(parts[k], len(parts[k])) for k in rng.integers(len(parts), size=len(parts))])
        )
        for _ in range(RESAMPLES)
    ]
    low, high = np.quantile(found, (0.025, 0.975))
    return float(low), float(high)


def _numbers(results: Results) -> dict[str, Any]:
    """The numbers in the text, of one network after the other."""
    worst, unseen, back, unknown, lucky = [], [], [], [], []
    for place in results:
        runs = results[place][f"growth-{SHARES[-1]:g}"]
        keys = ("over_best", "seen_only", "seen_or_back", "known_only")
        over, seen, turned, known = (pooled(runs, key) for key in keys)
        tail = over >= nine_in_ten(over)
        worst.append(f"{nine_in_ten(over):.2f}")
        lucky.append(f"{nine_in_ten(pooled(runs, 'best_backup')):.2f}")
        lost, never_made = (over[tail] - 1.0).sum(), (seen[tail] - 1.0).sum()
        unseen.append(percent(never_made / lost))
        back.append(percent(1.0 - (turned[tail] - 1.0).sum() / never_made))
        unknown.append(percent((known[tail] - 1.0).sum() / lost))
    few = [results[place][f"growth-{SHARES[0]:g}"] for place in results]
    calibrated = [(results[place]["calibration"], f"{kind}_held_90") for place in results for kind in ("day", "rush")]
    days = [float(np.mean(run[key])) for runs, key in calibrated for run in runs]
    found = {
        "worst": worst,
        "lucky": lucky,
        "unseen": unseen,
        "back": back,
        "unknown": unknown,
        "few_trips": [f"{runs[0]['trips'][0]:,.0f}" for runs in few],
        "few_exists": [percent(float(pooled(runs, "exists").mean())) for runs in few],
        "few_covered": [percent(float(pooled(runs, "covered").mean())) for runs in few],
        "days": [percent(min(days)), percent(max(days))],
        "detour": [f"{nine_in_ten(pooled(results[place]['closed'], 'over_best_1')):.2f}" for place in results],
        "networks": [f"{PLACES[place].name} (`{PLACES[place].file}`)" for place in results],
    }
    off = max(abs(100.0 * pooled(*each).mean() - 90.0) for each in calibrated)
    numbers = {"pairs": PAIRS, "support": SUPPORT, "few_share": percent(SHARES[0]), "off": f"{off:.1f}"}
    return numbers | {name: " and ".join(each) for name, each in found.items()}


@figure_of
def roads_figure(results: Results) -> Figure:
    """Pairs with a route, time over best, and calibration."""
    figure = sheet(15.0, 4.8)
    left, middle, right = figure.subplots(1, 3)
    for place, asked in results.items():
        grown = [asked[f"growth-{share:g}"] for share in SHARES]
        trips = [float(runs[0]["trips"][0]) for runs in grown]
        name, colour = PLACES[place].name, COLOURS[place]
        _line(left, trips, grown, "exists", np.mean, colour, "-", f"{name}: stitched")
        _line(left, trips, grown, "covered", np.mean, colour, "--", f"{name}: one past trip")
        _line(middle, trips, grown, "over_best", nine_in_ten, colour, "-", f"{name}: expected")
        _line(middle, trips, grown, "best_backup", nine_in_ten, colour, ":", f"{name}: luckiest trip")
    left.set(title="Pairs of streets that are joined\nby one past trip, by stitching", ylim=(0.0, 1.04))
    left.legend(fontsize=11, loc="lower right", bbox_to_anchor=(1.0, 0.57))
    middle.legend(fontsize=11)
    left.yaxis.set_major_formatter(FuncFormatter(lambda y, _: percent(y)))
    middle.set(title="True time over best possible,\nnine routes in ten stay below")
    for axes in (left, middle):
        axes.set(xscale="log", xlabel="trips seen", xticks=(100, 300, 1000, 3000, 9000))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
        axes.xaxis.set_minor_locator(NullLocator())
    _calibration(right, results)
    return figure


def _line(
    axes: Axes,
    trips: list[float],
    grown: list[list[Answers]],
    key: str,
    statistic: Statistic,
    colour: str,
    dashes: str,
    label: str,
) -> None:
    values = np.array([statistic(pooled(runs, key)) for runs in grown])
    ends = np.array([interval(runs, key, statistic) for runs in grown])
    axes.plot(trips, values, dashes, color=colour, marker="o", label=label)
    axes.vlines(trips, ends[:, 0], ends[:, 1], color=colour, linewidth=1.2)


def _calibration(axes: Axes, results: Results) -> None:
    axes.axhspan(0.87, 0.93, color=GREY, alpha=0.2, linewidth=0)
    axes.axhline(0.9, color=GREY, linewidth=1.2)
    rng, ticks = np.random.default_rng(0), []
    for k, (kind, words) in enumerate((("day", "whole day"), ("rush", "rush"))):
        for j, place in enumerate(results):
            runs, x = results[place]["calibration"], 2 * k + j
            held = pooled(runs, f"{kind}_held_90")
            axes.plot(x + rng.uniform(-0.25, 0.25, len(held)), held, ".", color=COLOURS[place], alpha=0.3)
            low, high = interval(runs, f"{kind}_held_90", np.mean)
            axes.errorbar(
                x, held.mean(), [[held.mean() - low], [high - held.mean()]], fmt="o", color="black", capsize=5
            )
            ticks.append(f"{PLACES[place].name.partition('-')[0]},\n{words}")
    axes.set(title="Vehicles that keep the promised\n90 % quantile (dots: routes)", ylim=(0.6, 1.0))
    axes.set_xticks(range(len(ticks)), ticks, fontsize=11)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: percent(y)))
