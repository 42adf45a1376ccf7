"""V(x, g) of every state x for one goal g, by one search backward from g over known edges.

    V(x, g) = max over edges x -> y of r(x, y) + V(y, g),   V(g, g) = 0,   -inf if no path is known

    is a shortest-path problem with costs -r. Three algorithms differ in the order in which they expand states; the
    costs of a graph decide which one we use:

- breadth-first search, if all costs are equal: the first path found to a state is its best;
- Dial's buckets (Dial 1969; Denardo and Fox 1979), if costs are positive and of similar size. A bucket is a
  little narrower than the smallest cost, so its states can't improve each other and are expanded in any order. A
  state that improves is added to the better bucket; its old entry is skipped, because V no longer falls into that
  bucket;
- wide buckets (Meyer and Sanders 2003), if costs vary widely and few edges cost less than a bucket is wide: at most
  half as many as states, so chains of them are short. A state that improves after its expansion is expanded again;
- Dijkstra's algorithm (1959) with a heap, if many edges cost next to nothing compared with others.

All three add rewards from the goal backward, and rounding is monotone, so V is the same to the last bit. Rewards of
either sign are first made negative by a potential, which works for every goal: see `potential`.

Edges are stored in compressed sparse rows by target, the order in which a backward search reads them. The edges into y
are those from `first[y]` up to `first[y + 1]`; each has its source x and its reward. Indices have 32 bits: a search is
limited by memory bandwidth, and this halves the traffic.

The potential (Johnson 1977): h(x) is the largest reward that a path from x can collect, an empty path included. Then
h(x) >= r(x, y) + h(y) for every edge x -> y, so for the reduced rewards

    r(x, y) + h(y) - h(x) <= 0

and all paths from x to y change by the same h(y) - h(x). h exists unless there's a positive cycle. We compute it by
raising states from a queue (Bellman 1958, Ford 1956, Moore 1959), starting at the targets of positive rewards. Each
state stores the edge that raised it last; if those edges form a cycle, the cycle is positive.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwrl.arrays import Floats, Indices, empty
from fwrl.errors import OptionError, PositiveCycleError
from fwrl.kernels.heap import OPEN, Heap, pop, push
from fwrl.kernels.jit import compiled, widened
from fwrl.kernels.ties import LEAST_GAIN, least_tie

INDEX_LIMIT = 2**31 - 1  # states or edges
LOWEST, HIGHEST = 0, 1  # of a range of rewards


class IncomingCsr(NamedTuple):
    """E edges over S states, grouped by target."""

    first: Indices  # (S + 1,)
    source: Indices  # (E,)
    reward: Floats  # (E,)

    @property
    def n_states(self) -> int:
        """S."""
        return len(self.first) - 1


def incoming_csr(
    n_states: int, source: ArrayLike, target: ArrayLike, reward: ArrayLike
) -> tuple[IncomingCsr, NDArray[np.int32]]:
    """Group the edges by target; also return the index of each in the given lists. Order is kept within a group.

    >>> edges, given = incoming_csr(3, source=[0, 1, 0], target=[2, 1, 1], reward=[-1.0, -2.0, -3.0])
    >>> edges.first.tolist(), edges.source.tolist(), given.tolist()
    ([0, 0, 2, 3], [1, 0, 0], [1, 2, 0])
    """
    sources, targets = np.ascontiguousarray(source, np.int32), np.ascontiguousarray(target, np.int32)
    rewards = np.ascontiguousarray(reward, np.float64)
    E = len(sources)
    if not E == len(targets) == len(rewards):
        raise OptionError(
            "each edge needs a source, a target and a reward, got "
            f"{E} sources, {len(targets)} targets, {len(rewards)} rewards"
        )
    if max(n_states, E) > INDEX_LIMIT:
        raise OptionError(f"expected at most {INDEX_LIMIT:,} states and edges, got {n_states:,} and {E:,}")
    for states, what in ((sources, "sources"), (targets, "targets")):
        if len(states) and not (states.min() >= 0 and states.max() < n_states):
            raise OptionError(f"expected {what} from 0 to {n_states - 1}, got {states.min()} to {states.max()}")
    first, given = sorted_by(targets, n_states)
    return IncomingCsr(first, sources[given], rewards[given]), given


def sorted_by(key: Indices, n_keys: int) -> tuple[Indices, Indices]:
    """Sort entries by key, stably.

    Returns:
        (n_keys + 1,) the position of the first entry of each key, and (E,) the entries in order.
    """
    first, order = np.zeros(n_keys + 1, np.int32), np.empty(len(key), np.int32)
    counting_sort(key, first, order)
    return first, order


@compiled
def counting_sort(key: Indices, first: Indices, order: Indices) -> None:
    """Fill the two results of `sorted_by`; `first` must be zero on entry."""
    S = len(first) - 1
    for e in range(len(key)):
        first[key[e] + 1] += 1
    for y in range(S):
        first[y + 1] += first[y]
    # first[y] moves to the end of its group as the group fills; after that every group's end is the next one's start.
    for e in range(len(key)):
        y = key[e]
        order[first[y]] = e
        first[y] += 1
    for y in range(S, 0, -1):
        first[y] = first[y - 1]
    first[0] = 0


@compiled
def reward_range(edges: IncomingCsr, reward: Floats, extremes: Floats) -> None:
    """Fill `extremes` (2,): the LOWEST and the HIGHEST reward of an edge between two states; -1 without any.

    A loop x -> x counts only if its reward is positive: others are on no best path, and must not widen the range.
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
    extremes[LOWEST] = low if low < np.inf else -1.0
    extremes[HIGHEST] = high if high > -np.inf else -1.0


