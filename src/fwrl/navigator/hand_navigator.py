"""A navigator whose hand moves things and presses switches.

A hand moves freely, things rest until the hand moves them. In the mode *free* what matters is the hand as a thing sees
it; in the mode *held* the thing moves with the hand, and what matters is the thing's own place. The navigator stitches
within and across modes: grasp a thing, carry it, release it; press a switch. One without things has one mode.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fwrl.arrays import Floats, Ints
from fwrl.errors import FwrlError, NoPlanError
from fwrl.navigator.attachment import Mask
from fwrl.navigator.hand_graph import HandPlan, plan_to
from fwrl.navigator.hand_models import HandSettings, SwitchModel, ThingModel, relative
from fwrl.navigator.hand_pursuit import Followable, HandPursuit
from fwrl.navigator.motion import LinearMotion
from fwrl.navigator.moves import Move, Rules, order_of_moves
from fwrl.navigator.navigator import Navigator
from fwrl.navigator.operators import nearest, reachable, search
from fwrl.navigator.poses import Scene, Seen, turn
from fwrl.navigator.pursuit import REACHED, Pursuit
from fwrl.navigator.steering import Steering

GRASP, CARRY, RELEASE, PRESS = "grasp", "carry", "release", "press"


class Carry(Pursuit):
    """A pursuit in the coordinates of a held thing, by the hand."""

    def __init__(self, model: ThingModel, goal: Floats, steering: Steering) -> None:
        navigator = model.carry
        plan, k = navigator.plan(goal), navigator.settings.window
        super().__init__(navigator.cells, navigator.motion, k, plan, goal / navigator.scale)
        self._model, self._steering = model, steering
        self.velocity = np.zeros(steering.dimensions)  # of the hand's pose, set before each step

    def push(self, displacement: Floats, rate: float) -> Floats:
        """Return the action that moves the thing by `displacement` in k / rate steps."""
        wanted = np.zeros(self._steering.dimensions)
        matrix = self._model.attachment.matrix
        wanted[: len(matrix)] = matrix @ (displacement * rate * self._model.carry.scale)
        return self._steering.action(wanted, self.velocity, self._model.grip)


@dataclass
class Trial:
    """One approach to one goal: what `aim` begins and `act` continues."""

    goal: Seen
    last: Seen | None = None
    moves: list[Move] | None = None
    expected: int = 0  # switches after the moves so far
    phase: str = ""
    pursuit: HandPursuit | Carry | None = None
    lost: int = 0  # steps for which a carried thing didn't look held
    closest: float = np.inf  # of a carried thing to where it goes, in units
    waited: int = 0  # steps since it came closer
    trace: list[Floats] | None = None


class HandNavigator:
    """Moves things and presses switches with a hand.

    Args:
        scene: which coordinates are the hand's, the things' and the switches'.
        motion: of the hand's pose and opening.
        steering: of the hand's pose.
        things: how to move each thing.
        switches: how to press; None without switches.
        settings: how it was fitted.
    """

    def __init__(
        self,
        scene: Scene,
        motion: LinearMotion,
        steering: Steering,
        things: Sequence[ThingModel],
        switches: SwitchModel | None,
        settings: HandSettings,
    ) -> None:
        self.scene, self.motion, self.steering, self.settings = scene, motion, steering, settings
        self.things, self.switches = tuple(things), switches
        self._trial: Trial | None = None
        self._rng = np.random.default_rng(settings.seed)

    def aim(self, goal: Any) -> None:
        """Set the goal: a whole observation, in which things' positions and switches count."""
        self._trial = Trial(self._see(goal), trace=[])

    def act(self, observation: Any) -> Floats:
        """Choose the next (m,) action; NoPlanError if nothing that was seen reaches the goal from here."""
        trial = self._begun()
        now = self._see(observation)
        velocity = np.zeros(self.steering.dimensions)
        if trial.last is not None:
            velocity = np.concatenate([now.hand - trial.last.hand, turn(now.angle, trial.last.angle)])
        trial.last = now
        while True:
            if not trial.moves:
                trial.moves = self._planned(now)
                trial.expected = int(now.bits)
                trial.phase = ""
            move = trial.moves[0] if trial.moves else None
            if move is None:
                return self._rest()
            if self._over(trial, move, now):
                continue
            return self._step(trial, move, now, velocity)

    def _begun(self) -> Trial:
        if self._trial is None:
            raise FwrlError("no goal is set; call aim(goal) before act(observation)")
        return self._trial

    def _see(self, observation: Any) -> Seen:
        seen = self.scene.seen(observation)
        if seen.hand.ndim != 1:
            raise FwrlError("expected one observation, not rows of them")
        return seen

    def _rest(self) -> Floats:
        """Return the action that does least."""
        return np.clip(np.zeros(len(self.motion.low)), self.motion.low, self.motion.high)

    # ---- one move

    def _over(self, trial: Trial, move: Move, now: Seen) -> bool:
        """Whether a move ended, as planned or not; then forget it, and all others unless all is as planned."""
        assert trial.moves is not None
        flipped = int(now.bits) != trial.expected
        if move.thing < 0:
            if not flipped:
                return False
            assert self.switches is not None
            as_planned = int(now.bits) == trial.expected ^ int(self.switches.operators.flips[move.kind])
            trial.moves = trial.moves[1:] if as_planned else None
        elif flipped:
            trial.moves = None
        elif trial.phase == RELEASE and self._released(move.thing, now):
            trial.moves = None  # look again where everything is
        else:
            return False
        trial.expected, trial.phase = int(now.bits), ""
        return True

    def _released(self, thing: int, now: Seen) -> bool:
        model = self.things[thing]
        return bool(model.away[model.cell(now, thing)])

    def _step(self, trial: Trial, move: Move, now: Seen, velocity: Floats) -> Floats:
        if move.thing < 0:
            assert self.switches is not None
            if trial.phase != PRESS:
                trial.phase, trial.pursuit = PRESS, HandPursuit(self._press(move.kind), self._rng)
            point = np.concatenate([now.hand, now.angle, now.opening])
        else:
            point = relative(now, move.thing, self.things[move.thing].attachment)
            self._choose_phase(trial, move, now)
        if isinstance(trial.pursuit, Carry):
            trial.pursuit.velocity = velocity
            return trial.pursuit.act(now.things[move.thing] / self.things[move.thing].carry.scale)
        assert trial.pursuit is not None
        return trial.pursuit.act(point, len(now.angle), velocity)

    def _choose_phase(self, trial: Trial, move: Move, now: Seen) -> None:
        """Grasp until held, carry until there, release until away."""
        model, i = self.things[move.thing], move.thing
        held = model.is_held(now, i)
        apart = model.apart(now.things[i], move.place)
        if trial.phase == CARRY:
            trial.lost = 0 if held else trial.lost + 1
            trial.waited += 1
            if apart < trial.closest - REACHED:
                trial.closest, trial.waited = apart, 0
            there = apart <= REACHED or (apart <= 1.0 and trial.waited > self.settings.window)
            if there:
                trial.phase, trial.pursuit = RELEASE, HandPursuit(self._hand_plan(i, RELEASE), self._rng)
            elif trial.lost > self.settings.window:
                trial.phase = ""
        if trial.phase in ("", GRASP) and held:
            trial.phase, trial.pursuit = CARRY, Carry(model, move.place, self.steering)
            trial.lost, trial.closest, trial.waited = 0, np.inf, 0
        elif trial.phase == "":
            trial.phase, trial.pursuit = GRASP, HandPursuit(self._hand_plan(i, GRASP), self._rng)

    @functools.cache  # noqa: B019
    def _hand_plan(self, thing: int, phase: str) -> Followable:
        model = self.things[thing]
        return self._followable(model.cells, model.graph, model.held if phase == GRASP else model.away)

    @functools.cache  # noqa: B019
    def _press(self, kind: int) -> Followable:
        assert self.switches is not None
        goal = np.zeros(len(self.switches.cells) + len(self.switches.places), np.bool_)
        goal[len(self.switches.cells) + kind] = True
        return self._followable(self.switches.cells, self.switches.graph, goal)

    def _followable(self, cells: Any, graph: Any, goal: Mask) -> Followable:
        s = self.settings
        plan: HandPlan = plan_to(graph, goal, s.window, s.doubt, s.give_up, s.backup == "best")
        return Followable(cells, plan, self.steering, s.window)

    # ---- the order of moves

    def _planned(self, now: Seen) -> list[Move]:
        goal = self._begun().goal
        bits, wanted = int(now.bits), int(goal.bits)
        done = [model.apart(y, g) <= 1.0 for model, y, g in zip(self.things, now.things, goal.things, strict=True)]
        if all(done):
            return self._pressed(bits, wanted)
        moves = order_of_moves(self._rules(), now.things, goal.things, bits, wanted, done)
        if moves is None:
            raise NoPlanError("no order of moves that was seen takes everything to its goal from here", self._named(bits))
        return moves

    def _pressed(self, bits: int, wanted: int) -> list[Move]:
        if bits == wanted:
            return []
        assert self.switches is not None
        operators = self.switches.operators
        kinds = search(operators, bits, wanted)
        if kinds is None:
            found = nearest(reachable(operators, bits), wanted)
            wrong = [name for name, bit in self._named(found ^ wanted).items() if bit]
            raise NoPlanError(
                f"nothing that was seen sets all switches as wanted; the nearest state that can be reached differs in "
                f"{', '.join(wrong)}: choose another goal, or add episodes that press more",
                self._named(found),
            )
        return [Move(-1, np.zeros(0), kind) for kind in kinds]

    def _named(self, bits: int) -> dict[str, int]:
        return {name: bits >> bit & 1 for bit, name in enumerate(self.scene.switches)}

    def _rules(self) -> Rules:
        window = self.settings.window

        def around(i: int, places: Sequence[Floats]) -> Floats:
            where = [m.attachment.place(y) for m, y in zip(self.things, places, strict=True)]
            return np.array([x - where[i] for j, x in enumerate(where) if j != i]).reshape(-1, len(self.scene.hand.position))

        def pick(i: int, places: Sequence[Floats]) -> bool:
            model = self.things[i]
            return model.picked.like(places[i], around(i, places), model.unit)

        def put(i: int, place: Floats, places: Sequence[Floats]) -> bool:
            model, moved = self.things[i], [*places[:i], place, *places[i + 1 :]]
            return model.put.like(place, around(i, moved), model.unit)

        def carry(i: int, start: Floats, to: Floats) -> float:
            navigator = self.things[i].carry
            if navigator.arrival(_full(start), to) <= 0.0:
                return float(np.inf)
            return window - navigator.value(_full(start), to)

        def ready(i: int, bits: int) -> bool:
            return bits & self.things[i].mask == self.things[i].needed

        def park(i: int) -> Floats:
            return self.things[i].put.own

        operators = self.switches.operators if self.switches is not None else None
        give_up = float(max(len(model.cells) for model in self.things) * window)
        return Rules(pick, put, carry, ready, park, float(10 * window), give_up, operators)


def _full(place: Floats) -> Floats:
    return place
