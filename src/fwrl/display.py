"""Show objects as an HTML table, as a picture drawn by `fwrl.figures`, or as text in a terminal.

Worlds, agents, results and routes have a method `plot`. The figures layer is above them, because it draws all of them,
so `plot` passes the name of a drawing and we look it up in `fwrl.figures.plots` when it's called. The layers below
import and work without matplotlib.
"""

from __future__ import annotations

import html
import importlib
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, Protocol

MANY = 10_000  # numbers from here on are written without decimals, with commas
LARGE = 1e15  # numbers from here on are written with an exponent
DRAWINGS = "fwrl.figures.plots"


class Picture(Protocol):
    """The result of `plot`: a matplotlib figure, which notebooks display."""

    def savefig(self, fname: Any, **options: Any) -> None:
        """Write the picture to a file; the suffix decides the format."""

    def _repr_png_(self) -> bytes: ...


def drawn(name: str, *arguments: Any, **options: Any) -> Picture:
    """Call the function `name` of `fwrl.figures.plots`."""
    picture: Picture = getattr(importlib.import_module(DRAWINGS), name)(*arguments, **options)
    return picture


def html_table(title: str, rows: Mapping[str, Any], note: str = "") -> str:
    """Format names and values as an HTML table with a title, for notebooks.

    >>> "<b>a &lt; b</b>" in html_table("a < b", {"states": 12345})
    True
    """
    left = ' style="text-align: left"'
    lines = "".join(
        f"<tr><th{left}>{html.escape(name)}</th><td{left}>{html.escape(_shown(value))}</td></tr>"
        for name, value in rows.items()
    )
    below = f"<div>{html.escape(note)}</div>" if note else ""
    return f"<table><caption{left}><b>{html.escape(title)}</b></caption>{lines}</table>{below}"


def _shown(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.5g}"
    return str(value)


def counted(number: int, noun: str) -> str:
    """Format a number with its noun.

    >>> counted(1, "seed"), counted(1000, "seed")
    ('1 seed', '1,000 seeds')
    """
    return f"{number:,} {noun}{'s' * (number != 1)}"


def times(number: int) -> str:
    """Say how often.

    >>> times(1), times(2), times(3)
    ('once', 'twice', '3 times')
    """
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")


def percent(probability: float) -> str:
    """A probability, never rounded to certainty or impossibility.

    >>> percent(0.937), percent(0.9999), percent(1.0), percent(0.001)
    ('94 %', 'over 99 %', '100 %', 'under 1 %')
    """
    if 0.99 < probability < 1.0:
        return "over 99 %"
    return "under 1 %" if 0.0 < probability < 0.01 else f"{100 * probability:.0f} %"


def between(bounds: tuple[float, float], shown: Callable[[float], str] = "{:.3g}".format) -> str:
    """Format a range, or a single number if both ends look the same.

    >>> between((0.105, 1.0)), between((0.99999, 1.0))
    ('0.105 to 1', '1')
    """
    return " to ".join(dict.fromkeys(map(shown, bounds)))


def plain(number: float, digits: int = 4) -> str:
    """A number with so many digits that count; a large one with all before its decimals, never as 2.765e+04.

    >>> plain(-27650.4), plain(1234.5), plain(0.33333)
    ('-27,650', '1234', '0.3333')
    """
    return f"{number:,.0f}" if MANY <= abs(number) < LARGE else f"{number:.{digits}g}"


def visible(text: object) -> str:
    r"""Escape characters that would break the line, colour the terminal or reverse the text direction.

    >>> print(visible("dock 1"), visible("a\n\x1b[31mb"))
    dock 1 a\n\x1b[31mb
    """
    plain = str(text)
    if plain.isprintable():
        return plain
    return "".join(_escaped(character) for character in plain)


def _escaped(character: str) -> str:
    hidden = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    return character.encode("unicode_escape").decode() if hidden else character
