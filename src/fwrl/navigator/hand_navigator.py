"""A navigator whose hand moves things and presses switches.

A hand moves freely, things rest until the hand moves them. In the mode *free* what matters is the hand as a thing sees
it; in the mode *held* the thing moves with the hand, and what matters is the thing's own place. The navigator stitches
within and across modes: grasp a thing, carry it, release it; press a switch. One without things has one mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fwrl.arrays import Floats
from fwrl.display import Picture, counted, drawn
from fwrl.errors import FwrlError, NoPlanError
from fwrl.navigator.attachment import Mask
from fwrl.navigator.hand_graph import NONE, plan_to
from fwrl.navigator.hand_models import HandSettings, SwitchModel, ThingModel, relative
from fwrl.navigator.hand_pursuit import Followable, HandPursuit
from fwrl.navigator.motion import LinearMotion, Steering
from fwrl.navigator.moves import Move, Rules, order_of_moves
from fwrl.navigator.operators import nearest, reachable, search
from fwrl.navigator.poses import Scene, Seen, turn
from fwrl.navigator.pursuit import REACHED, Pursuit

SLIPS = 3  # after as many, a thing counts as one that can't be picked with everything where it is
GRASP, CARRY, RELEASE, PRESS = "grasp", "carry", "release", "press"


class Carry(Pursuit):
    """A pursuit in the coordinates of a held thing, by the hand.

    It follows the cells of the thing's own coordinates up to the last window, then the approach: how it came to where
    it was put, as seen from there.
    """

    def __init__(
        self, model: ThingModel, goal: Floats, steering: Steering, approach: Followable, rng: np.random.Generator
    ) -> None:
        navigator = model.carry
        plan, k = navigator.plan(goal), navigator.settings.window
        super().__init__(navigator.cells, navigator.motion, k, plan, goal / navigator.scale)
        self._model, self._steering, self._plan_there = model, steering, plan
        self._approach, self._pursuit, self._final = approach, HandPursuit(approach, 0, rng), False
        self.velocity = np.zeros(steering.dimensions)  # of the hand's pose, set before each step

    def act(self, point: Floats) -> Floats:
        """Choose the action (m,) with the thing at a point (d,), in its scaled coordinates."""
        cell, plan = self._cells.cell(point), self._plan_there
        away = self._goal - point
        last = plan.goal in (cell, plan.target[cell]) or away @ away <= self._near
        self._final |= bool(last)
        if not self._final:
            return super().act(point)
        seen = self._model.attachment.matrix @ (-away * self._model.carry.scale)
        if self._approach.plan.goal[self._approach.cell(seen)]:
            return self.push(away, self._k)
        return self._pursuit.act(seen, self.velocity)

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
    places: tuple[Floats, ...] = ()  # of all things, when the moves were planned
    phase: str = ""
    pursuit: HandPursuit | Carry | None = None
    lost: int = 0  # steps for which a carried thing didn't look held
    closest: float = np.inf  # of a carried thing to where it goes, in units
    waited: int = 0  # steps since it came closer
    slips: int = 0  # times a carried thing was lost since one arrived
    refused: list[tuple[int, tuple[Floats, ...]]] = field(default_factory=list)  # things that slipped, and all places
    trace: list[Floats] = field(default_factory=list)


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
        self._plans: dict[tuple[int, str], Followable] = {}
        self._trial: Trial | None = None
        self._rng = np.random.default_rng(settings.seed)

    def aim(self, goal: Any) -> None:
        """Set the goal: a whole observation, in which things' positions and switches count."""
        self._trial = Trial(self._see(goal))

    def act(self, observation: Any) -> Floats:
        """Choose the next (m,) action; NoPlanError if nothing that was seen reaches the goal from here."""
        trial = self._begun()
        now = self._see(observation)
        trial.trace.append(np.asarray(observation, np.float64))
        velocity = np.zeros(self.steering.dimensions)
        if trial.last is not None:
            velocity = np.concatenate([now.hand - trial.last.hand, turn(now.angle, trial.last.angle)])
        trial.last = now
        while True:
            if not trial.moves:
                trial.moves = self._planned(now)
                trial.expected, trial.places, trial.phase = int(now.bits), now.things, ""
            move = trial.moves[0] if trial.moves else None
            if move is None:
                return self._rest()
            if self._over(trial, move, now):
                continue
            return self._step(trial, move, now, velocity)

    def explain(self, observation: Any) -> str:
        """Say in words what it does next, what comes after, and why in this order."""
        trial, now = self._begun(), self._see(observation)
        moves = trial.moves or self._planned(now)
        if not moves:
            return "Everything is as the goal says."
        first, names = moves[0], list(self.scene.things)
        if first.thing < 0:
            assert self.switches is not None
            said = [f"Press to flip {self._flipped(first.kind)}: {self._ahead(-1, str(first.kind), now)}"]
        else:
            carried = self.things[first.thing].attachment.matrix @ (first.place - now.things[first.thing])
            carry = f"carry it {np.linalg.norm(carried):.3g} to {self._where(first)}, release it"
            phase = trial.phase if trial.moves and trial.phase else GRASP
            said = [f"{names[first.thing]}: {carry if phase != RELEASE else 'release it'}"]
            if phase != CARRY:
                ahead = self._ahead(first.thing, phase, now)
                said = [f"{phase.capitalize()} {names[first.thing]}: {ahead}" + ("; then " + carry) * (phase == GRASP)]
        if first.unlike:
            said[0] += " (nothing like it was seen)"
        rules, now_places = self._rules(), list(now.things)
        for move in moves[1:]:
            if move.thing < 0:
                said.append(f"then press to flip {self._flipped(move.kind)}")
                continue
            reason = ""
            i = move.thing
            if not rules.ready(i, int(now.bits)):
                needed = self._named(self.things[i].needed)
                asked = [f"{name} at {needed[name]}" for name, bit in self._named(self.things[i].mask).items() if bit]
                reason = f" (it only ever moved with {', '.join(asked)})"
            elif rules.pick(i, now_places):
                reason = " (nobody picked it up with things around it as they are now)"
            elif rules.put(i, move.place, now_places):
                reason = " (nobody put it like that with things where they are now)"
            said.append(f"then {names[i]} to {self._where(move)}{reason}")
        return "; ".join(said) + "."

    def _where(self, move: Move) -> str:
        goal = self._begun().goal.things[move.thing]
        there = f"({', '.join(f'{x:.3g}' for x in move.place)})"
        return there if np.array_equal(move.place, goal) else f"{there}, out of the way"

    def _ahead(self, thing: int, phase: str, now: Seen) -> str:
        """Say how many windows a plan has to go, and the fewest episodes in which one of them was seen."""
        followed = self.hand_plan(thing, phase)
        plan, point = followed.plan, self._point(thing, now)
        cell = followed.cell(point)
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

    def _flipped(self, kind: int) -> str:
        assert self.switches is not None
        return ", ".join(name for name, bit in self._named(int(self.switches.operators.flips[kind])).items() if bit)

    def _point(self, thing: int, now: Seen) -> Floats:
        """Return the hand as a thing sees it, or (-1) as switches do."""
        if thing >= 0:
            return relative(now, thing, self.things[thing].attachment)
        return np.concatenate([now.hand, now.angle, now.opening])

    def plot(self, path: Any = None) -> Picture:
        """Draw the cells of each thing with their modes and the plan to grasp it, and where hand and things went.

        Args:
            path: (n, observation) rows to draw; default: what `act` saw since `aim`.
        """
        rows = self._trial.trace if path is None and self._trial is not None else path
        seen = self.scene.seen(rows) if rows is not None and len(rows) else None
        return drawn("hand_figure", self, seen)

    def save(self, path: str | Path) -> None:
        """Save to a file that `fwrl.load` reads; an existing file is replaced completely or not at all."""
        from fwrl.navigator.hand_file import write_hand_navigator

        write_hand_navigator(self, path)

    def __repr__(self) -> str:
        parts = [
            f"{name}: {counted(len(model.cells), 'cell')}, {int(model.held.sum())} of them held"
            for name, model in zip(self.scene.things, self.things, strict=True)
        ]
        if self.switches is not None:
            operators = self.switches.operators
            kinds = (
                f"{counted(len(operators.flips), 'kind')} of events, {int(operators.trusted.sum())} of them operators"
            )
            parts.append(f"switches: {counted(len(self.switches.cells), 'cell')}, {kinds}")
        return f"<Navigator with a hand, windows of {self.settings.window} steps; {'; '.join(parts)}>"

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
        elif trial.phase == GRASP and self._disturbed(trial, move, now):
            trial.moves = None
        else:
            return False
        trial.expected, trial.phase = int(now.bits), ""
        return True

    def _disturbed(self, trial: Trial, move: Move, now: Seen) -> bool:
        """Whether the hand pushed another thing away on its way to one."""
        pairs = zip(self.things, trial.places, now.things, strict=True)
        return any(m.apart(y, z) > 1.0 for j, (m, y, z) in enumerate(pairs) if j != move.thing)

    def _released(self, thing: int, now: Seen) -> bool:
        model = self.things[thing]
        return bool(model.away[model.cell(now, thing)])

    def _step(self, trial: Trial, move: Move, now: Seen, velocity: Floats) -> Floats:
        if move.thing < 0:
            assert self.switches is not None
            if trial.phase != PRESS:
                trial.phase, trial.pursuit = PRESS, self._pursuit(-1, str(move.kind), now)
        else:
            self._choose_phase(trial, move, now)
        if isinstance(trial.pursuit, Carry):
            trial.pursuit.velocity = velocity
            return trial.pursuit.act(now.things[move.thing] / self.things[move.thing].carry.scale)
        assert trial.pursuit is not None
        return trial.pursuit.act(self._point(move.thing, now), velocity)

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
                trial.phase, trial.pursuit, trial.slips = RELEASE, self._pursuit(i, RELEASE, now), 0
            elif trial.lost > self.settings.window:
                trial.phase, trial.moves, trial.slips = "", None, trial.slips + 1  # it may lie elsewhere now
                if trial.slips == SLIPS:
                    trial.refused.append((i, now.things))
                    trial.slips = 0
        if trial.phase in ("", GRASP) and held:
            trial.phase, trial.pursuit = CARRY, self._carry(i, move.place)
            trial.lost, trial.closest, trial.waited = 0, np.inf, 0
        elif trial.phase == "":
            trial.phase, trial.pursuit = GRASP, self._pursuit(i, GRASP, now)

    def _pursuit(self, thing: int, phase: str, now: Seen) -> HandPursuit:
        return HandPursuit(self.hand_plan(thing, phase), len(now.angle), self._rng)

    def _carry(self, thing: int, goal: Floats) -> Carry:
        model = self.things[thing]
        return Carry(model, goal, self.steering, self.hand_plan(thing, CARRY), self._rng)

    def hand_plan(self, thing: int, phase: str) -> Followable:
        """Return the plan to grasp, approach with or release a thing, or to press for an event (thing -1) by number."""
        if (thing, phase) not in self._plans:
            held = None
            if thing >= 0:
                model = self.things[thing]
                if phase == CARRY:
                    cells, graph = model.approach
                    goal = np.asarray((np.abs(cells.centres) <= cells.units).all(axis=1))
                else:
                    cells, graph, held = model.cells, model.graph, model.held
                    goal = held if phase == GRASP else model.away
            else:
                assert self.switches is not None
                cells, graph = self.switches.cells, self.switches.graph
                goal = np.arange(len(cells) + graph.n_events) == len(cells) + int(phase)
            s = self.settings
            plan = plan_to(graph, goal, s.window, s.doubt, s.give_up, s.backup == "best")
            self._plans[thing, phase] = Followable(cells, plan, self.steering, s.window, held)
        return self._plans[thing, phase]

    # ---- the order of moves

    def _planned(self, now: Seen) -> list[Move]:
        goal = self._begun().goal
        bits, wanted = int(now.bits), int(goal.bits)
        pairs = zip(self.things, now.things, goal.things, strict=True)
        if all(model.apart(y, g) <= 1.0 for model, y, g in pairs):
            return self._pressed(bits, wanted)
        moves = order_of_moves(self._rules(), now.things, goal.things, bits, wanted)
        if moves is None:
            raise NoPlanError(
                "no order of moves that was seen takes everything to its goal from here", self._named(bits)
            )
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

        def around(i: int, places: Sequence[Floats]) -> tuple[Floats, Mask]:
            model = self.things[i]
            where = [m.attachment.place(y) for m, y in zip(self.things, places, strict=True)]
            others = [j for j in range(len(where)) if j != i]
            apart = np.array([where[j] - where[i] for j in others]).reshape(-1, len(self.scene.hand.position))
            rides = [len(model.rides.near(j, -x, model.unit)) > 0 for j, x in zip(others, apart, strict=True)]
            return apart, np.array(rides, np.bool_)

        def pick(i: int, places: Sequence[Floats]) -> int:
            model = self.things[i]
            for thing, before in self._begun().refused:
                pairs = zip(range(len(places)), before, places, strict=True)
                if thing == i and all(apart(*pair) <= 1.0 for pair in pairs):
                    return 1
            return model.picked.unlike(places[i], *around(i, places), model.unit)

        def put(i: int, place: Floats, places: Sequence[Floats]) -> int:
            return self.things[i].put.unlike(place, *around(i, after(i, place, places)), self.things[i].unit)

        def carry(i: int, start: Floats, to: Floats) -> float:
            navigator = self.things[i].carry
            arrives = navigator.arrival(start, to) > 0.0
            return window - navigator.value(start, to) if arrives else float(np.inf)

        def ready(i: int, bits: int) -> bool:
            return bits & self.things[i].mask == self.things[i].needed

        def park(i: int) -> Floats:
            return self.things[i].put.own

        def apart(i: int, place: Floats, other: Floats) -> float:
            return self.things[i].apart(place, other)

        def after(i: int, to: Floats, places: Sequence[Floats]) -> list[Floats]:
            under = self.things[i].attachment
            start, by = under.place(places[i]), under.matrix @ (to - places[i])
            found = list(places)
            for j, model in enumerate(self.things):
                moved = model.rides.moved(i, model.attachment.place(places[j]) - start, by, model.unit)
                if moved is not None:
                    found[j] = model.attachment.ridden(places[j], moved)
            found[i] = to
            return found

        def rides(i: int, places: Sequence[Floats]) -> bool:
            return bool(around(i, places)[1].any())

        def aboard(i: int, carrier: int, places: Sequence[Floats]) -> list[tuple[Floats, Floats]]:
            model, under = self.things[i], self.things[carrier]
            where = model.attachment.place(places[i])
            column = carrier - (carrier > i)
            found = []
            for n in np.flatnonzero(model.put.riding[:, column]):
                offset, own = -model.put.others[n, column], model.put.own[n]
                stood = model.attachment.place(own) - offset
                by = under.attachment.place(places[carrier]) - stood
                moved = model.rides.moved(carrier, offset, by, model.unit)
                if moved is not None and np.linalg.norm(model.attachment.place(own) + moved - where) <= model.unit:
                    found.append((own, under.attachment.ridden(places[carrier], -by)))
            return found

        operators = self.switches.operators if self.switches is not None else None
        give_up = float(max(len(model.cells) for model in self.things) * window)
        return Rules(pick, put, carry, ready, park, apart, after, rides, aboard, float(10 * window), give_up, operators)
