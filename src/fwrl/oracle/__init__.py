"""The exact optimum of a known world and the exact worth of a policy, in NumPy and SciPy only.

Nothing here is compiled or shares code with the agents' kernels: it is the independent answer they
are tested against, and what regret is measured from.
"""

from fwrl.oracle.evaluation import Evaluation, evaluate, path_function
from fwrl.oracle.finality import by_final_state, q_from_f
from fwrl.oracle.optimum import Optimum, optimum
from fwrl.oracle.player import OraclePlayer
from fwrl.oracle.returns import optimal_return

__all__ = [
    "Evaluation",
    "Optimum",
    "OraclePlayer",
    "by_final_state",
    "evaluate",
    "optimal_return",
    "optimum",
    "path_function",
    "q_from_f",
]
