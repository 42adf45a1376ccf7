"""The explore page: the map of a log, routes on it with their evidence, and what the log does not cover.

From the bottom up: `layers` draws states that have no positions, `state_map` is where states and roads are drawn and
`map_frame` the same as bytes, `recency` says which steps are old, a `question` is what is asked and what an address
carries, `words` puts answers into sentences, the `explorer` answers questions about one planner, `copies` are answers
in other formats, `messages` are what a page may send, and the `controller` answers one open page.
"""

from functools import partial
from pathlib import Path

from fwrl.arrays import Floats
from fwrl.planner import Planner
from fwrl.web.explore.controller import ExploreController
from fwrl.web.explore.explorer import Explorer, Shown
from fwrl.web.explore.messages import TYPES
from fwrl.web.explore.recency import recency_of
from fwrl.web.explore.state_map import state_map
from fwrl.web.page import PageKind


def explore_page(
    planner: Planner,
    file: str,
    *,
    positions: Floats | None = None,
    positions_file: str | None = None,
    old_after: float | None = None,
) -> PageKind:
    """The page for one planner.

    Args:
        planner: The planner.
        file: Its file, as commands name it.
        positions: (S, 2) positions of the states (default: the centres of cells, or else a layered drawing).
        positions_file: Their file, as commands name it.
        old_after: The age at which a step counts as old, in the unit of stored times (default: see `recency`).

    Returns:
        A page for `fwrl.web.serve`.
    """
    experience = planner.experience
    shown = Shown(planner, state_map(experience, positions), recency_of(experience, old_after), file, positions_file)
    explorer = Explorer(shown)
    _ = explorer.frame  # made before the server is ready
    static = Path(__file__).with_name("static")
    return PageKind("explore", static, TYPES, partial(ExploreController, explorer=explorer))


__all__ = ["explore_page"]