NONE = -1


class Rise(NamedTuple):
    """h during the computation, and the edge that last raised each state."""

    h: Floats  # (S,)
    onto: Indices  # (S,) target of that edge, -1 for none
    reward: Floats  # (S,) its reward
    queue: Indices  # (S,) ring of states that rose
    queued: NDArray[np.int8]  # (S,) 1 while in the queue
    mark: Indices  # (S,) scratch for finding cycles


def potential(edges: IncomingCsr) -> tuple[Floats, Indices]:
    """(h, cycle): the potential and no states, or the states of a positive cycle in the order of travel.

    Rises of at most `least` are ignored, so that a cycle that's positive only by rounding doesn't rise for ever.
    `least` starts as LEAST_GAIN divided by twice the longest possible cycle, and grows if rounding is coarser.
    """
    S = edges.n_states
    least = LEAST_GAIN / (2 * max(S, 1))
    while True:
        ints = [np.full(S, NONE, np.int32) for _ in range(3)]
        rise = Rise(np.zeros(S), ints[0], np.zeros(S), ints[1], np.zeros(S, np.int8), ints[2])
        x = raise_all(edges, rise, least)
        if x == NONE:
            return rise.h, np.zeros(0, np.int32)
        cycle = [x]
        while rise.onto[cycle[-1]] != x:
            cycle.append(int(rise.onto[cycle[-1]]))
        if math.fsum(rise.reward[cycle]) > LEAST_GAIN:
            return rise.h, np.array(cycle, np.int32)
        least *= 16


@compiled
def raise_all(edges: IncomingCsr, rise: Rise, least: float) -> int:
    """Raise h from 0 until no edge raises it by more than `least`; return NONE, or a state on a positive cycle."""
    S = len(rise.h)
    head = 0
    length = 0
    for y in range(S):
        for e in range(edges.first[y], edges.first[y + 1]):
            if edges.reward[e] > least:
                rise.queue[length] = y
                rise.queued[y] = 1
                length += 1
                break
    popped = 0
    while length > 0:
        y = rise.queue[head]
        head = head + 1 if head + 1 < S else 0
        length -= 1
        rise.queued[y] = 0
        here = rise.h[y]
        for e in range(edges.first[y], edges.first[y + 1]):
            x = edges.source[e]
            through = edges.reward[e] + here
            if through - rise.h[x] > least:
                rise.h[x] = through
                rise.onto[x] = y
                rise.reward[x] = edges.reward[e]
                if rise.queued[x] == 0:
                    rise.queued[x] = 1
                    tail = head + length
                    rise.queue[tail if tail < S else tail - S] = x
                    length += 1
        popped += 1
        if popped >= S:
            popped = 0
            x = _on_cycle(rise)
            if x != NONE:
                return x
    return NONE


@compiled
def _on_cycle(rise: Rise) -> int:
    """Return a state on a cycle of `onto`, or NONE. Each state is marked with the start of the search that met it."""
    S = len(rise.h)
    rise.mark[:] = NONE
    for start in range(S):
        x = start
        while x != NONE and rise.mark[x] == NONE:
            rise.mark[x] = start
            x = rise.onto[x]
        if x != NONE and rise.mark[x] == start:
            return int(x)
    return NONE


