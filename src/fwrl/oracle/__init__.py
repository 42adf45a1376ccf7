"""The exact optimum of a known world and the exact evaluation of a policy, using only NumPy and SciPy.

The package shares no compiled code with the agents; import-linter checks that. Tests compare the agents with it, and
regret is measured against it.
"""

from fwrl.oracle.episode import Protocol, best_episode, best_episode_policy, episode_reward
from fwrl.oracle.evaluation import Evaluation, evaluate, path_function
from fwrl.oracle.f_and_q import by_final_state, q_from_f
from fwrl.oracle.first_passage import mean_first_passage
from fwrl.oracle.optimum import Optimum, optimum
from fwrl.oracle.rate import Rate, best_rate
from fwrl.oracle.returns import optimal_return

__all__ = [
    "Evaluation",
    "Optimum",
    "Protocol",
    "Rate",
    "best_episode",
    "best_episode_policy",
    "best_rate",
    "by_final_state",
    "episode_reward",
    "evaluate",
    "mean_first_passage",
    "optimal_return",
    "optimum",
    "path_function",
    "q_from_f",
]
