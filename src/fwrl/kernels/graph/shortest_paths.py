"""V(x, g) of every state x for one goal g, by one backward search over known edges.

    V(x, g) = max over edges x -> y of r(x, y) + V(y, g),   V(g, g) = 0,   -inf where no path is known

is a shortest path with costs -r. The order of the search is chosen once for a graph by its costs (see `frontier`);
rewards of either sign are first made negative by a potential (see `potential`), which serves every goal.

`ShortestPaths` is the way in. It owns the room that its searches need, so it is for one thread at a time.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import OptionError, PositiveCycleError
from fwrl.kernels.graph.incoming_csr import IncomingCsr
from fwrl.kernels.graph.potential import potential
from fwrl.kernels.graph.search_orders import Buckets, LazyHeap, breadth_first, by_buckets, by_heap
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import least_tie

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]

Order = Literal["breadth", "buckets", "heap"]
LONGEST_RING = 64  # buckets; beyond, a heap is faster
NARROWER = 0.999  # width of a bucket as a part of the smallest cost: what rounding cannot bridge
UNSEEN = -1


class Routes(NamedTuple):
    """The way on from every state to one goal: following `edge`, `steps` falls by one each time.

    Of the paths that tie with the best, it is one with the fewest steps.
    """

    value: Floats  # (S,) V(x, g)
    steps: Indices  # (S,) 0 at the goal, -1 where no path is known
    edge: Indices  # (S,) place of the edge among the incoming edges, -1 at the goal and where no path is known


class ShortestPaths:
    """Columns V(., g) over known edges, one backward search each.

    >>> from fwrl.kernels.graph.incoming_csr import incoming_csr
    >>> edges, given = incoming_csr(4, source=[0, 1, 0], target=[1, 2, 2], reward=[-1.0, -1.0, -2.0])
    >>> search = ShortestPaths(edges)
    >>> search.column(goal=2)
    array([ -2.,  -1.,   0., -inf])
    >>> routes = search.routes(goal=2)
    >>> routes.steps.tolist(), [int(given[e]) for e in routes.edge[:2]]
    ([1, 1, 0, -1], [2, 1])

    A positive cycle is a `PositiveCycleError`, whose `states` go round it. Whoever has the potential already
    gives it as `h`.
    """

    def __init__(self, edges: IncomingCsr, h: Floats | None = None) -> None:
        self.edges = edges
        least, most = _reward_range(edges, edges.reward)
        self._reward, self._h = edges.reward, None
        if most > 0:
            self._h = _potential(edges) if h is None else h
            self._reward = np.empty_like(edges.reward)
            reduce_rewards(edges, self._h, self._reward)
            least, most = _reward_range(edges, self._reward)
        self._least_cost = -most
        self.order: Order = _order(-most, -least)
        S, E = edges.n_states, len(edges.source)
        self._queue: Indices = np.empty(S, np.int32)
        self._reduced: Floats = np.empty(0 if self._h is None else S)
        if self.order == "buckets":
            ring = int(least / (NARROWER * most)) + 3
            self._buckets = Buckets(np.empty((ring, S), np.int32), np.zeros(ring, np.int64))
        elif self.order == "heap":
            self._heap = LazyHeap(np.empty(E + 1, np.int32), np.empty(E + 1))

    def column(self, goal: int, out: Floats | None = None) -> Floats:
        """(S,) V(., goal), in `out` if given."""
        S = self.edges.n_states
        if not 0 <= goal < S:
            raise OptionError(f"expected a goal from 0 to {S - 1}, got {goal}")
        V = np.empty(S) if out is None else out
        if self._h is None:
            self._fill(goal, V)
        else:
            self._fill(goal, self._reduced)
            unfold(self.edges, self._reward, self._reduced, goal, V, self._queue)
        return V

    def routes(self, goal: int) -> Routes:
        """V(., goal) and the way on from every state."""
        S = self.edges.n_states
        routes = Routes(self.column(goal), np.empty(S, np.int32), np.empty(S, np.int32))
        fewest_steps(self.edges, goal, routes, self._queue)
        return routes

    def _fill(self, goal: int, V: Floats) -> None:
        first, source = self.edges.first, self.edges.source
        if self.order == "breadth":
            breadth_first(first, source, -self._least_cost, goal, V, self._queue)
        elif self.order == "buckets":
            by_buckets(first, source, self._reward, NARROWER * self._least_cost, goal, V, self._buckets)
        else:
            by_heap(first, source, self._reward, goal, V, self._heap)


def _potential(edges: IncomingCsr) -> Floats:
    h, cycle = potential(edges)
    if len(cycle):
        raise PositiveCycleError(
            f"expected no cycle that gains reward, but the states {_listed(cycle)} are one; check the sign of the "
            "rewards, and leave goal rewards out",
            states=tuple(map(int, cycle)),
        )
    return h


def _reward_range(edges: IncomingCsr, reward: Floats) -> tuple[float, float]:
    extremes = np.empty(2)
    reward_range(edges, reward, extremes)
    return float(extremes[0]), float(extremes[1])


def _order(low: float, high: float) -> Order:
    """How to search edges that cost from `low` to `high`."""
    if low == high and low > 0:
        return "breadth"
    return "buckets" if 0 < high < (LONGEST_RING - 3) * NARROWER * low else "heap"


def _listed(states: Indices) -> str:
    some = [str(s) for s in states[:10]]
    return " -> ".join([*some, "..."] if len(states) > 10 else [*some, some[0]])


@compiled
def reward_range(edges: IncomingCsr, reward: Floats, extremes: Floats) -> None:
    """The smallest and the largest reward of an edge between two states, and the largest of any if it gains.

    A loop that loses is on no best path, so it must not narrow the choice of a search; without edges both are -1.
    """
    low = np.inf
    high = -np.inf
    for y in range(len(edges.first) - 1):
        for e in range(edges.first[y], edges.first[y + 1]):
            r = reward[e]
            if edges.source[e] != y:
                low = min(low, r)
                high = max(high, r)
            elif r > 0.0:
                high = max(high, r)
    extremes[0] = low if low < np.inf else -1.0
    extremes[1] = high if high > -np.inf else -1.0


@compiled
def reduce_rewards(edges: IncomingCsr, h: Floats, reduced: Floats) -> None:
    """r(x, y) + h(y) - h(x) <= 0; what rounding takes above 0 is 0."""
    for y in range(len(h)):
        for e in range(edges.first[y], edges.first[y + 1]):
            reduced[e] = min(0.0, edges.reward[e] + h[y] - h[edges.source[e]])


@compiled
def unfold(edges: IncomingCsr, reward: Floats, reduced: Floats, g: int, V: Floats, queue: Indices) -> None:
    """V by adding up rewards along the paths that are best in `reduced`, the column by reduced rewards.

    An edge is on one of them where it gives its source's value to the last bit; every value came by such an edge.
    """
    V[:] = -np.inf
    V[g] = 0.0
    queue[0] = g
    head = 0
    tail = 1
    while head < tail:
        y = queue[head]
        head += 1
        for e in range(edges.first[y], edges.first[y + 1]):
            x = edges.source[e]
            if V[x] == -np.inf and reward[e] + reduced[y] == reduced[x]:
                V[x] = edges.reward[e] + V[y]
                queue[tail] = x
                tail += 1


@compiled
def fewest_steps(edges: IncomingCsr, g: int, routes: Routes, queue: Indices) -> None:
    """Breadth first over the edges that tie with the best: fill `routes.steps` and `routes.edge`."""
    V, steps, edge = routes
    steps[:] = UNSEEN
    edge[:] = UNSEEN
    steps[g] = 0
    queue[0] = g
    head = 0
    tail = 1
    while head < tail:
        y = queue[head]
        head += 1
        for e in range(edges.first[y], edges.first[y + 1]):
            x = edges.source[e]
            if steps[x] == UNSEEN and edges.reward[e] + V[y] >= least_tie(V[x]):
                steps[x] = steps[y] + 1
                edge[x] = e
                queue[tail] = x
                tail += 1
