"""OGBench's robot arm: its environments, what each number of an observation is, and start-goal pairs of our own.

OGBench has five tasks for each environment, and they only evaluate. `drawn_task` draws others, to tune on: cubes
anywhere on the table or stacked, buttons that random presses reach, any position of drawer and window.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fwrl.errors import FwrlError, unknown_name

ARM = 19  # coordinates of the arm at the beginning of each observation
CUBE, BUTTON, RAIL = 9, 4, 2  # coordinates of each cube, button, and drawer or window
CUBE_SCALE, SCALES = 10.0, {"drawer": 18.0, "window": 15.0}  # of a metre in an observation
CLOSE = 0.04  # metres from where it should be at which a thing counts as there
SIDE = 0.04  # metres of a cube's edge
APART = 0.08  # metres between the middles of cubes on the table, so that a gripper fits between them
TABLE = ((0.3, -0.3), (0.55, 0.3))  # metres, where OGBench puts cubes
SCENE_TABLE = ((0.3, -0.05), (0.5, 0.15))  # metres, what the open drawer, the window and the buttons leave free
DRAWER = (0.33, -0.356, 0.066)  # metres, a cube that lies in the closed drawer


class World(NamedTuple):
    """An environment.

    Attributes:
        limit: Steps that a task may take.
        episodes: Of the published data.
        cubes: How many.
        buttons: (rows, columns); a press flips a button and its neighbours, except in "scene".
        joints: Names of what slides on a rail.
    """

    limit: int
    episodes: int
    cubes: int = 0
    buttons: tuple[int, int] = (0, 0)
    joints: tuple[str, ...] = ()


WORLDS = {
    "cube-single": World(200, 1000, cubes=1),
    "cube-double": World(500, 1000, cubes=2),
    "cube-triple": World(1000, 3000, cubes=3),
    "puzzle-3x3": World(500, 1000, buttons=(3, 3)),
    "puzzle-4x4": World(500, 1000, buttons=(4, 4)),
    "puzzle-4x5": World(1000, 3000, buttons=(4, 5)),
    "puzzle-4x6": World(1000, 5000, buttons=(4, 6)),
    "scene": World(750, 1000, cubes=1, buttons=(1, 2), joints=("drawer", "window")),
}
KINDS = ("play", "noisy")
DATASETS = tuple(f"{world}-{kind}" for kind in KINDS for world in WORLDS)


def parts_of(dataset: str) -> tuple[str, str]:
    """The environment and the kind of data, of a name such as "cube-single-play"."""
    if dataset not in DATASETS:
        raise unknown_name("dataset", dataset, DATASETS)
    world, _, kind = dataset.rpartition("-")
    return world, kind


def load_ogbench(part: str = "") -> Any:
    """A module of OGBench's robot arm; an error that says what to install where it's missing."""
    try:
        return importlib.import_module(f"ogbench.manipspace{part}")
    except ImportError as error:
        raise FwrlError(
            f"the benchmark needs OGBench ({error}); install it with: pip install 'fwrl[ogbench]'"
        ) from error


def make_arm(world: str, seed: int, **options: Any) -> Any:
    """OGBench's environment without a time limit.

    OGBench shakes each goal with a few random actions, drawn without a seed; here they have one.
    """
    load_ogbench()  # registers the environments
    import gymnasium
    from gymnasium.envs.registration import load_env_creator

    spec = gymnasium.spec(f"{world}-v0")
    assert isinstance(spec.entry_point, str)
    arm: Any = load_env_creator(spec.entry_point)
    actions = gymnasium.spaces.Box(-1.0, 1.0, (5,), np.float32, seed=seed)
    env = type("SeededArm", (arm,), {"action_space": actions})(**{**spec.kwargs, **options})
    env.reset(seed=seed)
    return env


def drawn_task(world: str, rng: np.random.Generator) -> dict[str, Any]:
    """A start and a goal as OGBench describes its tasks."""
    kind = WORLDS[world]
    rows, columns = kind.buttons
    if world == "scene":
        return {"init": _drawn_scene(rng, inside=False), "goal": _drawn_scene(rng, inside=rng.random() < 1 / 4)}
    if kind.cubes:
        while True:  # until something is to be moved
            start, goal = (_drawn_cubes(kind.cubes, rng) for _ in range(2))
            if np.linalg.norm(goal - start, axis=1).max() >= APART:
                return {"init_xyzs": start, "goal_xyzs": goal}
    start_buttons = rng.integers(2, size=rows * columns)
    pressed = rng.random((rows, columns)) < 0.5
    flips = np.pad(pressed, 1).astype(np.int64)
    flipped = flips[1:-1, 1:-1] + flips[:-2, 1:-1] + flips[2:, 1:-1] + flips[1:-1, :-2] + flips[1:-1, 2:]
    return {"init_button_states": start_buttons, "goal_button_states": (start_buttons + flipped.ravel()) % 2}


def _drawn_cubes(n: int, rng: np.random.Generator, table: Any = TABLE) -> Any:
    """(n, 3) cubes on the table; one in three lies on an earlier one."""
    found = np.empty((n, 3))
    for k in range(n):
        below = found[rng.integers(k)] if k and rng.random() < 1 / 3 else None
        while True:
            xyz = np.append(rng.uniform(*table), SIDE / 2)
            if below is not None:  # on top of the others there
                xyz = np.append(below[:2], SIDE * (np.all(found[:k, :2] == below[:2], axis=1).sum() + 0.5))
                break
            if k == 0 or np.linalg.norm(found[:k, :2] - xyz[:2], axis=1).min() >= APART:
                break
        found[k] = xyz
    return found[rng.permutation(n)]


def _drawn_scene(rng: np.random.Generator, inside: bool) -> Mapping[str, Any]:
    """A scene with the cube on the table or in the closed drawer, from which nobody takes it in the data."""
    return {
        "block_xyzs": np.array([DRAWER]) if inside else _drawn_cubes(1, rng, SCENE_TABLE),
        "button_states": rng.integers(2, size=2),
        "drawer_pos": 0.0 if inside else -0.16 * float(rng.integers(2)),
        "window_pos": 0.2 * float(rng.integers(2)),
    }
