"""`fwrl bench`: speed, as ratios measured in one run."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def bench(
    only: Annotated[
        list[str] | None,
        typer.Option(help="A part: step, scale, growth, fit or plan; may be given several times."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure speed against what a user would write instead, on the same data in the same run."""
    from rich.console import Console
    from rich.table import Table

    from fwrl.bench import run_suite

    rows = []
    with Console(stderr=True).status("measuring") as status:
        for part, measured in run_suite(only):
            rows.append((part, measured))
            status.update(f"measuring: {measured.name} {measured.ratio:,.1f}")
    if as_json:
        typer.echo(json.dumps([{"part": p, **m._asdict(), "ratio": m.ratio} for p, m in rows], indent=2))
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("part", style="bold")
    table.add_column("ours / other, a step")
    table.add_column("ours", justify="right", no_wrap=True)
    table.add_column("other", justify="right", no_wrap=True)
    table.add_column("times as fast", justify="right", style="bold", no_wrap=True)
    for part, m in rows:
        table.add_row(part, f"{m.name}\n[dim]{m.note}[/]", _time(m.ours), _time(m.other), _ratio(m.ratio))
    Console(highlight=False).print(table)


def _ratio(ratio: float) -> str:
    """Three digits, and no exponent."""
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def _time(seconds: float) -> str:
    """A duration in the unit that suits it."""
    for unit, scale in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)):
        if seconds < 1000 * scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds:.3g} s"
