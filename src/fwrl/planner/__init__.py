"""Plans routes from logs of past trips, and explains them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fwrl.planner.experience import Evidence, Experience, LogSummary
    from fwrl.planner.explanation import ExplainedStep, Explanation
    from fwrl.planner.fitting import fit
    from fwrl.planner.ingest.errors import LogError
    from fwrl.planner.planner import Planner
    from fwrl.planner.policy import Policy
    from fwrl.planner.positions import read_positions
    from fwrl.planner.quantiles import CostQuantile, CostQuantiles
    from fwrl.planner.questions import CostMatrix, ReachedPlace
    from fwrl.planner.route import Route, RouteStep
    from fwrl.planner.unreachable import NoRouteError

# Imported on first use: a route from a saved planner needs nothing of what reads logs.
_HOME = {
    "CostMatrix": "questions",
    "CostQuantile": "quantiles",
    "CostQuantiles": "quantiles",
    "Evidence": "experience",
    "Experience": "experience",
    "Explanation": "explanation",
    "ExplainedStep": "explanation",
    "LogError": "ingest.errors",
    "LogSummary": "experience",
    "NoRouteError": "unreachable",
    "Planner": "planner",
    "Policy": "policy",
    "ReachedPlace": "questions",
    "Route": "route",
    "RouteStep": "route",
    "fit": "fitting",
    "read_positions": "positions",
}

__all__ = [
    "CostMatrix",
    "CostQuantile",
    "CostQuantiles",
    "Evidence",
    "Experience",
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
    "fit",
    "read_positions",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'fwrl.planner' has no attribute {name!r}")
    return getattr(importlib.import_module(f"fwrl.planner.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
