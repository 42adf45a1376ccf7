"""Whatever was saved: one door for agents and planners."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fwrl.files import open_archive
from fwrl.planner.file_format import KIND


def load(path: str | Path) -> Any:
    """The agent or the planner saved at `path`; nothing in the file is executed."""
    if open_archive(path).kind == KIND:
        from fwrl.planner.planner import Planner

        return Planner.load(path)
    from fwrl.agents.registry import load as load_agent

    return load_agent(path)
