"""Loading any saved file, whether it holds an agent, a planner or a navigator."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fwrl.cells.navigator_file import KIND as NAVIGATOR
from fwrl.files import open_archive
from fwrl.planner.file_format import KIND as PLANNER

if TYPE_CHECKING:
    from fwrl.agents.agent import Agent
    from fwrl.cells.navigator import Navigator
    from fwrl.planner.planner import Planner


def load(path: str | Path) -> Agent | Planner | Navigator:
    """Load a saved agent, planner or navigator; nothing in the file is executed.

    Args:
        path: a file written by the `save` of an agent, a planner or a navigator, of this or an earlier version.

    Returns:
        Whichever was saved. An agent continues bit for bit.
    """
    archive = open_archive(path)
    if archive.kind == NAVIGATOR:
        from fwrl.cells.navigator_file import read_navigator

        return read_navigator(archive)
    if archive.kind == PLANNER:
        from fwrl.planner.planner import Planner

        return Planner.load(path)
    from fwrl.agents.registry import load as load_agent

    return load_agent(path)
