"""What can be chosen at every state, and what it leads to.

The rows of a world's outcome table, one per (s, a), each with probabilities that sum to 1. A policy
is a table too: with one row per state. So the same equations answer "what is best?" and "what is
this policy worth?".

Three questions are settled on the graph of possible outcomes alone, before any number is solved
for: from where can a set of states be reached, in how many hops, and from where can it be reached
*surely* (with probability 1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from fwrl.errors import FwrlError
from fwrl.worlds.world import World

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Mdp:
    """S states of A rows; row k = s * A + a has the outcomes first[k] .. first[k + 1]."""

    n_states: int
    n_actions: int
    first: Ints  # (S * A + 1,)
    probability: Floats  # (K,)
    target: Ints  # (K,)
    reward: Floats  # (K,)

    @property
    def row(self) -> Ints:
        """(K,) the row that each outcome belongs to."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    def total(self, amounts: Floats) -> Floats:
        """(S, A) the sum of an amount per outcome, over each row."""
        sums: Floats = np.add.reduceat(amounts, self.first[:-1])
        return sums.reshape(self.n_states, self.n_actions)

    def expected(self, values: Floats) -> Floats:
        """(S, A) the mean of a finite value per state, over where each row leads."""
        return self.total(self.probability * values[self.target])

    def weighted(self, weights: Floats) -> Mdp:
        """The outcomes weighted by their target's weight; rows of no weight become impossible."""
        mass = self.probability * weights[self.target]
        sums = self.total(mass).ravel()[self.row]
        shares = np.divide(mass, sums, out=np.zeros_like(mass), where=sums > 0)
        return replace(self, probability=shares)

    def hops_to(self, ends: Mask, allowed: Mask) -> Floats:
        """(S,) fewest steps that can enter `ends` (S,) by `allowed` (S, A) rows; inf: none can."""
        if not ends.any():
            return np.full(self.n_states, np.inf)
        row = self.row
        possible = allowed.ravel()[row] & (self.probability > 0)
        source, target = row[possible] // self.n_actions, self.target[possible]
        shape = (self.n_states, self.n_states)
        backward = csr_array((np.ones(len(source)), (target, source)), shape=shape)
        hops: Floats = dijkstra(backward, indices=np.flatnonzero(ends), unweighted=True, min_only=True)
        return hops

    def chosen_by(self, policy: Ints) -> Mask:
        """(S, A) the rows that a policy (S,) takes."""
        taken: Mask = policy[:, None] == np.arange(self.n_actions)
        return taken

    def staying_in(self, states: Mask) -> Mask:
        """(S, A) the rows whose every possible outcome is one of `states`."""
        leaving = np.where(states, 0.0, 1.0)
        stays: Mask = self.expected(leaving) == 0
        return stays

    def sure_to_reach(self, ends: Mask) -> Mask:
        """(S,) from where some policy enters `ends` with probability 1.

        It is the largest set of states that reach `ends` by rows that never leave the set.
        """
        sure = np.ones(self.n_states, dtype=np.bool_)
        while True:
            reached = np.isfinite(self.hops_to(ends, self.staying_in(sure)))
            if np.array_equal(reached, sure):
                return sure
            sure = reached

    def proper_policy(self, ends: Mask, allowed: Mask) -> Ints:
        """(S,) the lowest allowed action that can come a hop nearer to `ends`; 0 where none can.

        Following it enters `ends` with probability 1 from wherever its outcomes stay among the
        states that can: every S steps there is a chance of arriving, so no loop is for ever,
        whatever it pays.
        """
        hops = self.hops_to(ends, allowed)
        reach = np.where(self.probability > 0, hops[self.target], np.inf)
        nearest = np.minimum.reduceat(reach, self.first[:-1]).reshape(allowed.shape)
        lowest: Ints = np.argmax(allowed & (nearest < hops[:, None]), axis=1)
        return lowest


def mdp_of(world: World) -> Mdp:
    """Every (state, action) of a world."""
    T = world.tables
    return _normalised(world.n_states, world.n_actions, T.first, T.probability, T.next_state, T.reward)


def induced_chain(world: World, policy: ArrayLike) -> Mdp:
    """The one row per state that remains when `policy` has chosen."""
    chances = policy_chances(world, policy)
    T = world.tables
    row = np.repeat(np.arange(chances.size), np.diff(T.first))
    probability = T.probability * chances.ravel()[row]
    return _normalised(world.n_states, 1, T.first[:: world.n_actions], probability, T.next_state, T.reward)


def policy_chances(world: World, policy: ArrayLike) -> Floats:
    """(S, A) how likely each action is under (S,) actions or (S, A) probabilities."""
    S, A = world.n_states, world.n_actions
    given = np.asarray(policy)
    if given.shape == (S,) and np.issubdtype(given.dtype, np.integer):
        if given.min() < 0 or given.max() >= A:
            raise FwrlError(f"expected actions from 0 to {A - 1}, the policy has {given.min()} to {given.max()}")
        chosen: Floats = np.eye(A)[given]
        return chosen
    if given.shape == (S, A):
        chances = given.astype(np.float64)
        if not (np.all(chances >= 0) and np.allclose(chances.sum(axis=1), 1, rtol=0, atol=1e-9)):
            raise FwrlError("expected a policy whose rows are probabilities that sum to 1")
        return chances
    raise FwrlError(
        f"expected a policy of {S} integer actions or of ({S}, {A}) probabilities,"
        f" got {given.dtype} of shape {given.shape}"
    )


def goal_mask(world: World, goal: int) -> Mask:
    """(S,) true at the goal alone."""
    if not 0 <= goal < world.n_states:
        raise FwrlError(f"expected a goal from 0 to {world.n_states - 1}, got {goal}")
    end: Mask = np.arange(world.n_states) == goal
    return end


def _normalised(S: int, A: int, first: Ints, probability: Floats, target: Ints, reward: Floats) -> Mdp:
    raw = Mdp(S, A, first, probability, target, reward)
    return replace(raw, probability=probability / raw.total(probability).ravel()[raw.row])
