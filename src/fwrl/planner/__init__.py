"""Plans routes from logs of past trips, and explains them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fwrl.planner.explanation import ExplainedStep, Explanation
    from fwrl.planner.fitting import fit
    from fwrl.planner.ingest.read_options import LogError
    from fwrl.planner.places import read_positions
    from fwrl.planner.planner import Planner
    from fwrl.planner.policy import Policy
    from fwrl.planner.questions import CostMatrix, CostQuantile, CostQuantiles, ReachedPlace
    from fwrl.planner.route import Route, RouteStep
    from fwrl.planner.transition_counts import Evidence, LogSummary, TransitionCounts
    from fwrl.planner.weak_spots import NoRouteError

# Imported on first use: a route from a saved planner needs nothing of what reads logs.
_HOME = {
    "CostMatrix": "questions",
    "CostQuantile": "questions",
    "CostQuantiles": "questions",
    "Evidence": "transition_counts",
    "ExplainedStep": "explanation",
    "Explanation": "explanation",
    "LogError": "ingest.read_options",
    "LogSummary": "transition_counts",
    "NoRouteError": "weak_spots",
    "Planner": "planner",
    "Policy": "policy",
    "ReachedPlace": "questions",
    "Route": "route",
    "RouteStep": "route",
    "TransitionCounts": "transition_counts",
    "fit": "fitting",
    "read_positions": "places",
}

__all__ = [
    "CostMatrix",
    "CostQuantile",
    "CostQuantiles",
    "Evidence",
    "ExplainedStep",
    "Explanation",
    "LogError",
    "LogSummary",
    "NoRouteError",
    "Planner",
    "Policy",
    "ReachedPlace",
    "Route",
    "RouteStep",
    "TransitionCounts",
    "fit",
    "read_positions",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'fwrl.planner' has no attribute {name!r}")
    return getattr(importlib.import_module(f"fwrl.planner.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
