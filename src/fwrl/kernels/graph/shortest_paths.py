"""V(x, g) of every state x for one goal g, by one search backward from g over known edges.

    V(x, g) = max over edges x -> y of r(x, y) + V(y, g),   V(g, g) = 0,   -inf where no path is known

is a shortest path with costs -r. Three algorithms differ in the order in which they expand states; the costs of a graph
decide which one is used:

- breadth-first search, where all costs are equal: the first path found to a state is its best;
- Dial's buckets (Dial 1969; Denardo and Fox 1979), where costs are positive and of one order of magnitude. A bucket is
  a little narrower than the smallest cost, so its states cannot improve each other and are expanded in any order. A
  state that improves is added to the better bucket; its old entry is skipped, because V no longer falls into that
  bucket;
- Dijkstra's algorithm (1959) with a heap, where costs are zero or of any size.

All three add rewards from the goal backward, and rounding is monotone, so V is the same to the last bit. Rewards of
either sign are first made negative by a potential (see `potential`), which serves every goal.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import OptionError, PositiveCycleError
from fwrl.kernels.graph.heap import OPEN, Heap, empty_heap, pop, push
from fwrl.kernels.graph.incoming_csr import HIGHEST, LOWEST, IncomingCsr, reward_range
from fwrl.kernels.graph.potential import potential, reduce_rewards, unreduced
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import least_tie

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]

Order = Literal["breadth", "buckets", "heap"]
MOST_BUCKETS = 64  # with more, a heap is faster
NARROWER = 0.999  # width of a bucket as a part of the smallest cost; the rest covers rounding
UNSEEN = -1


class Routes(NamedTuple):
    """The next edge from every state to one goal: along `edge`, `steps` falls by one at a time.

    Of the paths that tie with the best, it is one with the fewest steps.
    """

    value: Floats  # (S,) V(x, g)
    steps: Indices  # (S,) 0 at the goal, -1 where no path is known
    edge: Indices  # (S,) index of the edge in the incoming edges, -1 at the goal and where no path is known


class Buckets(NamedTuple):
    """A ring of B stacks of states. The system allocates memory only for the parts that are used."""

    states: Indices  # (B, S)
    sizes: NDArray[np.int64]  # (B,)


class ShortestPaths:
    """Columns V(., g) over known edges, one backward search each. Not thread-safe: searches share scratch memory.

    >>> from fwrl.kernels.graph.incoming_csr import incoming_csr
    >>> edges, given = incoming_csr(4, source=[0, 1, 0], target=[1, 2, 2], reward=[-1.0, -1.0, -2.0])
    >>> paths = ShortestPaths(edges)
    >>> paths.column(goal=2)
    array([ -2.,  -1.,   0., -inf])
    >>> routes = paths.routes(goal=2)
    >>> routes.steps.tolist(), [int(given[e]) for e in routes.edge[:2]]
    ([1, 1, 0, -1], [2, 1])

    A positive cycle raises `PositiveCycleError`, whose `states` are the cycle. `h` is a potential, if one is known.
    """

    def __init__(self, edges: IncomingCsr, h: Floats | None = None) -> None:
        self.edges = edges
        lowest, highest = _range(edges, edges.reward)
        self._reward, self._h = edges.reward, None
        if highest > 0:
            self._h = _potential(edges) if h is None else h
            self._reward = np.empty_like(edges.reward)
            reduce_rewards(edges, self._h, self._reward)
            lowest, highest = _range(edges, self._reward)
        self._least_cost = -highest
        self.order: Order = _order(-highest, -lowest)
        S = edges.n_states
        self._queue: Indices = np.empty(S, np.int32)
        self._reduced: Floats = np.empty(0 if self._h is None else S)
        if self.order == "buckets":
            ring = int(lowest / (NARROWER * highest)) + 3
            self._buckets = Buckets(np.empty((ring, S), np.int32), np.zeros(ring, np.int64))
        elif self.order == "heap":
            self._heap = empty_heap(S)

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
            unreduced(self.edges, self._reward, self._reduced, goal, V, self._queue)
        return V

    def routes(self, goal: int) -> Routes:
        """V(., goal) and the next edge from every state."""
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
            dijkstra(first, source, self._reward, goal, V, self._heap)


def _potential(edges: IncomingCsr) -> Floats:
    h, cycle = potential(edges)
    if len(cycle):
        raise PositiveCycleError(
            f"the states {_listed(cycle)} form a positive cycle; check the sign of the rewards, and leave goal rewards "
            "out",
            states=tuple(map(int, cycle)),
        )
    return h


def _range(edges: IncomingCsr, reward: Floats) -> tuple[float, float]:
    extremes = np.empty(2)
    reward_range(edges, reward, extremes)
    return float(extremes[LOWEST]), float(extremes[HIGHEST])


def _order(low: float, high: float) -> Order:
    """The algorithm for edges that cost from `low` to `high`."""
    if low == high and low > 0:
        return "breadth"
    return "buckets" if 0 < high < (MOST_BUCKETS - 3) * NARROWER * low else "heap"


def _listed(states: Indices) -> str:
    some = [str(s) for s in states[:10]]
    return " -> ".join([*some, "..."] if len(states) > 10 else [*some, some[0]])


@compiled
def breadth_first(first: Indices, source: Indices, r: float, g: int, V: Floats, queue: Indices) -> None:
    """Fill V for edges that all have the reward `r`; `queue` (S,) is scratch.

    A sum that exceeds all floating-point numbers counts as no path.
    """
    V[:] = -np.inf
    V[g] = 0.0
    queue[0] = g
    head = 0
    tail = 1
    while head < tail:
        y = queue[head]
        head += 1
        through = r + V[y]
        if through == -np.inf:
            break
        for e in range(first[y], first[y + 1]):
            x = source[e]
            if V[x] == -np.inf:
                V[x] = through
                queue[tail] = x
                tail += 1


@compiled
def by_buckets(
    first: Indices, source: Indices, reward: Floats, width: float, g: int, V: Floats, buckets: Buckets
) -> None:
    """Fill V with buckets of `width`, which must be less than the cost of any edge between two states.

    The number of buckets must exceed the largest cost, in widths, by two.
    """
    V[:] = -np.inf
    V[g] = 0.0
    per_reward = -1.0 / width
    ring = len(buckets.sizes)
    buckets.sizes[:] = 0
    buckets.states[0, 0] = g
    buckets.sizes[0] = 1
    entries = 1
    number = 0
    while entries > 0:
        slot = number % ring
        bucket = buckets.states[slot]
        size = buckets.sizes[slot]
        entries -= size
        buckets.sizes[slot] = 0
        for i in range(size):
            y = bucket[i]
            here = V[y]
            if int(here * per_reward) != number:
                continue
            for e in range(first[y], first[y + 1]):
                x = source[e]
                through = reward[e] + here
                before = V[x]
                if through > before:
                    V[x] = through
                    better = int(through * per_reward)
                    if before == -np.inf or int(before * per_reward) != better:
                        put = better % ring
                        buckets.states[put, buckets.sizes[put]] = x
                        buckets.sizes[put] += 1
                        entries += 1
        number += 1


@compiled
def dijkstra(first: Indices, source: Indices, reward: Floats, g: int, V: Floats, heap: Heap) -> None:
    """Fill V for any rewards that are not positive; `heap` is empty before and after."""
    V[:] = -np.inf
    V[g] = 0.0
    push(heap, g, 0.0)
    while heap.size[OPEN] > 0:
        y = pop(heap)
        here = V[y]
        for e in range(first[y], first[y + 1]):
            x = source[e]
            through = reward[e] + here
            if through > V[x]:
                V[x] = through
                push(heap, x, through)


@compiled
def fewest_steps(edges: IncomingCsr, g: int, routes: Routes, queue: Indices) -> None:
    """Fill `routes.steps` and `routes.edge` by a breadth-first search over the edges that tie with the best."""
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
