"""Work towards one goal with a hand: move after move, each through its modes.

A thing is grasped until it's held, carried until it's there, and released until the hand is away from it. Switches are
pressed one after the other. If something else happened than planned, the moves are planned again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fwrl.arrays import Floats
from fwrl.display import counted
from fwrl.navigator.goal_plan import NONE
from fwrl.navigator.hand_models import ThingModel
from fwrl.navigator.hand_pursuit import Followable, HandPursuit
from fwrl.navigator.motion import Steering
from fwrl.navigator.moves import Move
from fwrl.navigator.poses import Seen, turn
from fwrl.navigator.pursuit import REACHED, Pursuit

if TYPE_CHECKING:
    from fwrl.navigator.hand import Hand

GRASP, CARRY, RELEASE, PRESS = "grasp", "carry", "release", "press"
SWITCHES = -1  # in place of a thing's number
SLIPS = 3  # after that many, don't try to pick a thing again with everything where it is

Slip = tuple[int, tuple[Floats, ...]]  # a thing that couldn't be picked, and where everything was


class Carry(Pursuit):
    """A pursuit in the coordinates of a held thing, by the hand.

    It follows the cells of the thing's own coordinates up to the last window, then the approach: how it came to where
    it was put, as seen from there. Aboard another thing it follows the approach from the start: cells don't know what's
    in the way.
    """

    def __init__(
        self,
        model: ThingModel,
        goal: Floats,
        aboard: float,
        steering: Steering,
        approach: Followable,
        rng: np.random.Generator,
    ) -> None:
        navigator = model.carry
        plan, k = navigator.plan(goal), navigator.settings.window
        super().__init__(navigator.cells, navigator.motion, k, plan, goal / navigator.scale)
        self._model, self._steering, self._plan_there = model, steering, plan
        self._approach, self._pursuit, self._final = approach, HandPursuit(approach, 0, rng, {}), aboard > 0.0
        self._aboard = aboard
        self.velocity = np.zeros(steering.dimensions)  # of the hand's pose, set before each step

    def act(self, point: Floats) -> Floats:
        """Choose the action (m,) with the thing at a point (d,), in its scaled coordinates."""
        cell, plan = self._cells.cell(point), self._plan_there
        away = self._goal - point
        last = plan.goal in (cell, plan.target[cell]) or away @ away <= self._near
        self._final |= bool(last)
        if not self._final:
            return super().act(point)
        seen = np.append(self._model.attachment.matrix @ (-away * self._model.carry.scale), self._aboard)
        if self._approach.plan.goal[self._approach.cell(seen)]:
            return self.push(away, self._k)
        return self._pursuit.act(seen, self.velocity)

    def push(self, displacement: Floats, rate: float) -> Floats:
        """Return the action that moves the thing by `displacement` in k / rate steps."""
        wanted = np.zeros(self._steering.dimensions)
        matrix = self._model.attachment.matrix
        wanted[: len(matrix)] = matrix @ (displacement * rate * self._model.carry.scale)
        return self._steering.action(wanted, self.velocity, self._model.grip)


class Errand:
    """One goal, and what was done for it so far.

    Args:
        hand: what it knows.
        goal: where things and switches should be.
    """

    def __init__(self, hand: Hand, goal: Seen) -> None:
        self._hand, self._goal = hand, goal
        self._rng = np.random.default_rng(hand.settings.seed)  # chooses detours
        self._last: Seen | None = None
        self._moves: list[Move] | None = None
        self._expected = 0  # switches after the moves so far
        self._places: tuple[Floats, ...] = ()  # of all things, when the moves were planned
        self._phase = ""
        self._pursuit: HandPursuit | Carry | None = None
        self._tried: dict[tuple[int, str], dict[int, int]] = {}  # by thing and phase: how often pairs didn't help
        self._lost = 0  # steps for which a carried thing didn't look held
        self._closest = np.inf  # of a carried thing to where it goes, in units
        self._waited = 0  # steps since it came closer
        self._slips = 0  # times a carried thing was lost since one arrived
        self._refused: list[Slip] = []

    def act(self, now: Seen) -> Floats:
        """Choose the next (m,) action; NoPlanError if nothing that was seen reaches the goal from here."""
        steering = self._hand.steering
        velocity = np.zeros(steering.dimensions)
        if self._last is not None:
            velocity = np.concatenate([now.hand - self._last.hand, turn(now.angle, self._last.angle)])
        self._last = now
        while True:
            if not self._moves:
                self._moves = self._hand.moves(now, self._goal, self._refused)
                self._expected, self._places, self._phase = int(now.bits), now.things, ""
            if not self._moves:
                return steering.idle
            if not self._over(self._moves, now):
                return self._step(self._moves[0], now, velocity)

    def explain(self, now: Seen) -> str:
        """Say in words what it does next, what comes after, and why in this order."""
        hand = self._hand
        moves = self._moves or hand.moves(now, self._goal)
        if not moves:
            return "Everything is as the goal says."
        first, names = moves[0], list(hand.scene.things)
        if first.thing == SWITCHES:
            said = [f"Press to flip {self._flipped(first)}: {self._ahead(first, str(first.kind), now)}"]
        else:
            carried = hand.things[first.thing].attachment.matrix @ (first.place - now.things[first.thing])
            carry = f"carry it {np.linalg.norm(carried):.3g} to {self._where(first)}, release it"
            phase = self._phase if self._moves and self._phase else GRASP
            said = [f"{names[first.thing]}: {carry if phase != RELEASE else 'release it'}"]
            if phase != CARRY:
                ahead = self._ahead(first, phase, now)
                said = [f"{phase.capitalize()} {names[first.thing]}: {ahead}" + ("; then " + carry) * (phase == GRASP)]
        if first.unlike:
            said[0] += " (nothing like it was seen)"
        for move in moves[1:]:
            if move.thing == SWITCHES:
                said.append(f"then press to flip {self._flipped(move)}")
            else:
                said.append(f"then {names[move.thing]} to {self._where(move)}{self._reason(move, now)}")
        return "; ".join(said) + "."

    def _reason(self, move: Move, now: Seen) -> str:
        """Say why a move can't come first."""
        hand, i, places = self._hand, move.thing, list(now.things)
        rules, model = hand.rules(), hand.things[move.thing]
        if not rules.ready(i, int(now.bits)):
            asked = [f"{name} at {hand.named(model.needed)[name]}" for name in hand.names(model.mask)]
            return f" (it only ever moved with {', '.join(asked)})"
        if rules.pick(i, places):
            return " (nobody picked it up with things around it as they are now)"
        if rules.put(i, move.place, places):
            return " (nobody put it like that with things where they are now)"
        return ""

    def _where(self, move: Move) -> str:
        there = f"({', '.join(f'{x:.3g}' for x in move.place)})"
        return there if np.array_equal(move.place, self._goal.things[move.thing]) else f"{there}, out of the way"

    def _flipped(self, move: Move) -> str:
        assert self._hand.switches is not None
        return ", ".join(self._hand.names(int(self._hand.switches.operators.flips[move.kind])))

    def _ahead(self, move: Move, phase: str, now: Seen) -> str:
        """Say how many windows a plan has to go, and the fewest episodes in which one of them was seen."""
        followed = self._hand.plan(move.thing, phase)
        plan, cell = followed.plan, followed.cell(self._hand.point(move.thing, now))
        windows, least = 0, np.inf
        while cell < len(followed.cells) and not plan.goal[cell] and windows < len(followed.cells):
            pairs = [pair for pair in plan.pairs(cell) if plan.outcome(pair) != NONE]
            if not pairs:
                return "nobody was here; go where somebody was"
            least = min(least, int(plan.graph.episodes[pairs[0]]))
            cell = int(plan.graph.target[plan.outcome(pairs[0])])
            windows += 1
        seen = f", each seen in at least {counted(int(least), 'episode')}" if windows else ""
        return f"{counted(windows, 'window')} to go{seen}"

    def _over(self, moves: list[Move], now: Seen) -> bool:
        """Whether the first move ended, as planned or not; then forget it, and all others unless all is as planned."""
        move, bits = moves[0], int(now.bits)
        flipped = bits != self._expected
        left = None  # look again where everything is
        if move.thing == SWITCHES:
            if not flipped:
                return False
            assert self._hand.switches is not None
            if bits == self._expected ^ int(self._hand.switches.operators.flips[move.kind]):
                left = moves[1:]
        elif self._phase == GRASP and self._disturbed(move, now):
            assert isinstance(self._pursuit, HandPursuit)
            self._pursuit.give_up()
        elif not (flipped or (self._phase == RELEASE and self._released(move.thing, now))):
            return False
        self._moves, self._expected, self._phase = left, bits, ""
        return True

    def _disturbed(self, move: Move, now: Seen) -> bool:
        """Whether the hand pushed another thing away on its way to one."""
        pairs = zip(self._hand.things, self._places, now.things, strict=True)
        return any(m.apart(y, z) > 1.0 for j, (m, y, z) in enumerate(pairs) if j != move.thing)

    def _released(self, thing: int, now: Seen) -> bool:
        model = self._hand.things[thing]
        return bool(model.away[model.cell(now, thing)])

    def _step(self, move: Move, now: Seen, velocity: Floats) -> Floats:
        i = move.thing
        if i != SWITCHES:
            self._choose_phase(move, now)
        elif self._phase != PRESS:
            self._phase, self._pursuit = PRESS, self._to(move, str(move.kind), now)
        if isinstance(self._pursuit, Carry):
            self._pursuit.velocity = velocity
            return self._pursuit.act(now.things[i] / self._hand.things[i].carry.scale)
        assert self._pursuit is not None
        return self._pursuit.act(self._hand.point(i, now), velocity)

    def _choose_phase(self, move: Move, now: Seen) -> None:
        """Grasp until held, carry until there, release until away."""
        i = move.thing
        hand, model = self._hand, self._hand.things[i]
        held = model.is_held(now, i)
        apart = model.apart(now.things[i], move.place)
        if self._phase == CARRY:
            self._lost = 0 if held else self._lost + 1
            self._waited += 1
            if apart < self._closest - REACHED:
                self._closest, self._waited = apart, 0
            window = hand.settings.window
            if apart <= REACHED or (apart <= 1.0 and self._waited > window):
                self._phase, self._pursuit, self._slips = RELEASE, self._to(move, RELEASE, now), 0
            elif self._waited > model.patience:
                self._phase, self._pursuit = RELEASE, self._to(move, RELEASE, now)
                self._slipped(i, now)
            elif self._lost > window:
                self._phase, self._moves = "", None  # it may lie elsewhere now
                self._slipped(i, now)
        if self._phase in ("", GRASP) and held:
            approach, aboard = hand.plan(i, CARRY), hand.aboard(i, move.place, now.things)
            self._phase, self._pursuit = CARRY, Carry(model, move.place, aboard, hand.steering, approach, self._rng)
            self._lost, self._closest, self._waited = 0, np.inf, 0
        elif self._phase == "":
            self._phase, self._pursuit = GRASP, self._to(move, GRASP, now)

    def _slipped(self, thing: int, now: Seen) -> None:
        self._slips += 1
        if self._slips == SLIPS:
            self._refused.append((thing, now.things))
            self._slips = 0

    def _to(self, move: Move, phase: str, now: Seen) -> HandPursuit:
        tried = self._tried.setdefault((move.thing, phase), {})
        return HandPursuit(self._hand.plan(move.thing, phase), len(now.angle), self._rng, tried)
