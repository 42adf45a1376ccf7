"""One colour, marker and line style per agent label, the same in every figure.

The colours are those of Okabe and Ito, which are distinct for people with colour vision deficiency. Markers and line
styles distinguish agents in grey prints.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

BLACK = "#000000"
BLUE = "#0072B2"
GREEN = "#009E73"
GREY = "#7F7F7F"
INK = "#222222"
ORANGE = "#E69F00"
PURPLE = "#CC79A7"
SKY = "#56B4E9"
VERMILLION = "#D55E00"
# Five of Tol's muted colours, a slate, and Okabe's yellow and orange darkened: yellow is invisible on white.
WINE = "#882255"
INDIGO = "#332288"
MUSTARD = "#8A7A00"
BROWN = "#6B4226"
TEAL = "#44AA99"
ROSE = "#CC6677"
OLIVE = "#999933"
SLATE = "#4A6274"


class Look(NamedTuple):
    """How an agent is drawn.

    Attributes:
        colour: As `#RRGGBB`.
        marker: A marker, as matplotlib takes it.
        line: A line style, as matplotlib takes it.
        width: Width of lines in points: different for agents whose curves often coincide, so that both are visible.
    """

    colour: str
    marker: str
    line: Any
    width: float = 2.2

    @property
    def ink(self) -> str:
        """The colour, darkened so that text in it is legible on white.

        >>> Look("#E69F00", "o", "-").ink
        '#a16f00'
        """
        channels = (int(self.colour[k : k + 2], 16) for k in (1, 3, 5))
        return "#" + "".join(f"{round(0.7 * channel):02x}" for channel in channels)


# In the order of rows and legends: labels of the paper's experiments, of `fwrl compare`, then random and oracle.
LOOKS = {
    "FWRL (Algorithm 1)": Look(VERMILLION, "o", "-", 3.2),
    "FWRL (exact)": Look(ORANGE, "D", (0, (3, 2)), 1.5),
    "MBRL": Look(BLUE, "s", "-", 5.2),
    "MBRL (straight lines)": Look(SKY, "v", (0, (4, 1.5, 1, 1.5))),
    "QLCAT": Look(GREEN, "^", "-"),
    "QL": Look(PURPLE, "P", (0, (6, 2))),
    "fwrl": Look(VERMILLION, "o", "-", 3.2),
    "fwrl-paper": Look(ORANGE, "D", (0, (3, 2)), 1.5),
    "mbrl": Look(BLUE, "s", "-", 5.2),
    "sweeping": Look(SKY, "v", (0, (4, 1.5, 1, 1.5))),
    "dg": Look(MUSTARD, ">", (0, (6, 2))),
    "agql": Look(WINE, "<", "-"),
    "her": Look(INDIGO, "h", (0, (4, 1.5, 1, 1.5))),
    "rmax": Look(BROWN, "p", (0, (1, 1.5))),
    "psrl": Look(TEAL, "d", "-"),
    "uvfa": Look(ROSE, "8", (0, (6, 2))),
    "tdm": Look(OLIVE, "H", (0, (4, 1.5, 1, 1.5))),
    "trl": Look(SLATE, ".", "-"),
    "qlcat": Look(GREEN, "^", "-"),
    "ql": Look(PURPLE, "P", (0, (6, 2))),
    "random": Look(GREY, "X", (0, (1, 1.5))),
    "oracle": Look(BLACK, "*", (0, (3, 3))),
}
SPARE = (
    Look(WINE, "<", "-"),
    Look(MUSTARD, ">", (0, (6, 2))),
    Look(INDIGO, "h", (0, (4, 1.5, 1, 1.5))),
    Look(BROWN, "p", (0, (1, 1.5))),
)


def table_of_colours(labels: Iterable[str]) -> dict[str, Look]:
    """The look of each label, in drawing order: known agents first, then the others by name.

    Labels that aren't listed get the spare looks, in order of name.

    Args:
        labels: Labels of agents, in any order; repeated ones count once.

    Returns:
        The looks by label.

    >>> list(table_of_colours(["QL", "mine", "FWRL (exact)"]))
    ['FWRL (exact)', 'QL', 'mine']
    >>> table_of_colours(["QL"])["QL"].colour
    '#CC79A7'
    """
    wanted = set(labels)
    others = sorted(wanted - LOOKS.keys())
    known = {label: look for label, look in LOOKS.items() if label in wanted}
    return known | {label: SPARE[k % len(SPARE)] for k, label in enumerate(others)}
