"""The exact optimum of a known world and the exact evaluation of a policy, in NumPy and SciPy only.

The package shares no compiled code with the agents, and import-linter checks that. Tests compare the
agents with it, and regret is measured against it.
"""

from fwrl.oracle.evaluation import Evaluation, evaluate, path_function
from fwrl.oracle.finality import by_final_state, q_from_f
from fwrl.oracle.first_passage import mean_first_passage
from fwrl.oracle.optimum import Optimum, optimum
from fwrl.oracle.returns import optimal_return

__all__ = [
    "Evaluation",
    "Optimum",
    "by_final_state",
    "evaluate",
    "mean_first_passage",
    "optimal_return",
    "optimum",
    "path_function",
    "q_from_f",
]
