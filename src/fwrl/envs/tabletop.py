"""A small world for a hand, seen from the side: blocks to stack, a drawer to slide, buttons to press.

Geometry and shortest plans are known, so what a navigator learns from a few episodes can be checked. The hand moves
freely over the table. Closing its fingers around a free block takes the block along; opening them lets it fall on what
is below. Blocks don't overlap and a covered block can't be taken. A drawer's handle slides to the right; it may be
locked by a button. It may have a tray on the table below: a block there slides along, into a cabinet that no hand can
reach into. Pressing a button flips switches.

An observation is the hand's x and z and its opening; x and z of each block; how far the drawer is open; the switches.
An action is how to change the first three, each from -1 to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from fwrl.arrays import Floats, Ints

SPEED = np.array([0.25, 0.25, 0.25])  # of hand and fingers, per step
SIZE = 1.0  # of a block, which rests on the table at z = SIZE / 2
REACH = 0.3  # of the fingers around what they take
GRIP = 0.4  # opening around a block or handle
HEIGHT = 5.0  # of the world
TRAVEL = 2.0  # of the drawer
LOW = 2.0  # z of the top of the cabinet
PRESSED = 0.25  # z below which a hand presses a button
NOISE = 0.3  # of demonstrations


@dataclass
class Tabletop:
    """One table.

    Attributes:
        blocks: how many.
        width: of the table; x goes from 0 to `width`.
        buttons: x of each button, on the table.
        flips: for each button the switches that it flips; default: its own.
        drawer: x of the closed drawer's handle, at z = 3; None without drawer.
        lock: the switch that must be 1 to slide the drawer; None if it's never locked.
        tray: whether the handle takes a block below it along, if less than half a block away, and a cabinet of height
            `LOW` stands around the closed drawer, a block wide to each side.
        wall: x of a wall from table to ceiling; None without.
    """

    blocks: int = 1
    width: float = 10.0
    buttons: Sequence[float] = ()
    flips: Sequence[Sequence[int]] = ()
    drawer: float | None = None
    lock: int | None = None
    tray: bool = False
    wall: float | None = None
    hand: Floats = field(init=False)  # x, z, opening
    places: Floats = field(init=False)  # (blocks, 2)
    slid: float = field(init=False)
    switches: Ints = field(init=False)
    held: int = field(init=False)  # block, `blocks` for the drawer, -1 for nothing

    def __post_init__(self) -> None:
        self.flips = self.flips or [[i] for i in range(len(self.buttons))]
        self.reset(np.random.default_rng(0))

    def reset(self, rng: np.random.Generator) -> Floats:
        """Put everything somewhere; return the observation."""
        slots = rng.permutation(np.arange(1, int(self.width), 1.5 * SIZE))[: self.blocks]
        x = self.hand_x(rng)
        if self.wall is not None:  # block and hand are in one room
            slots = np.array(
                [
                    s
                    for s in rng.permutation(np.arange(1, self.width, 0.5))
                    if self._same_room(s, x) and not self._in_wall(s)
                ]
            )
            slots = slots[: self.blocks]
        self.places = np.stack([slots, np.full(self.blocks, SIZE / 2)], axis=1)
        self.hand = np.array([x, rng.uniform(2, HEIGHT), rng.uniform(0.7, 1)])
        self.slid = float(rng.uniform(0, TRAVEL)) if self.drawer is not None else 0.0
        self.switches = rng.integers(0, 2, len(self.buttons))
        self.held = -1
        return self.observation()

    def hand_x(self, rng: np.random.Generator) -> float:
        """Draw an x for the hand."""
        x = float(rng.uniform(0.5, self.width - 0.5))
        return self.hand_x(rng) if self._in_wall(x) else x

    def observation(self) -> Floats:
        """Return what is seen now."""
        slid = [self.slid] if self.drawer is not None else []
        return np.concatenate([self.hand, self.places.ravel(), slid, self.switches])

    def step(self, action: ArrayLike) -> Floats:
        """Move by one action; return the observation."""
        push = SPEED * np.clip(np.asarray(action, np.float64), -1.0, 1.0)
        before = self.hand.copy()
        for axis in (0, 1):
            self._move(axis, push[axis])
        self._close(push[2])
        for block in np.argsort(self.places[:, 1]):
            if block != self.held:
                self.places[block, 1] = self._support(block)
        for button, x in enumerate(self.buttons):
            if abs(self.hand[0] - x) < SIZE / 2 and self.hand[1] < PRESSED <= before[1]:
                self.switches[list(self.flips[button])] ^= 1
        return self.observation()

    def _move(self, axis: int, by: float) -> None:
        to = self.hand[axis] + by
        if self.drawer is not None and self.held == self.blocks:
            if axis == 1 or (self.lock is not None and not self.switches[self.lock]):
                return
            slid = float(np.clip(self.slid + by, 0.0, TRAVEL))
            if self.tray:
                below = (np.abs(self.places[:, 0] - self.handle()[0]) < SIZE / 2) & (self.places[:, 1] < SIZE)
                self.places[below, 0] += slid - self.slid
            self.hand[0] += slid - self.slid
            self.slid = slid
            return
        low, high = (0.0, self.width) if axis == 0 else (0.0, HEIGHT)
        if not low <= to <= high or (axis == 0 and self._in_wall(to)):
            return
        if self._in_cabinet(*((to, self.hand[1]) if axis == 0 else (self.hand[0], to))):
            return
        if self.held >= 0:
            moved = self.places[self.held].copy()
            moved[axis] += by
            if moved[1] < SIZE / 2 or self._overlaps(self.held, moved):
                return
            self.places[self.held] = moved
        self.hand[axis] = to

    def _same_room(self, x: float, other: float) -> bool:
        return self.wall is None or (x < self.wall) == (other < self.wall)

    def _in_wall(self, x: float) -> bool:
        """Whether a hand at x would be in the wall, which is two blocks thick."""
        return self.wall is not None and abs(x - self.wall) < SIZE

    def _in_cabinet(self, x: float, z: float) -> bool:
        return self.tray and self.drawer is not None and abs(x - self.drawer) < SIZE and z < LOW

    def _overlaps(self, block: int, place: Floats) -> bool:
        others = np.delete(self.places, block, axis=0)
        return bool((np.abs(others - place) < SIZE - 1e-9).all(axis=1).any())

    def _support(self, block: int) -> float:
        x, z = self.places[block]
        others = np.delete(self.places, block, axis=0)
        below = others[(np.abs(others[:, 0] - x) < SIZE) & (others[:, 1] < z)]
        return float(max(below[:, 1].max(initial=-np.inf) + SIZE, SIZE / 2))

    def _close(self, by: float) -> None:
        opening = float(np.clip(self.hand[2] + by, 0.0, 1.0))
        if self.held < 0 and opening <= GRIP < self.hand[2]:
            at = [*self.places, *([] if self.drawer is None else [self.handle()])]
            near = [i for i, place in enumerate(at) if np.hypot(*(place - self.hand[:2])) < REACH]
            near = [i for i in near if i == self.blocks or not self._covered(i)]
            self.held = near[0] if near else -1
        elif self.held >= 0 and opening > GRIP:
            self.held = -1
        self.hand[2] = max(opening, GRIP) if self.held >= 0 else opening

    def _covered(self, block: int) -> bool:
        above = np.delete(self.places, block, axis=0) - self.places[block]
        return bool(((np.abs(above[:, 0]) < SIZE) & (np.abs(above[:, 1] - SIZE) < 1e-6)).any())

    def handle(self) -> Floats:
        """Return x and z of the drawer's handle."""
        assert self.drawer is not None
        return np.array([self.drawer + self.slid, 3.0])

    def demonstrate(self, episodes: int, steps: int, seed: int = 0) -> list[tuple[Floats, Floats]]:
        """Return episodes (observations, actions) of somebody who moves and presses this and that, without a goal."""
        rng = np.random.default_rng(seed)
        found = []
        for _ in range(episodes):
            seen = [self.reset(rng)]
            done: list[Floats] = []
            while len(done) < steps:
                for target in self._idea(rng):
                    for _ in range(60):
                        away = (target - self.hand) / SPEED
                        if np.abs(away[:2]).max() < 0.5 and (abs(away[2]) < 0.5 or self.held >= 0):
                            break
                        done.append(np.clip(away + rng.normal(0.0, NOISE, 3), -1.0, 1.0))
                        seen.append(self.step(done[-1]))
            found.append((np.array(seen[: steps + 1]), np.array(done[:steps])))
        return found

    def _idea(self, rng: np.random.Generator) -> list[Floats]:
        """Return where the hand goes, with its opening, to do one thing."""
        choice = int(rng.integers(self.blocks + (self.drawer is not None) + len(self.buttons)))
        high, wide, shut = rng.uniform(3, HEIGHT), 1.0, 0.0
        if choice < self.blocks:
            x, z = self.places[choice]
            if self._covered(choice) or not self._same_room(x, self.hand[0]):
                return []
            to = self.hand_x(rng)
            while not self._same_room(x, to):
                to = self.hand_x(rng)
            if self.drawer is not None and self.tray:
                if self._in_cabinet(x, z):
                    return []
                while self.drawer - 2 * SIZE < to < self.drawer + TRAVEL + SIZE:  # where the tray may slide
                    to = self.hand_x(rng)
                if self.slid > 0.75 * TRAVEL and rng.random() < 0.5:
                    to = self.handle()[0]
            others = np.delete(self.places, choice, axis=0)
            near = np.abs(others[:, 0] - to)
            if len(others) and near.min() < 1.5 * SIZE:
                to = others[near.argmin(), 0]  # on top, rather than half on it
            below = others[np.abs(others[:, 0] - to) < SIZE]
            top = float(max(below[:, 1].max(initial=-np.inf) + SIZE, SIZE / 2))
            over = max(high, z)
            path = [
                (x, over, wide),
                (x, z, wide),
                (x, z, shut),
                (x, over, shut),
                (to, over, shut),
                (to, top + 0.1, shut),
            ]
            path += [(to, top + 0.1, wide), (to, over, wide)]
        elif self.drawer is not None and choice == self.blocks:
            x, z = self.handle()
            to = self.drawer + rng.uniform(0, TRAVEL)
            side = rng.choice([-1.0, 1.0])
            path = [(x, z + side, wide), (x, z, wide), (x, z, shut), (to, z, shut), (to, z, wide), (to, z + side, wide)]
        else:
            x = self.buttons[choice - self.blocks - (self.drawer is not None)]
            path = [(x, high, wide), (x, 0.1, wide), (x, high, wide)]
        return [np.array(point, np.float64) for point in path]
