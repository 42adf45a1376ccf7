"""From logs of past trips to routes and their reasons."""

from fwrl.planner.experience import Experience, Summary
from fwrl.planner.explanation import Explanation
from fwrl.planner.fitting import fit
from fwrl.planner.planner import Planner, Policy
from fwrl.planner.positions import read_positions
from fwrl.planner.route import Route, Step
from fwrl.planner.unreachable import NoRouteError

__all__ = [
    "Experience",
    "Explanation",
    "NoRouteError",
    "Planner",
    "Policy",
    "Route",
    "Step",
    "Summary",
    "fit",
    "read_positions",
]
