"""What notebooks show of an object: a table as HTML, and a picture drawn by `fwrl.figures`.

Worlds, agents, results and routes have a method `plot`. Figures stand above them in the layers, since they draw results
of all of them. So these methods name their drawing, and `fwrl.figures.plots` is looked up here when one is called: the
layers below are imported and work without matplotlib.
"""

from __future__ import annotations

import html
import importlib
from collections.abc import Mapping
from typing import Any, Protocol

DRAWINGS = "fwrl.figures.plots"


class Picture(Protocol):
    """What `plot` returns: a matplotlib figure that notebooks show."""

    def savefig(self, fname: Any, **options: Any) -> None:
        """Write the picture to a file; its suffix says how."""

    def _repr_png_(self) -> bytes: ...


def drawn(name: str, *arguments: Any, **options: Any) -> Picture:
    """The picture that the function `name` of `fwrl.figures.plots` draws."""
    picture: Picture = getattr(importlib.import_module(DRAWINGS), name)(*arguments, **options)
    return picture


def html_table(title: str, rows: Mapping[str, Any], note: str = "") -> str:
    """A table of names and values under a title, as HTML for notebooks.

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
