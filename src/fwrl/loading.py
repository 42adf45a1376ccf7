"""Load any saved file: an agent, a planner or a navigator."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fwrl.files import open_archive
from fwrl.navigator.navigator_file import NAVIGATOR, STATE_LEARNER
from fwrl.planner.file import KIND as PLANNER

if TYPE_CHECKING:
    from fwrl.agents.agent import Agent
    from fwrl.navigator.navigator import Navigator
    from fwrl.navigator.state_learner import StateLearner
    from fwrl.planner.planner import Planner


def load(path: str | Path) -> Agent | Planner | Navigator | StateLearner:
    """Load a saved agent, planner, navigator or state learner. Nothing in the file is executed.

    Args:
        path: a file written by the object's `save`.

    Returns:
        The saved object. Agents and state learners continue bit for bit.

    >>> import tempfile, fwrl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fwrl.make_agent("fwrl", 25, 4, seed=0).save(folder + "/agent.fwrl")
    ...     fwrl.load(folder + "/agent.fwrl").n_states
    25
    """
    archive = open_archive(path)
    if archive.kind == NAVIGATOR:
        from fwrl.navigator.navigator_file import read_navigator

        return read_navigator(archive)
    if archive.kind == STATE_LEARNER:
        from fwrl.navigator.navigator_file import read_state_learner

        return read_state_learner(archive)
    if archive.kind == PLANNER:
        from fwrl.planner.planner import Planner

        return Planner.load(path)
    from fwrl.agents.registry import load as load_agent

    return load_agent(path)
