"""The agents of a comparison: FWRL in a single configuration, baselines in tuned settings.

`python -m benchmarks.tune` tuned the baselines on seeds that no comparison uses, and wrote tuned.json.
"""

from __future__ import annotations

import functools
import json
from importlib.resources import files
from typing import Any

from fwrl.agents import agent_class, agent_classes
from fwrl.errors import OptionError
from fwrl.experiment.spec import ORACLE, AgentSpec

RECORD = "tuned.json"
BEYOND = {"backup": "expected", "explorer": "optimistic", "objective": "rate"}  # FWRL's one configuration
PAPER = "fwrl-paper"


@functools.cache
def tuned() -> dict[str, dict[str, Any]]:
    """Each agent's best options and their score, as found by `python -m benchmarks.tune`."""
    text = files("fwrl.experiment").joinpath(RECORD).read_text(encoding="utf-8")
    found: dict[str, dict[str, Any]] = json.loads(text)["agents"]
    return found


def compared_agent(text: str) -> AgentSpec:
    """Parse NAME or NAME:OPTION=VALUE,...

    Without options, `fwrl` runs in the comparison's configuration, `fwrl-paper` in the paper's, and a baseline in its
    tuned settings.

    >>> compared_agent("fwrl").options["backup"]
    'expected'
    >>> compared_agent("qlcat:learning_rate=0.25")
    AgentSpec(label='qlcat:learning_rate=0.25', name='qlcat', options={'learning_rate': 0.25})
    """
    name, colon, listed = text.partition(":")
    if name == ORACLE:
        return AgentSpec(ORACLE, ORACLE)
    if text == PAPER:
        return AgentSpec(PAPER, "fwrl", {"relaxation": "paper"})
    config = agent_class(name).Config
    if colon:
        options = dict(option_of(part) for part in listed.split(","))
    else:
        options = BEYOND if name == "fwrl" else tuned().get(name, {}).get("options", {})
    config.of(options)
    return AgentSpec(text, name, options)


def default_agents() -> list[str]:
    """FWRL, the paper's FWRL, and every baseline."""
    baselines = [name for name in agent_classes() if name not in ("fwrl", "random", "mbrl-straight")]
    return ["fwrl", PAPER, *baselines]


def option_of(text: str) -> tuple[str, Any]:
    """Parse NAME=VALUE; a value that isn't JSON is text.

    >>> option_of("learning_rate=0.5"), option_of("backup=expected")
    (('learning_rate', 0.5), ('backup', 'expected'))
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise OptionError(f"write an option as NAME=VALUE, not {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