@compiled
def reduce_rewards(edges: IncomingCsr, h: Floats, reduced: Floats) -> None:
    """Fill `reduced` (E,) with r(x, y) + h(y) - h(x), cut off at 0 if rounding takes it above."""
    for y in range(len(h)):
        for e in range(edges.first[y], edges.first[y + 1]):
            reduced[e] = min(0.0, edges.reward[e] + h[y] - h[edges.source[e]])


@compiled
def unreduced(edges: IncomingCsr, reward: Floats, reduced: Floats, g: int, V: Floats, queue: Indices) -> None:
    """Fill V by adding up rewards along best paths, given the column `reduced` for the reduced rewards `reward`.

    An edge is on a best path if it gives its source's value to the last bit; every value came from such an edge.
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
            through = edges.reward[e] + V[y]
            if V[x] == -np.inf and through > -np.inf and reward[e] + reduced[y] == reduced[x]:
                V[x] = through
                queue[tail] = x
                tail += 1


Order = Literal["breadth", "buckets", "wide buckets", "heap"]
MOST_BUCKETS = 64  # with more, wide ones are faster
WIDE_BUCKETS = 16  # as wide as the largest cost in total
NARROWER = 0.999  # width of a bucket as a fraction of the smallest cost; the rest covers rounding
UNSEEN = -1


class Routes(NamedTuple):
    """The next edge from every state to one goal: along `edge`, `steps` falls by one at a time.

    Among the paths that tie with the best, it's one with the fewest steps.
    """

    value: Floats  # (S,) V(x, g)
    steps: Indices  # (S,) 0 at the goal, -1 if no path is known
    edge: Indices  # (S,) index of the edge in the incoming edges, -1 at the goal and if no path is known


class Buckets(NamedTuple):
    """A ring of B lists of states. The system allocates memory only for the parts in use."""

    states: Indices  # (B, S)
    sizes: NDArray[np.int64]  # (B,)
    expanded: Floats  # (S,) the value with which a state was last expanded, if buckets are wide


class ShortestPaths:
    """Columns V(., g) over known edges, one backward search each. Not thread-safe: searches share scratch memory.

    >>> from fwrl.kernels.shortest_paths import incoming_csr
    >>> edges, given = incoming_csr(4, source=[0, 1, 0], target=[1, 2, 2], reward=[-1.0, -1.0, -2.0])
    >>> paths = ShortestPaths(edges)
    >>> paths.column(goal=2)
    array([ -2.,  -1.,   0., -inf])
    >>> routes = paths.routes(goal=2)
    >>> routes.steps.tolist(), [int(given[e]) for e in routes.edge[:2]]
    ([1, 1, 0, -1], [2, 1])

    A positive cycle raises `PositiveCycleError`, whose `states` are the cycle. Pass a known potential as `h`.
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
        S = edges.n_states
        self.order: Order = _order(-highest, -lowest, self._reward, S)
        self._queue: Indices = np.empty(S, np.int32)
        self._reduced: Floats = np.empty(0 if self._h is None else S)
        if self.order == "heap":
            self._heap = empty(Heap, {"S": S})
        elif self.order != "breadth":
            wide = self.order == "wide buckets"
            self._width = -lowest / WIDE_BUCKETS if wide else -NARROWER * highest
            ring = int(-lowest / self._width) + 3
            expanded = np.empty(S if wide else 0)
            self._buckets = Buckets(np.empty((ring, S), np.int32), np.zeros(ring, np.int64), expanded)

    def column(self, goal: int, out: Floats | None = None) -> Floats:
        """(S,) V(., goal), in `out` if given."""
        self._check(goal)
        V = np.empty(self.edges.n_states) if out is None else out
        if self._h is None:
            self._fill(goal, V)
        else:
            self._fill(goal, self._reduced)
            unreduced(self.edges, self._reward, self._reduced, goal, V, self._queue)
        return V

    def routes(self, goal: int) -> Routes:
        """Return V(., goal) and the next edge from every state."""
        self._check(goal)
        S = self.edges.n_states
        routes = Routes(np.empty(S), np.empty(S, np.int32), np.empty(S, np.int32))
        if self.order == "breadth" and self._h is None:
            breadth_first(self.edges.first, self.edges.source, -self._least_cost, goal, *routes, self._queue)
        else:
            self.column(goal, routes.value)
            fewest_steps(self.edges, goal, routes, self._queue)
        return routes

    def _check(self, goal: int) -> None:
        if not 0 <= goal < self.edges.n_states:
            raise OptionError(f"expected a goal from 0 to {self.edges.n_states - 1}, got {goal}")

    def _fill(self, goal: int, V: Floats) -> None:
        first, source = self.edges.first, self.edges.source
        if self.order == "breadth":
            none = self._queue[:0]
            breadth_first(first, source, -self._least_cost, goal, V, none, none, self._queue)
        elif self.order == "heap":
            dijkstra(first, source, self._reward, goal, V, self._heap)
        else:
            by_buckets(first, source, self._reward, self._width, goal, V, self._buckets)


