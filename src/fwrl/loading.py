"""Loading any saved file, whether it holds an agent or a planner."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fwrl.files import open_archive
from fwrl.planner.file_format import KIND

if TYPE_CHECKING:
    from fwrl.agents.agent import Agent
    from fwrl.planner.planner import Planner


def load(path: str | Path) -> Agent | Planner:
    """Load a saved agent or planner; nothing in the file is executed.

    Args:
        path: a file written by the `save` of an agent or a planner, of this or an earlier version.

    Returns:
        Whichever was saved. An agent continues bit for bit.
    """
    if open_archive(path).kind == KIND:
        from fwrl.planner.planner import Planner

        return Planner.load(path)
    from fwrl.agents.registry import load as load_agent

    return load_agent(path)
