"""The explore page: the map of a log, routes on it with their evidence, and what the log does not cover.

From the bottom up: `layers` draws states without positions, `state_map` is where states and roads are drawn, a
`question` is what is asked and what an address carries, `words` puts answers into sentences and says which steps are
old, the `explorer` answers questions about one planner, `copies` are answers in other formats, and the
`controller` answers one open page.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from fwrl.arrays import Floats
from fwrl.planner import Planner
from fwrl.web.explore.controller import HANDLERS, ExploreController
from fwrl.web.explore.explorer import Explorers, Shown
from fwrl.web.explore.state_map import state_map
from fwrl.web.explore.words import Unit, recency_of
from fwrl.web.page import PageKind


def explore_page(
    planner: Planner,
    file: str,
    *,
    positions: Floats | None = None,
    positions_file: str | None = None,
    old_after: float | None = None,
    unit: str | None = None,
    refit: Callable[[dict[str, Any]], Planner] | None = None,
) -> PageKind:
    """The page for one planner, for `fwrl.web.serve`; files are named as on the command line.

    Without `positions` (S, 2) it draws the centres of cells, or else layers. `old_after` is the age at which a step
    counts as old, in the unit of stored times (default: see `words`). Without `unit`, costs are steps if each costs 1.
    `refit` fits a part of the log, by options of `fwrl.fit`; None if you only have the planner.
    """
    experience = planner.experience
    if unit is None:
        unit = "steps" if bool((experience.mean == -1.0).all() and (experience.best == -1.0).all()) else ""
    old = recency_of(experience, old_after)
    dated = refit is not None and experience.time == "timestamp"
    drawn = state_map(experience, positions)
    shown = Shown(planner, drawn, old, file, positions_file, Unit(unit), dated=dated)
    explorers = Explorers(shown, refit, old_after)
    _ = explorers.whole.frame  # made before the server is ready
    static = Path(__file__).with_name("static")
    return PageKind("explore", static, HANDLERS, partial(ExploreController, explorers=explorers))


__all__ = ["explore_page"]