def _potential(edges: IncomingCsr) -> Floats:
    h, cycle = potential(edges)
    if len(cycle):
        raise PositiveCycleError(
            f"the states {_listed(cycle)} form a positive cycle; check the sign of the rewards, and leave out goal "
            "rewards",
            states=tuple(map(int, cycle)),
        )
    return h


def _range(edges: IncomingCsr, reward: Floats) -> tuple[float, float]:
    extremes = np.empty(2)
    reward_range(edges, reward, extremes)
    return float(extremes[LOWEST]), float(extremes[HIGHEST])


def _order(low: float, high: float, reward: Floats, S: int) -> Order:
    """Choose the algorithm for edges over S states that cost from `low` to `high`."""
    if low == high and low > 0:
        return "breadth"
    if 0 < high < (MOST_BUCKETS - 3) * NARROWER * low:
        return "buckets"
    few_light = 2 * np.count_nonzero(reward > -high / WIDE_BUCKETS) <= S
    return "wide buckets" if 0 < high < np.inf and few_light else "heap"


def _listed(states: Indices) -> str:
    some = [str(s) for s in states[:10]]
    return " -> ".join([*some, "..."] if len(states) > 10 else [*some, some[0]])


@compiled
def breadth_first(
    first: Indices, source: Indices, r: float, g: int, V: Floats, steps: Indices, edge: Indices, queue: Indices
) -> None:
    """Fill V for edges that all have the reward `r`, and unless they're empty the `steps` and `edge` of `Routes`.

    `queue` (S,) is scratch. A sum that exceeds all floating-point numbers counts as no path.
    """
    V[:] = -np.inf
    V[g] = 0.0
    steps[:] = UNSEEN
    edge[:] = UNSEEN
    steps[g : g + 1] = 0
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
                if len(edge) > 0:
                    steps[x] = steps[y] + 1
                    edge[x] = e
                queue[tail] = x
                tail += 1


@compiled
def by_buckets(
    first: Indices, source: Indices, reward: Floats, width: float, g: int, V: Floats, buckets: Buckets
) -> None:
    """Fill V with buckets of `width`: less than the cost of any edge between two states, or wide.

    The number of buckets must exceed the largest cost, in widths, by two.
    """
    V[:] = -np.inf
    V[g] = 0.0
    per_reward = -1.0 / width
    S, ring = len(V), len(buckets.sizes)
    wide = len(buckets.expanded) > 0
    buckets.expanded[:] = 1.0  # no value
    buckets.sizes[:] = 0
    buckets.states[0, 0] = g
    buckets.sizes[0] = 1
    entries = 1
    number = 0
    while entries > 0:
        slot = number % ring
        bucket = buckets.states[slot]
        i = 0
        while i < buckets.sizes[slot]:  # which grows if the bucket is wide
            y = bucket[i]
            i += 1
            entries -= 1
            here = V[y]
            if wide:
                if buckets.expanded[y] == here:
                    continue
                buckets.expanded[y] = here
            elif int(here * per_reward) != number:
                continue
            for e in range(first[y], first[y + 1]):
                x = source[e]
                through = reward[e] + here
                before = V[x]
                if through > before:
                    V[x] = through
                    better = int(through * per_reward)
                    fresh = before == -np.inf or int(before * per_reward) != better
                    if fresh or (wide and buckets.expanded[x] == before):
                        put = better % ring
                        if wide and buckets.sizes[put] == S:  # only this bucket can be full: drop what is done
                            for k in range(i, S):
                                bucket[k - i] = bucket[k]
                            buckets.sizes[put] -= i
                            i = 0
                        buckets.states[put, buckets.sizes[put]] = x
                        buckets.sizes[put] += 1
                        entries += 1
        buckets.sizes[slot] = 0
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
                push(heap, widened(x), through)


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
