"""`python -m benchmarks.speed`: print the ratios of all parts, or of some."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.running import run_command
from benchmarks.speed.measure import Measurement
from benchmarks.speed.suite import run_suite


def speed(
    only: Annotated[
        list[str] | None,
        typer.Option(help="A part, see above; may be given several times. Default: all parts.", metavar="PART"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure speed and memory against NumPy, SciPy, DuckDB and networkx, on the same data in the same run.

    \b
    step    one step on four rooms / literal NumPy, a random walker
    beyond  one step of the expected, optimistic FWRL / the paper's
    scale   first steps on larger maps / literal NumPy
    growth  cost a step as maps grow / a random walker
    goals   values of a new goal at a million states, all pairs of 2,000 / SciPy
    online  a step of learning at a million states / ten thousand; longest steps
    memory  peak at a million states with ten goals in use / SciPy
    fit     fit a log of 50 million rows / a bare DuckDB group-by
    merge   merge ten planners of 5 million rows each / fit all 50 million
    plan    a route at a million states / SciPy; at ten thousand / networkx
    matrix  costs of 100 x 1,000 pairs at a hundred thousand states / SciPy
    uncertainty
            plans where outcomes vary, to a million states / SuperLU; steps / plain
    scale-model
            fits, merges and new goals / a model of smaller ones (docs/scale.md)

    The last column is our time or memory divided by the other's: below 1, fwrl takes less. All parts together take some
    minutes.
    """  # noqa: D301 (\b keeps the line breaks of the help text)
    rows: list[tuple[str, Measurement]] = []
    try:
        with Console(stderr=True).status("measuring") as status:

            def begun(part: str) -> None:
                status.update(f"measuring {part}")

            for part, measured in run_suite(only, begun):
                rows.append((part, measured))
    finally:
        # After Ctrl-C, print what was measured before it.
        if rows and as_json:
            typer.echo(json.dumps([{"part": p, **m._asdict(), "ratio": m.ratio} for p, m in rows], indent=2))
        elif rows:
            Console(highlight=False).print(_table(rows))


def _table(rows: list[tuple[str, Measurement]]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("part", style="bold")
    table.add_column("ours / other")
    table.add_column("ours", justify="right", no_wrap=True)
    table.add_column("other", justify="right", no_wrap=True)
    table.add_column("ratio", justify="right", style="bold", no_wrap=True)
    for part, m in rows:
        amounts = (_time(m.ours), _time(m.other)) if m.unit == "s" else (_size(m.ours), _size(m.other))
        table.add_row(part, f"{m.name}\n[dim]{m.note}[/]", *amounts, _ratio(m.ratio))
    return table


def _ratio(ratio: float) -> str:
    """Three significant digits without an exponent."""
    return f"{ratio:,.0f}" if ratio >= 100 else f"{Decimal(f'{ratio:.3g}'):f}"


def _time(seconds: float) -> str:
    """A duration in the largest unit below it."""
    for unit, scale in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)):
        if seconds < 1000 * scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds:.3g} s"


def _size(n: float) -> str:
    """An amount of memory in MB."""
    return f"{n / 1e6:,.0f} MB"


if __name__ == "__main__":
    run_command(speed)
