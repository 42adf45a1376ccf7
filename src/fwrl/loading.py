"""Loading any saved file, whether it holds an agent, a planner or a navigator."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fwrl.cells.navigator_file import KIND as NAVIGATOR
from fwrl.cells.state_learner_file import KIND as STATE_LEARNER
from fwrl.files import open_archive
from fwrl.planner.file_format import KIND as PLANNER

if TYPE_CHECKING:
    from fwrl.agents.agent import Agent
    from fwrl.cells.navigator import Navigator
    from fwrl.cells.state_learner import StateLearner
    from fwrl.planner.planner import Planner


def load(path: str | Path) -> Agent | Planner | Navigator | StateLearner:
    """Load a saved agent, planner, navigator or state learner; nothing in the file is executed.

    Args:
        path: a file written by the `save` of an agent, a planner, a navigator or a state learner.

    Returns:
        Whichever was saved. Agents and state learners continue bit for bit.
    """
    archive = open_archive(path)
    if archive.kind == NAVIGATOR:
        from fwrl.cells.navigator_file import read_navigator

        return read_navigator(archive)
    if archive.kind == STATE_LEARNER:
        from fwrl.cells.state_learner_file import read_state_learner

        return read_state_learner(archive)
    if archive.kind == PLANNER:
        from fwrl.planner.planner import Planner

        return Planner.load(path)
    from fwrl.agents.registry import load as load_agent

    return load_agent(path)
