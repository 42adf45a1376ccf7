"""The contenders of a league: FWRL in one configuration fixed beforehand, and rivals in their tuned settings.

`python -m benchmarks.tune` found the rivals' settings on seeds that no league uses; tuned.json has them.
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
    """The record of `python -m benchmarks.tune`: the best options of each agent, and their score."""
    text = files("fwrl.experiment").joinpath(RECORD).read_text(encoding="utf-8")
    found: dict[str, dict[str, Any]] = json.loads(text)["agents"]
    return found


def contender(text: str) -> AgentSpec:
    """The agent described by NAME or NAME:OPTION=VALUE,...

    Without options, `fwrl` is the configuration fixed beforehand, `fwrl-paper` the paper's, and a rival has its tuned
    settings.

    >>> contender("fwrl").options["backup"]
    'expected'
    >>> contender("qlcat:learning_rate=0.25")
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


def default_contenders() -> list[str]:
    """FWRL, the paper's FWRL, and every rival."""
    rivals = [name for name in agent_classes() if name not in ("fwrl", "random", "mbrl-straight")]
    return ["fwrl", PAPER, *rivals]


def option_of(text: str) -> tuple[str, Any]:
    """The name and the value of an option given as text.

    >>> option_of("learning_rate=0.5"), option_of("backup=expected")
    (('learning_rate', 0.5), ('backup', 'expected'))
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise OptionError(f"expected an option as NAME=VALUE, got {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
