"""Data for OGBench's robot arm, collected again by its published protocol (Park et al. 2025).

OGBench's package has the arm and the scripted oracles that move it, but not the loop that collects: this is ours. The
arm follows an oracle to a target, gets a new target when it's done, and so on for 1,001 steps.

- `play`: the oracle plans ahead; the plan has smoothed noise of 0.1.
- `noisy`: the oracle looks at each step; each episode draws the level of its noise from [0, 0.1], and one action in ten
  (puzzles: in five) is random.

How often a cube's target is on another cube is drawn for each episode. In the scene, an episode in which the cube
leaves the visible part of the table is dropped. Every episode has its own seed, so that more can be added later, and
the first hundred of a dataset are the same however many follow.

One detail differs: after a target is reached, OGBench's loop lets the next oracle see the old target for one more step.
Ours doesn't, so no episode depends on the one before.

Arrays are those of OGBench's files: `observations`, `actions`, `terminals`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.manipulation.arm import ARM, WORLDS, load_ogbench, make_arm, parts_of
from fwrl.files import replaced

Arrays = dict[str, NDArray[Any]]

STEPS = 1001  # of an episode
PART = 5  # episodes of a file
NOISE, SMOOTHING, LEAST = 0.1, 0.5, 0.4
RANDOM = {"cube": 0.1, "scene": 0.1, "puzzle": 0.2}  # share of random actions in noisy data
STACKED = {"cube-double": (0.0, 0.25), "cube-triple": (0.05, 0.35)}  # the least and largest share in an episode
SPREAD = np.array([1.0, 1.0, 1.0, 3.0, 10.0])  # noise of position, yaw and opening
VISIBLE = (-0.3, 0.29)  # metres, y of a cube on the table
IN_DRAWER = (0.06, 0.08)  # metres, z of a cube in the drawer


def load_data(
    folder: Path, dataset: str, seed: int, episodes: int, progress: Callable[[float], None] | None = None
) -> Arrays:
    """The first episodes of a dataset; those that aren't there are collected and kept, a few to a file.

    Args:
        folder: Of the files.
        dataset: An environment and a kind, as "cube-single-play".
        seed: Of the collector.
        episodes: How many.
        progress: Called with the part that is done, from 0 to 1.
    """
    kept = folder / f"{dataset}-regenerated-{seed}"
    files = {first: kept / f"{first:05d}.npz" for first in range(0, episodes, PART)}
    missing = [first for first, path in files.items() if not path.is_file()]
    collected = collect(dataset, seed, [first + k for first in missing for k in range(PART)])
    for done, first in enumerate(missing, 1):
        arrays: Any = merged(list(itertools.islice(collected, PART)))
        kept.mkdir(parents=True, exist_ok=True)
        with replaced(files[first]) as draft, draft.open("wb") as file:
            np.savez_compressed(file, **arrays)
        if progress is not None:
            progress(done / len(missing))
    parts = []
    for path in files.values():
        with np.load(path) as stored:
            parts.append({name: stored[name] for name in stored.files})
    return {name: array[: episodes * STEPS] for name, array in merged(parts).items()}


def merged(parts: list[Arrays]) -> Arrays:
    """Episodes one after the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def collect(dataset: str, seed: int, episodes: Sequence[int]) -> Iterator[Arrays]:
    """Collect episodes by their number."""
    world, kind = parts_of(dataset)
    env = make_arm(world, seed, terminate_at_goal=False, mode="data_collection")
    oracles = _oracles(world, kind, env)
    before = np.random.get_state()  # noqa: NPY002 (the oracles draw from the global generator)
    try:
        for episode in episodes:
            rng = np.random.default_rng([seed, episode])
            while True:  # until one is fit to keep
                seen, info = env.reset(seed=int(rng.integers(2**31)))
                np.random.seed(rng.integers(2**31))  # noqa: NPY002
                found = _episode(env, oracles, world, kind, rng, seen, info)
                if world != "scene" or _visible(found["observations"]):
                    break
            yield found
    finally:
        np.random.set_state(before)  # noqa: NPY002
        env.close()


def _oracles(world: str, kind: str, env: Any) -> dict[str, Any]:
    """By what is to be moved, who moves it."""
    family = world.partition("-")[0]
    planned = kind == "play"
    options: dict[str, Any] = {"env": env}
    options |= {"noise": NOISE, "noise_smoothing": SMOOTHING} if planned else {"min_norm": LEAST}
    found = {}
    for thing in {"cube": ["cube"], "puzzle": ["button"], "scene": ["cube", "button", "drawer", "window"]}[family]:
        style, suffix = ("plan", "PlanOracle") if planned else ("markov", "MarkovOracle")
        oracle = getattr(load_ogbench(f".oracles.{style}.{thing}_{style}"), f"{thing.title()}{suffix}")
        found[thing] = oracle(**options, **({"gripper_always_closed": True} if family == "puzzle" else {}))
    return found


def _episode(
    env: Any, oracles: dict[str, Any], world: str, kind: str, rng: np.random.Generator, seen: Any, info: dict[str, Any]
) -> Arrays:
    """One episode from the state and the target that the environment drew."""
    noise = rng.uniform(0.0, NOISE) if kind == "noisy" else 0.0
    random = RANDOM[world.partition("-")[0]] if kind == "noisy" else 0.0
    stacked = rng.uniform(*STACKED[world]) if world in STACKED else 0.0
    oracle = oracles[info["privileged/target_task"]]
    oracle.reset(seen, info)
    observations, actions = np.empty((STEPS, len(seen)), np.float32), np.empty((STEPS, 5), np.float32)
    for t in range(STEPS):
        if rng.random() < random:
            action = rng.uniform(-1.0, 1.0, 5)
        else:
            action = oracle.select_action(seen, info) + rng.normal(0.0, noise * SPREAD)
        actions[t] = np.clip(action, -1.0, 1.0)
        observations[t] = seen
        seen, _, _, _, info = env.step(actions[t])
        if oracle.done:
            seen, info = env.set_new_target(p_stack=stacked)
            oracle = oracles[info["privileged/target_task"]]
            oracle.reset(seen, info)
    terminals = np.zeros(STEPS, np.bool_)
    terminals[-1] = True
    return {"observations": observations, "actions": actions, "terminals": terminals}


def _visible(observations: NDArray[np.float32]) -> bool:
    """Whether the cube was always on the visible part of the table or in the drawer."""
    y, z = observations[:, ARM + 1] / 10.0, observations[:, ARM + 2] / 10.0
    in_drawer = (z >= IN_DRAWER[0]) & (z <= IN_DRAWER[1])
    return bool(np.all((y < VISIBLE[1]) & ((y > VISIBLE[0]) | in_drawer)))


def share(dataset: str, episodes: int) -> float:
    """Of the published number of episodes, how many these are."""
    return episodes / WORLDS[parts_of(dataset)[0]].episodes
