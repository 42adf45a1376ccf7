"""Lower confidence bounds of a counted model: only what observations confirm.

An outcome seen k times in n tries has at least the probability

    L(k, n) = the quantile 1 - c of the distribution Beta(k, n - k + 1),      L(n, n) = (1 - c)^(1 / n)

with confidence c, for any true probability (Clopper and Pearson 1934). The cautious model gives every outcome this
probability, and the rest of an action's probability to one extra state that nothing leaves. For c >= 1/2, L is
superadditive in k: the outcomes of a pair within a set of states get no more in total than the bound for the set. So
for every pair and every set of next states, the model's probability of the set is at most the true one, with
confidence c.

If arriving comes first, the rest is lost: the worst case for the probability of arriving. For the reward given arrival
we assume that the action must be repeated: with q the sum over the outcomes of a pair, a negative reward becomes r / q
and a positive one q r. If giving up is allowed at a cost, no state has a lower value than that; the rest pays this cost
in full, plus the worst reward of the action's outcomes, so no outcome is worse.

More observations in the same proportions raise every bound. The confidence holds for each action: the bound for a
policy combines those of its actions.
"""

from __future__ import annotations

import numpy as np

from fwrl.arrays import Floats
from fwrl.kernels.mdp.counts import Outcomes, outcomes_of

LEAST = 1e-300  # smallest bound, because the model needs positive numbers


def lower_bounds(times: Floats, tries: Floats, confidence: float) -> Floats:
    """Return L(times, tries) of each outcome, from 0 to 1; `tries` is at least `times`."""
    from scipy.special import betaincinv

    different, which = np.unique(np.stack([times, tries]), axis=1, return_inverse=True)
    bounds = betaincinv(different[0], different[1] - different[0] + 1.0, 1.0 - confidence)
    found: Floats = np.clip(bounds, LEAST, 1.0)[which.reshape(-1)]
    return found


def cautious(outcomes: Outcomes, confidence: float, repeated: bool) -> Outcomes:
    """Return the cautious model of S + 1 states; pairs keep their numbers, and state S must be closed.

    Each pair gets one more outcome, which goes to the state S.

    Args:
        confidence: from 1/2 to less than 1.
        repeated: whether rewards are those of an action that must be repeated; otherwise as in the model.
    """
    S, K = outcomes.n_states, len(outcomes.source)
    tries = np.bincount(outcomes.pair, outcomes.times, K).astype(np.float64)
    bound = lower_bounds(outcomes.times, tries[outcomes.pair], confidence)
    confirmed = np.minimum(np.bincount(outcomes.pair, bound, K), 1.0)
    worst = np.full(K, np.inf)
    np.minimum.at(worst, outcomes.pair, outcomes.reward)
    reward = outcomes.reward
    if repeated:
        q = confirmed[outcomes.pair]
        reward = np.where(reward < 0.0, reward / q, reward * q)
    lost = np.flatnonzero(confirmed < 1.0)
    pair = np.concatenate([outcomes.pair, lost])
    order = np.argsort(pair, kind="stable")
    target = np.concatenate([outcomes.target, np.full(len(lost), S)])
    times = np.concatenate([bound, 1.0 - confirmed[lost]])
    rewards = np.concatenate([reward, worst[lost]])
    return outcomes_of(S + 1, outcomes.source, pair[order], target[order], times[order], rewards[order])
