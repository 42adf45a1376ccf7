"""From logs of past trips to routes and their reasons."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fwrl.planner.experience import Evidence, Experience, LogSummary
    from fwrl.planner.explanation import Explanation
    from fwrl.planner.fitting import fit
    from fwrl.planner.planner import Planner, Policy
    from fwrl.planner.positions import read_positions
    from fwrl.planner.route import Route, RouteStep
    from fwrl.planner.unreachable import NoRouteError

# Everything is imported on first use: a route from a saved planner needs nothing of what reads logs.
_HOME = {
    "Evidence": "experience",
    "Experience": "experience",
    "Explanation": "explanation",
    "NoRouteError": "unreachable",
    "Planner": "planner",
    "Policy": "planner",
    "Route": "route",
    "RouteStep": "route",
    "LogSummary": "experience",
    "fit": "fitting",
    "read_positions": "positions",
}

__all__ = [
    "Evidence",
    "Experience",
    "Explanation",
    "LogSummary",
    "NoRouteError",
    "Planner",
    "Policy",
    "Route",
    "RouteStep",
    "fit",
    "read_positions",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'fwrl.planner' has no attribute {name!r}")
    return getattr(importlib.import_module(f"fwrl.planner.{_HOME[name]}"), name)
