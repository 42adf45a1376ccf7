"""A hand grasps, carries and releases things and presses switches: plans for each, and their order.

A hand moves freely, things rest until the hand moves them. In the mode *free* what matters is the hand as a thing sees
it; in the mode *held* the thing moves with the hand, and what matters is the thing's own place. Plans stitch within and
across modes: grasp a thing, carry it, release it; press a switch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from fwrl.arrays import Floats
from fwrl.display import counted
from fwrl.errors import FwrlError, NoPlanError
from fwrl.navigator.attachment import Mask
from fwrl.navigator.errand import CARRY, GRASP, RELEASE, SWITCHES, Errand, Slip
from fwrl.navigator.hand_graph import plan_to
from fwrl.navigator.hand_models import SwitchModel, ThingModel, aboard, relative
from fwrl.navigator.hand_pursuit import Followable
from fwrl.navigator.motion import Steering
from fwrl.navigator.moves import Move, Rules, order_of_moves
from fwrl.navigator.navigator import Settings
from fwrl.navigator.operators import nearest, reachable, search
from fwrl.navigator.poses import Scene, Seen

T = TypeVar("T")

MOST_KEPT = 100_000  # answers about rides


class Hand:
    """The things and switches of a hand, and plans to move and press them.

    Args:
        scene: which coordinates are the hand's, the things' and the switches'.
        steering: of the hand's pose.
        things: how to move each thing.
        switches: how to press; None without switches.
        settings: how it was fitted.
    """

    def __init__(
        self,
        scene: Scene,
        steering: Steering,
        things: Sequence[ThingModel],
        switches: SwitchModel | None,
        settings: Settings,
    ) -> None:
        self.scene, self.steering, self.settings = scene, steering, settings
        self.things, self.switches = tuple(things), switches
        self._plans: dict[tuple[int, str, float], Followable] = {}
        self._kept: dict[tuple[int | bytes, ...], Any] = {}

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
        return "; ".join(parts)

    def see(self, observation: Any) -> Seen:
        """Read one observation."""
        seen = self.scene.seen(observation)
        if seen.hand.ndim != 1:
            raise FwrlError("expected one observation, not rows of them")
        return seen

    def pursue(self, goal: Any) -> Errand:
        """Begin to work towards a goal: a whole observation, in which things' positions and switches count."""
        return Errand(self, self.see(goal))

    def point(self, thing: int, now: Seen) -> Floats:
        """Return the hand as a thing sees it, or as switches do."""
        if thing == SWITCHES:
            return np.concatenate([now.hand, now.angle, now.opening])
        return relative(now, thing, self.things[thing].attachment)

    def plan(self, thing: int, phase: str, doubt: float | None = None) -> Followable:
        """Return the plan to grasp, approach with or release a thing, or to press for an event by its number.

        Args:
            doubt: in place of the one that it was fitted with.
        """
        s = self.settings
        key = (thing, phase, s.doubt if doubt is None else doubt)
        if key not in self._plans:
            held = None
            if thing == SWITCHES:
                assert self.switches is not None
                cells, graph = self.switches.cells, self.switches.graph
                goal = np.arange(len(cells) + graph.n_events) == len(cells) + int(phase)
            elif phase == CARRY:
                cells, graph = self.things[thing].approach
                p = cells.places.shape[1]
                goal = np.asarray((np.abs(cells.centres[:, :p]) <= cells.units[:p]).all(axis=1))
            else:
                model = self.things[thing]
                cells, graph, held = model.cells, model.graph, model.held
                goal = held if phase == GRASP else model.away
            plan = plan_to(graph, goal, s.window, key[2], s.give_up, s.backup == "best")
            self._plans[key] = Followable(cells, plan, self.steering, s.window, held)
        return self._plans[key]

    @property
    def penalty(self) -> float:
        """Cost of giving up, in steps; one window for each cell."""
        fitted = [model.cells for model in (*self.things, self.switches) if model is not None]
        return float(max(map(len, fitted)) * self.settings.window)

    def names(self, bits: int) -> list[str]:
        """Return the names of switches that are 1."""
        return [name for name, bit in self.named(bits).items() if bit]

    def aboard(self, thing: int, place: Floats, places: Sequence[Floats]) -> float:
        """Return what a thing is put aboard at a place, as its approach sees it."""
        there = [place if j == thing else other for j, other in enumerate(places)]
        return float(aboard(self.around(thing, there)[1]))

    def around(self, thing: int, places: Sequence[Floats]) -> tuple[Floats, Mask]:
        """Return where the others are (T, p), as a thing sees them, and with which it comes along (T,)."""
        where = [m.attachment.place(y) for m, y in zip(self.things, places, strict=True)]
        others = [j for j in range(len(where)) if j != thing]
        apart = np.array([where[j] - where[thing] for j in others]).reshape(-1, len(self.scene.hand.position))
        rides = [self._remembered(self._comes_along, thing, j, places[thing], places[j]) for j in others]
        return apart, np.array(rides, np.bool_)

    def _remembered(self, answer: Callable[..., T], thing: int, carrier: int, *places: Floats) -> T:
        """Answer a question about a ride once; questions differ in their number of places."""
        key: tuple[int | bytes, ...] = (thing, carrier, *(place.tobytes() for place in places))
        if key not in self._kept:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            self._kept[key] = answer(thing, carrier, *places)
        found: T = self._kept[key]
        return found

    def _comes_along(self, thing: int, carrier: int, place: Floats, other: Floats) -> bool:
        """Whether a thing at a place comes along with another."""
        model, under = self.things[thing], self.things[carrier]
        offset = model.attachment.place(place) - under.attachment.place(other)
        return len(model.rides.near(carrier, offset, model.unit)) > 0

    def _taken_along(self, thing: int, carrier: int, place: Floats, start: Floats, to: Floats) -> Floats | None:
        """Return where a thing at a place is once another went from its start somewhere; None if it stays."""
        model, under = self.things[thing], self.things[carrier].attachment
        offset = model.attachment.place(place) - under.place(start)
        moved = model.rides.moved(carrier, offset, under.matrix @ (to - start), model.unit)
        return None if moved is None else model.attachment.ridden(place, moved)

    def named(self, bits: int) -> dict[str, int]:
        """Return the state of each switch by its name."""
        return {name: bits >> bit & 1 for bit, name in enumerate(self.scene.switches)}

    def outlook(self, now: Seen, goal: Seen, doubt: float) -> tuple[float, float]:
        """Return the expected reward (minus steps) of reaching a goal, and the probability of arriving.

        Each grasp and press counts as if it began where the hand is now.

        Args:
            doubt: failures that an action may hide, in episodes.
        """
        try:
            moves = self.moves(now, goal)
        except NoPlanError:
            return -self.penalty, 0.0
        places, value, arrival = list(now.things), 0.0, 1.0
        for move in moves:
            for phase in [str(move.kind)] if move.thing == SWITCHES else [GRASP, RELEASE]:
                followed = self.plan(move.thing, phase, doubt)
                cell = followed.cell(self.point(move.thing, now))
                if phase == RELEASE:
                    cell = int(np.argmax(self.things[move.thing].held))
                if not followed.plan.goal[cell]:
                    value += float(followed.plan.value[cell])
                    arrival *= float(followed.plan.arrival[cell])
            if move.thing != SWITCHES:
                carry = self.things[move.thing].carry
                value += carry.value(places[move.thing], move.place)
                arrival *= carry.arrival(places[move.thing], move.place)
                places = self.rules().after(move.thing, move.place, places)
        return max(value, -self.penalty), arrival

    # ---- the order of moves

    def moves(self, now: Seen, goal: Seen, slips: Sequence[Slip] = ()) -> list[Move]:
        """Return the cheapest moves from what is seen to a goal; NoPlanError if nothing that was seen gets there.

        Args:
            slips: what couldn't be picked.
        """
        bits, wanted = int(now.bits), int(goal.bits)
        pairs = zip(self.things, now.things, goal.things, strict=True)
        if all(model.apart(y, g) <= 1.0 for model, y, g in pairs):
            return self._presses(bits, wanted)
        moves = order_of_moves(self.rules(slips), now.things, goal.things, bits, wanted)
        if moves is None:
            raise NoPlanError(
                "no order of moves that was seen takes everything to its goal from here", self.named(bits)
            )
        return moves

    def _presses(self, bits: int, wanted: int) -> list[Move]:
        if bits == wanted:
            return []
        assert self.switches is not None
        operators = self.switches.operators
        kinds = search(operators, bits, wanted)
        if kinds is None:
            found = nearest(reachable(operators, bits), wanted)
            raise NoPlanError(
                f"nothing that was seen sets all switches as wanted; the nearest state that can be reached differs in "
                f"{', '.join(self.names(found ^ wanted))}: choose another goal, or add episodes that press more",
                self.named(found),
            )
        return [Move(SWITCHES, np.zeros(0), kind) for kind in kinds]

    def rules(self, slips: Sequence[Slip] = ()) -> Rules:
        """Say what a move may do and what it costs.

        Args:
            slips: what couldn't be picked.
        """
        window = self.settings.window

        def pick(i: int, places: Sequence[Floats]) -> int:
            model = self.things[i]
            for thing, before in slips:
                pairs = zip(range(len(places)), before, places, strict=True)
                if thing == i and all(apart(*pair) <= 1.0 for pair in pairs):
                    return 1
            return model.picked.unlike(places[i], *self.around(i, places), model.unit)

        def put(i: int, place: Floats, places: Sequence[Floats]) -> int:
            return self.things[i].put.unlike(place, *self.around(i, after(i, place, places)), self.things[i].unit)

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
            found = list(places)
            for j, place in enumerate(places):
                if j != i:
                    taken = self._remembered(self._taken_along, j, i, place, places[i], to)
                    found[j] = place if taken is None else taken
            found[i] = to
            return found

        def rides(i: int, places: Sequence[Floats]) -> bool:
            return bool(self.around(i, places)[1].any())

        def before_ride(i: int, carrier: int, places: Sequence[Floats]) -> list[tuple[Floats, Floats]]:
            model, under = self.things[i], self.things[carrier]
            where = model.attachment.place(places[i])
            column = carrier - (carrier > i)
            found, both = [], []
            for n in np.flatnonzero(model.put.riding[:, column]):
                offset, own = -model.put.others[n, column], model.put.own[n]
                stood = model.attachment.place(own) - offset
                by = under.attachment.place(places[carrier]) - stood
                moved = model.rides.moved(carrier, offset, by, model.unit)
                if moved is not None and np.linalg.norm(model.attachment.place(own) + moved - where) <= model.unit:
                    found.append((own, under.attachment.ridden(places[carrier], -by)))
                    both.append(np.concatenate([model.attachment.place(own), stood]))
            alike = [int((np.linalg.norm(np.array(both) - one, axis=1) <= model.unit).sum()) for one in both]
            return [found[n] for n in np.argsort(alike, kind="stable")[::-1]]

        operators = self.switches.operators if self.switches is not None else None
        press = float(10 * window)
        return Rules(pick, put, carry, ready, park, apart, after, rides, before_ride, press, self.penalty, operators)
