"""Cast: who may take a side: every agent there is, and FWRL with its options beyond the paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from fwrl.agents import agent_class, agent_names, make_agent
from fwrl.agents.agent import Agent
from fwrl.errors import unknown_name
from fwrl.experiment.contenders import BEYOND


class Variant(NamedTuple):
    """FWRL with some options."""

    options: Mapping[str, Any]
    description: str


VARIANTS = {
    "fwrl-expected": Variant({"backup": "expected"}, "FWRL on the mean of all outcomes seen: not fooled by the wind"),
    "fwrl-optimistic": Variant({"explorer": "optimistic"}, "FWRL that heads for what it has never tried"),
    "fwrl-beyond": Variant(BEYOND, "FWRL on the mean of all outcomes, heading for what it has never tried"),
}


def cast() -> dict[str, str]:
    """Everybody who may take a side, and what they are.

    >>> list(cast())[:5]
    ['fwrl', 'fwrl-expected', 'fwrl-optimistic', 'fwrl-beyond', 'ql']
    """
    described = {name: agent_class(name).description for name in agent_names()}
    variants = {name: variant.description for name, variant in VARIANTS.items()}
    return {"fwrl": described.pop("fwrl"), **variants, **described}


def cast_agent(name: str, n_states: int, n_actions: int, seed: int) -> Agent:
    """The agent of this name, new."""
    if name in VARIANTS:
        return make_agent("fwrl", n_states, n_actions, seed, **VARIANTS[name].options)
    if name not in agent_names():
        raise unknown_name("agent", name[:60], cast())
    return make_agent(name, n_states, n_actions, seed)
