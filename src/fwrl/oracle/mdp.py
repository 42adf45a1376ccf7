"""The MDP of a world, and the Markov chain that a policy induces, in one representation.

Each (s, a) is one row of outcomes whose probabilities sum to 1. A policy reduces the MDP to a chain with one row per
state, so the same equations find the optimum and evaluate a policy.

Three questions depend only on the graph of possible outcomes, not on the numbers: which states can reach a set, in how
many steps, and which reach it with probability 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from fwrl.arrays import Floats, Ints
from fwrl.errors import FwrlError
from fwrl.worlds.world import World

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Mdp:
    """S states with A rows each; the outcomes of row k = s * A + a are first[k] .. first[k + 1] - 1."""

    n_states: int
    n_actions: int
    first: Ints  # (S * A + 1,)
    probability: Floats  # (K,)
    target: Ints  # (K,) next states
    reward: Floats  # (K,)

    @property
    def row(self) -> Ints:
        """(K,) the row that each outcome belongs to."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    def total(self, amounts: Floats) -> Floats:
        """(S, A) the sum of `amounts` (K,) over the outcomes of each row."""
        sums: Floats = np.add.reduceat(amounts, self.first[:-1])
        return sums.reshape(self.n_states, self.n_actions)

    def expected(self, values: Floats) -> Floats:
        """(S, A) the mean of `values` (S,), all finite, over the next states of each row."""
        return self.total(self.probability * values[self.target])

    def weighted(self, weights: Floats) -> Mdp:
        """Reweight outcomes by the `weights` (S,) of their targets; rows of weight 0 become all 0."""
        mass = self.probability * weights[self.target]
        sums = self.total(mass).ravel()[self.row]
        shares = np.divide(mass, sums, out=np.zeros_like(mass), where=sums > 0)
        return replace(self, probability=shares)

    def hops_to(self, ends: Mask, allowed: Mask) -> Floats:
        """(S,) the fewest steps in which `allowed` (S, A) rows can enter `ends` (S,); inf if they can't."""
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
        """(S, A) mask of the rows that `policy` (S,) takes."""
        taken: Mask = policy[:, None] == np.arange(self.n_actions)
        return taken

    def staying_in(self, states: Mask) -> Mask:
        """(S, A) mask of the rows whose possible outcomes are all in `states` (S,)."""
        leaving = np.where(states, 0.0, 1.0)
        stays: Mask = self.expected(leaving) == 0
        return stays

    def sure_to_reach(self, ends: Mask) -> Mask:
        """(S,) mask of the states from which some policy enters `ends` with probability 1.

        This is the largest set of states that can reach `ends` by rows that never leave the set.
        """
        sure = np.ones(self.n_states, dtype=np.bool_)
        while True:
            reached = np.isfinite(self.hops_to(ends, self.staying_in(sure)))
            if np.array_equal(reached, sure):
                return sure
            sure = reached

    def proper_policy(self, ends: Mask, allowed: Mask) -> Ints:
        """(S,) the lowest allowed action that can get one step closer to `ends`; 0 if none can.

        The policy is proper: as long as its outcomes stay among states that can reach `ends`, every S steps have a
        positive probability of entering it, so it's entered with probability 1.
        """
        hops = self.hops_to(ends, allowed)
        reach = np.where(self.probability > 0, hops[self.target], np.inf)
        nearest = np.minimum.reduceat(reach, self.first[:-1]).reshape(allowed.shape)
        lowest: Ints = np.argmax(allowed & (nearest < hops[:, None]), axis=1)
        return lowest


def mdp_of(world: World) -> Mdp:
    """Return the MDP of a world."""
    T = world.tables
    return _normalised(world.n_states, world.n_actions, T.first, T.probability, T.next_state, T.reward)


def induced_chain(world: World, policy: ArrayLike) -> Mdp:
    """Return the Markov chain under `policy`, (S,) actions or (S, A) probabilities: one row per state."""
    pi = policy_probabilities(world, policy)
    T = world.tables
    row = np.repeat(np.arange(pi.size), np.diff(T.first))
    probability = T.probability * pi.ravel()[row]
    return _normalised(world.n_states, 1, T.first[:: world.n_actions], probability, T.next_state, T.reward)


def policy_probabilities(world: World, policy: ArrayLike) -> Floats:
    """(S, A) the probability of each action under `policy`, (S,) actions or (S, A) probabilities."""
    S, A = world.n_states, world.n_actions
    given = np.asarray(policy)
    if given.shape == (S,) and np.issubdtype(given.dtype, np.integer):
        if given.min() < 0 or given.max() >= A:
            raise FwrlError(f"expected actions from 0 to {A - 1} in the policy, got {given.min()} to {given.max()}")
        chosen: Floats = np.eye(A)[given]
        return chosen
    if given.shape == (S, A):
        probabilities = given.astype(np.float64)
        if not (np.all(probabilities >= 0) and np.allclose(probabilities.sum(axis=1), 1, rtol=0, atol=1e-9)):
            raise FwrlError("each row of a policy must be probabilities that sum to 1")
        return probabilities
    raise FwrlError(
        f"expected a policy of {S} integer actions or of ({S}, {A}) probabilities,"
        f" got {given.dtype} of shape {given.shape}"
    )


def goal_mask(world: World, goal: int) -> Mask:
    """(S,) mask that's true only at the goal."""
    if not 0 <= goal < world.n_states:
        raise FwrlError(f"expected a goal from 0 to {world.n_states - 1}, got {goal}")
    end: Mask = np.arange(world.n_states) == goal
    return end


def _normalised(S: int, A: int, first: Ints, probability: Floats, target: Ints, reward: Floats) -> Mdp:
    raw = Mdp(S, A, first, probability, target, reward)
    return replace(raw, probability=probability / raw.total(probability).ravel()[raw.row])
