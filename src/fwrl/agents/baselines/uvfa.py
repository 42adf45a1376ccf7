"""Universal value function approximators: T. Schaul, D. Horgan, K. Gregor and D. Silver (2015), "Universal Value
Function Approximators", ICML.

The value of a goal is the product of an embedding of state and action and one of the goal,

    Q(s, a, g) = q0 + phi(s, a) . psi(g),      phi(s, a) = W_a^T b(s),  psi(g) = U^T b(g)

both of `rank` numbers and linear in a basis b. The pseudo-reward of g is 1 for entering g, discounted by gamma per
step, and entering g ends the trip; rewards of steps aren't used. `features` (S, d) say which states are similar: b(s)
are Gaussian bumps around some of them (`radial_basis`). With features, psi is also defined for goals without any
episode, so values generalise to them. Without features every state is its own basis, and states share nothing. (The
published embeddings are networks on features. Bumps are linear, which keeps both forms below short.)

`training="end-to-end"`: temporal differences by gradient through both embeddings. A transition s, a -> s' and a goal g
give

    delta = (1 if s' = g else gamma max_b Q(s', b, g)) - Q(s, a, g)
    W_a += alpha delta b(s) psi(g)^T / L,    U += alpha delta b(g) phi(s, a)^T / L

where L, the squared length of the gradient, makes alpha the fraction of delta that one update removes. This is done for
the current goal, and for `replays` past transitions with a goal drawn from those that have had an episode.

`training="two-stage"`: a table of values of every goal that has had an episode (a Horde) learns from each step, and the
agent follows the values of its current goal. From time to time we factorise the table: first into rank-`rank`
embeddings of its rows and columns, by singular values; then we regress these on the basis of states and of goals, by
ridge regression. A new goal's values start as the product of the embeddings. Reported values are this product.

The basis describes what states share, with a few weights per state: Gaussian bumps around up to `CENTRES` of the
states' features x. With c the centres, and w the median squared distance from a centre to the nearest other one,

    b_k(s) = exp(-|x(s) - c_k|^2 / w) / sum over j of exp(-|x(s) - c_j|^2 / w)

where parts below `NEGLIGIBLE` are left out. Without features every state is its own basis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

import numpy as np

from fwrl.agents.agent import Agent, Config
from fwrl.agents.loops import LEARNED, PENDING, register_verbs
from fwrl.agents.validation import (
    LARGEST_CAPACITY,
    MOST_REPLAYS,
    check_choice,
    check_learning_rate,
    check_number,
    check_table_size,
    check_whole,
    checked_rows,
)
from fwrl.arrays import ActionScratch, Field, Floats, Ints
from fwrl.errors import FileError, OptionError
from fwrl.kernels.exploration import GOAL, Episode, epsilon_greedy
from fwrl.kernels.jit import compiled, inner
from fwrl.kernels.replay import Ring, draw, store
from fwrl.kernels.rng import SplitMix64, new_splitmix64, next_uniform

CENTRES = 64  # bumps of a basis
NEGLIGIBLE = 1e-3  # smaller parts of a basis are left out
RIDGE = 1e-3  # added to the diagonal of the normal equations


class Basis(NamedTuple):
    """b(s) as a short list: part k of state s is `weight[s, k]` at place `place[s, k]` of m."""

    place: Annotated[Ints, Field("S K", np.int64, saved=False)]
    weight: Annotated[Floats, Field("S K", saved=False)]


def radial_basis(n_states: int, features: Sequence[Sequence[float]] | None) -> tuple[Basis, int]:
    """Return the basis of the states and its size: bumps around features, or every state by itself."""
    if features is None:
        return Basis(np.arange(n_states)[:, None], np.ones((n_states, 1))), n_states
    x = _rescaled(np.array(features, dtype=np.float64))
    centres = _spread(np.unique(x, axis=0), CENTRES)
    apart = ((x[:, None] - centres[None]) ** 2).sum(axis=-1)
    between = ((centres[:, None] - centres[None]) ** 2).sum(axis=-1) + np.diag(np.full(len(centres), np.inf))
    width = float(np.median(between.min(axis=1))) if len(centres) > 1 else 1.0
    width = max(width, float(np.finfo(np.float64).tiny))  # 0 if most centres are practically equal
    bumps = np.exp(-(apart - apart.min(axis=1, keepdims=True)) / width)
    parts = bumps / bumps.sum(axis=1, keepdims=True)
    parts[parts < NEGLIGIBLE] = 0.0
    K = int((parts > 0).sum(axis=1).max())
    place = np.argsort(-parts, axis=1, kind="stable")[:, :K]
    weight = np.take_along_axis(parts, place, axis=1)
    return Basis(place, weight / weight.sum(axis=1, keepdims=True)), len(centres)


def _rescaled(x: Floats) -> Floats:
    """Rescale features so that squared distances are neither infinite nor 0.

    The basis doesn't depend on their unit. Powers of 2 don't round.
    """
    x = np.ldexp(x, -int(np.frexp(np.abs(x).max())[1]))
    return np.asarray(np.ldexp(x, -int(np.frexp(np.ptp(x, axis=0).max())[1])), dtype=np.float64)


def _spread(points: Floats, most: int) -> Floats:
    """Choose up to `most` points, beginning with the first, each the farthest from those before it."""
    chosen = [0]
    nearest = np.full(len(points), np.inf)
    while len(chosen) < min(most, len(points)):
        away = points - points[chosen[-1]]
        nearest = np.minimum(nearest, np.einsum("ij,ij->i", away, away))
        chosen.append(int(np.argmax(nearest)))
    return points[chosen]


def regressed(basis: Basis, states: Ints, factors: Floats, m: int) -> Floats:
    """(m, n) the ridge regression of `factors` (N, n) on the basis of `states` (N,)."""
    B = np.zeros((len(states), m))
    np.put_along_axis(B, basis.place[states], basis.weight[states], axis=1)
    return np.asarray(np.linalg.solve(B.T @ B + RIDGE * np.eye(m), B.T @ factors), dtype=np.float64)


Training = Literal["end-to-end", "two-stage"]

INTERVAL = 1000  # steps between two factorisations
SCALE = 0.1  # of the first embeddings
LEAST_LENGTH = 0.01  # of squared gradients: shorter ones don't make longer steps
ALPHA, DISCOUNT, INITIAL = 0, 1, 2  # positions in `rates`
REPLAYS, TWO_STAGE, SINCE, GOALS, PURSUED = 0, 1, 2, 3, 4  # positions in `counts`


@dataclass(frozen=True)
class UvfaConfig(Config):
    """Options of universal value function approximators.

    Attributes:
        learning_rate: alpha, above 0 and at most 1.
        initial_value: q0, the value of untried actions.
        discount: gamma, above 0 and below 1.
        rank: numbers per embedding.
        training: "end-to-end", both embeddings by temporal differences, or "two-stage", a table factorised from time to
            time.
        replays: transitions replayed at every step, end-to-end only.
        capacity: transitions kept for replay.
        features: (S, d) numbers that say which states are similar; None if they share nothing.
    """

    learning_rate: float = 0.5
    initial_value: float = 0.5
    discount: float = 0.95
    rank: int = 16
    training: Training = "end-to-end"
    replays: int = 10
    capacity: int = 10_000
    features: Sequence[Sequence[float]] | None = None

    def __post_init__(self) -> None:
        check_learning_rate(self.learning_rate)
        check_number("initial_value", self.initial_value)
        check_number("discount", self.discount)
        if not 0 < self.discount < 1:
            raise OptionError(f"expected 0 < discount < 1, got {self.discount}")
        check_whole("rank", self.rank, least=1, most=10_000)
        check_choice("training", self.training, ("end-to-end", "two-stage"))
        check_whole("replays", self.replays, least=0, most=MOST_REPLAYS)
        check_whole("capacity", self.capacity, least=1, most=LARGEST_CAPACITY)
        object.__setattr__(self, "features", checked_rows("features", self.features))


class UvfaTables(NamedTuple):
    """Both embeddings, the goals trained on, their table, and transitions to replay."""

    W: Annotated[Floats, Field("m A n")]
    U: Annotated[Floats, Field("m n")]
    goals: Annotated[Ints, Field("S", np.int64, least=0, most="S")]  # goals that have had an episode come first,
    # `counts[GOALS]` of them
    horde: Annotated[Floats, Field("G S A")]  # values of trained goals, in their order; empty end-to-end
    tried: Annotated[Ints, Field("S A", np.int64, least=0, most=1)]  # 1 if an action was tried; two-stage
    ring: Ring
    splitmix64: SplitMix64
    episode: Episode
    counts: Annotated[Ints, Field("5", np.int64, least=0)]  # at REPLAYS, TWO_STAGE, SINCE, GOALS and PURSUED, the place
    # of the goal among `goals`
    basis: Basis
    rates: Annotated[Floats, Field("3", saved=False)]  # at ALPHA, DISCOUNT and INITIAL
    phi: Annotated[Floats, Field("n", saved=False)]
    psi: Annotated[Floats, Field("n", saved=False)]
    values: ActionScratch

    def sound(self) -> bool:
        """Check that `goals` are all states, and that trained ones have values."""
        n, pursued, goal = self.counts[GOALS], self.counts[PURSUED], self.episode[GOAL]
        sound = np.array_equal(np.sort(self.goals), np.arange(len(self.goals))) and n <= len(self.goals)
        sound = (
            sound and self.counts[SINCE] <= INTERVAL and pursued <= n and len(self.horde) == n * self.counts[TWO_STAGE]
        )
        return bool(sound and (goal < 0 or (pursued < n and self.goals[pursued] == goal)))


@compiled
def embed_state(agent: UvfaTables, s: int, a: int, phi: Floats) -> None:
    """phi(s, a) into `phi`."""
    phi[:] = 0.0
    for k in range(agent.basis.place.shape[1]):
        weight, row = agent.basis.weight[s, k], agent.W[agent.basis.place[s, k], a]
        for i in range(len(phi)):
            phi[i] += weight * row[i]


@compiled
def embed_goal(agent: UvfaTables, g: int, psi: Floats) -> None:
    """psi(g) into `psi`."""
    psi[:] = 0.0
    for k in range(agent.basis.place.shape[1]):
        weight, row = agent.basis.weight[g, k], agent.U[agent.basis.place[g, k]]
        for i in range(len(psi)):
            psi[i] += weight * row[i]


@compiled
def product(agent: UvfaTables, s: int, a: int, psi: Floats) -> float:
    """Q(s, a, g) for the goal embedded in `psi`; leaves phi(s, a) in `agent.phi`."""
    embed_state(agent, s, a, agent.phi)
    value = agent.rates[INITIAL]
    for i in range(len(psi)):
        value += agent.phi[i] * psi[i]
    return float(value)


@compiled
def learn_by_gradient(agent: UvfaTables, s: int, a: int, next_s: int, g: int) -> None:
    """One temporal difference for goal `g`, through both embeddings."""
    psi, phi, basis = agent.psi, agent.phi, agent.basis
    embed_goal(agent, g, psi)
    target = 1.0
    if next_s != g:
        target = -np.inf
        for b in range(agent.W.shape[1]):
            target = max(target, agent.rates[DISCOUNT] * product(agent, next_s, b, psi))
        target = min(max(target, 0.0), 1.0)  # true values lie in between; an approximation outside must not feed itself
    error = target - product(agent, s, a, psi)
    length = LEAST_LENGTH
    for k in range(basis.place.shape[1]):
        for i in range(len(psi)):
            by_state, by_goal = basis.weight[s, k] * psi[i], basis.weight[g, k] * phi[i]
            length += by_state * by_state + by_goal * by_goal  # squares by ** differ in the last bit when interpreted
    delta = agent.rates[ALPHA] * error / length
    for k in range(basis.place.shape[1]):
        row, column = agent.W[basis.place[s, k], a], agent.U[basis.place[g, k]]
        for i in range(len(psi)):
            row[i] += delta * basis.weight[s, k] * psi[i]
        for i in range(len(psi)):
            column[i] += delta * basis.weight[g, k] * phi[i]


@compiled
def learn_table(agent: UvfaTables, s: int, a: int, next_s: int) -> None:
    """Make one Q-learning update for every trained goal; an untried action has the initial value."""
    agent.tried[s, a] = 1
    for n in range(agent.counts[GOALS]):
        Q = agent.horde[n]
        target = 1.0
        if next_s != agent.goals[n]:
            target = Q[next_s, 0]
            for b in range(1, Q.shape[1]):
                target = max(target, Q[next_s, b])
            target *= agent.rates[DISCOUNT]
        Q[s, a] += agent.rates[ALPHA] * (target - Q[s, a])


@inner
def act(agent: UvfaTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on Q(s, ., g), or on the table of the current goal."""
    if agent.counts[TWO_STAGE] != 0:
        return epsilon_greedy(agent.horde[agent.counts[PURSUED], s], agent.episode, rng)
    action_values(agent, s, agent.episode[GOAL], agent.values)
    return epsilon_greedy(agent.values, agent.episode, rng)


@inner
def observe(agent: UvfaTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Learn for the current goal and for replayed pairs of transition and goal, or in the table of all goals."""
    counts, ring = agent.counts, agent.ring
    if arrived:
        return LEARNED
    if counts[TWO_STAGE] != 0:
        learn_table(agent, s, a, next_s)
        counts[SINCE] += 1
        return PENDING if counts[SINCE] >= INTERVAL else LEARNED
    if agent.episode[GOAL] >= 0:
        learn_by_gradient(agent, s, a, next_s, agent.episode[GOAL])
    if counts[GOALS] == 0:
        return LEARNED
    store(ring, s, a, r, next_s)
    for _ in range(counts[REPLAYS]):
        i = draw(ring, agent.splitmix64)
        g = agent.goals[int(next_uniform(agent.splitmix64) * counts[GOALS])]
        learn_by_gradient(agent, ring.state[i], ring.action[i], ring.next_state[i], g)
    return LEARNED


@inner
def action_values(agent: UvfaTables, s: int, g: int, values: Floats) -> None:
    """Q(s, ., g)."""
    embed_goal(agent, g, agent.psi)
    for a in range(len(values)):
        values[a] = product(agent, s, a, agent.psi)


class UniversalValues(Agent[UvfaTables]):
    """Values of all goals as products of embeddings."""

    name = "uvfa"
    description = "universal value function approximators (Schaul et al. 2015): states and goals embedded"
    value_kind = None
    Config = UvfaConfig
    verbs = register_verbs(UvfaTables, act, observe, action_values)
    config: UvfaConfig

    def sizes(self) -> dict[str, int]:
        """Add m functions of the basis, n numbers per embedding, and N, the number of transitions kept."""
        config = self.config
        m = radial_basis(self.n_states, config.features)[1]
        return super().sizes() | {
            "m": m,
            "n": config.rank,
            "N": 1 if config.training == "two-stage" else config.capacity,
        }

    def empty_tables(self) -> UvfaTables:
        """Small random embeddings, no trained goals."""
        S, A, config = self.n_states, self.n_actions, self.config
        if config.features is not None and len(config.features) != S:
            raise OptionError(f"expected features of {S} states, got {len(config.features)}")
        what = f"embeddings of {S:,} states with {A} actions"
        most = S if config.features is None else CENTRES
        check_table_size(8 * most * (A + 1) * config.rank, what, "use a smaller rank, or give features")
        tables, two_stage = super().empty_tables(), int(config.training == "two-stage")
        tables.W[:] = self.rng.normal(0.0, SCALE * (1 - two_stage), tables.W.shape)
        tables.U[:] = self.rng.normal(0.0, SCALE * (1 - two_stage), tables.U.shape)
        tables.goals[:], tables.splitmix64[:] = np.arange(S), new_splitmix64(self.rng)
        tables.counts[[REPLAYS, TWO_STAGE]] = config.replays, two_stage
        tables.rates[:] = config.learning_rate, config.discount, config.initial_value
        return tables._replace(basis=radial_basis(S, config.features)[0])

    def prepare(self, goal: int) -> None:
        """Train on this goal from now on."""
        tables, n = self.tables, int(self.tables.counts[GOALS])
        place = int(np.flatnonzero(tables.goals == goal)[0])
        if place < n:
            tables.counts[PURSUED] = place
            return
        if tables.counts[TWO_STAGE]:
            S, A = self.n_states, self.n_actions
            check_table_size(8 * (n + 1) * S * A, f"values of {n + 1} goals", "train on fewer goals")
            self._factorise()
            known = np.clip(self.action_table(goal), 0.0, 1.0)
            first = np.where(tables.tried > 0, known, float(self.config.initial_value))
            self.tables = tables._replace(horde=np.concatenate([tables.horde, first[None]]))
        tables.goals[[n, place]] = tables.goals[[place, n]]
        tables.counts[GOALS] = n + 1
        tables.counts[PURSUED] = n  # last, because any step before may fail, and compiled code reads `horde` there

    def grow(self, n_states: int) -> None:
        """Grow; new states have the initial value in the table of trained goals."""
        known = self.n_states
        super().grow(n_states)
        self.tables.horde[:, known:] = self.config.initial_value

    def flush(self, *, before_acting: bool = True) -> None:
        """Factorise if it's time."""
        if self.tables.counts[SINCE] >= INTERVAL:
            self._factorise()

    def _factorise(self) -> None:
        """Factorise the table of trained goals and regress the factors on the basis."""
        tables, n = self.tables, int(self.tables.counts[GOALS])
        tables.counts[SINCE] = 0
        rows = np.flatnonzero(tables.tried.ravel())
        if n == 0 or len(rows) == 0:
            return
        S, A = self.n_states, self.n_actions
        table = tables.horde.reshape(n, S * A)[:, rows].T - self.config.initial_value
        left, size, right = np.linalg.svd(table, full_matrices=False)
        rank = min(self.config.rank, len(size))
        root = np.sqrt(size[:rank])
        tables.W[:], tables.U[:] = 0.0, 0.0
        tables.U[:, :rank] = regressed(tables.basis, tables.goals[:n], right[:rank].T * root, len(tables.U))
        for a in range(A):
            mine = rows % A == a
            tables.W[:, a, :rank] = regressed(tables.basis, rows[mine] // A, left[mine, :rank] * root, len(tables.U))

    def check_tables(self) -> None:
        """Check also that counts match the agent's options."""
        super().check_tables()
        options = [self.config.replays, int(self.config.training == "two-stage")]
        if self.tables.counts[[REPLAYS, TWO_STAGE]].tolist() != options:
            raise FileError("the counts don't fit the agent's options; the file is damaged")
