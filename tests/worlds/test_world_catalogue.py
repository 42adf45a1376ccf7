"""Names, patterns, paths and registrations all lead to worlds, or to an error that helps."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fwrl.errors import FwrlError, FwrlWarning, OptionError, UnknownNameError
from fwrl.worlds import (
    World,
    catalogue,
    describe_worlds,
    from_outcomes,
    load_world,
    register_world,
    world_names,
)


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(catalogue, "_registered", {})
    yield
    catalogue._discover.cache_clear()


def coin(reward: float = -1.0) -> World:
    """A coin that is tossed.

    And tossed again.
    """
    return from_outcomes("coin", [[[(0.5, 0, reward), (0.5, 1, reward)]], [[(1.0, 0, reward)]]])


def test_the_built_in_worlds_are_listed_and_described() -> None:
    listed = {info.name: info for info in describe_worlds()}
    assert {"four-rooms", "h-maze", "muddy-rooms", "risky-bridge", "windy-four-rooms"} <= set(listed)
    assert {"maze-WxH-SEED", "four-rooms-N"} <= set(listed)
    assert all(info.description for info in listed.values())
    assert listed["h-maze"].states == 7


@pytest.mark.parametrize("name", world_names())
def test_every_name_loads_a_world_of_that_name(name: str) -> None:
    assert load_world(name).name == name


def test_a_map_file_is_a_world(tmp_path: Path) -> None:
    path = tmp_path / "corner.txt"
    path.write_text("; A corner\n..\n.#\n")
    for given in (path, str(path)):
        world = load_world(given, step_reward=-1.0)
        assert (world.name, world.n_states, world.step_reward) == ("corner", 3, -1.0)
        assert world.description == "A corner"


def test_a_misspelt_name_is_met_with_close_ones_and_the_patterns() -> None:
    with pytest.raises(UnknownNameError, match=r"did you mean 'four-rooms'.*maze-WxH-SEED"):
        load_world("four-romms")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere/maze.txt", f"cannot read {str(Path('nowhere/maze.txt'))!r}: there is no such file"),
        ("nowhere.map", "cannot read 'nowhere.map': there is no such file"),
        ("nowhere/maze.png", "expected the path of a .txt or .map file"),
    ],
)
def test_a_missing_or_foreign_file_is_said_plainly(path: str, message: str) -> None:
    with pytest.raises(FwrlError, match=re.escape(message)):
        load_world(path)


def test_a_folder_is_not_a_map(tmp_path: Path) -> None:
    folder = tmp_path / "maps.txt"
    folder.mkdir()
    with pytest.raises(FwrlError, match="is a folder"):
        load_world(folder)


def test_a_registered_world_appears_everywhere() -> None:
    register_world("coin", coin)
    assert load_world("coin", reward=-2.0).outcomes(1, 0) == [(1.0, 0, -2.0)]
    assert "coin" in world_names()
    assert ("coin", "A coin that is tossed.", 2) in list(describe_worlds())


@pytest.mark.parametrize("name", ["four-rooms", "maze-5x5-0"])
def test_built_in_names_cannot_be_taken(name: str) -> None:
    with pytest.raises(FwrlError, match="built-in"):
        register_world(name, coin)


def test_unknown_options_are_refused_with_the_known_ones() -> None:
    with pytest.raises(OptionError, match=r"'gust'.*step_reward, wind, moves"):
        load_world("four-rooms", gust=0.5)
    with pytest.raises(OptionError, match=r"'wind'.*loops"):
        load_world("maze-5x5-0", wind=0.5)


def test_entry_points_are_worlds_and_broken_ones_only_warn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "plugged.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged\nVersion: 1\n")
    (package / "entry_points.txt").write_text(
        "[fwrl.worlds]\nplugged-coin = plugged_worlds:coin\nplugged-gone = plugged_worlds:gone\n"
    )
    (tmp_path / "plugged_worlds.py").write_text(
        "from fwrl.worlds import from_outcomes\n"
        "def coin():\n    return from_outcomes('plugged-coin', [[[(1.0, 0, -1.0)]]])\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    catalogue._discover.cache_clear()
    with pytest.warns(FwrlWarning, match="plugged-gone"):
        assert load_world("plugged-coin").n_states == 1
    assert "plugged-coin" in world_names()


def test_a_registered_world_that_breaks_does_not_hide_the_others() -> None:
    def broken() -> World:
        raise RuntimeError("out of order")

    register_world("broken", broken, "A broken one")
    with pytest.warns(FwrlWarning, match="out of order"):
        listed = list(describe_worlds())
    assert ("broken", "A broken one", None) in listed
    assert "h-maze" in {info.name for info in listed}


def test_importing_worlds_imports_nothing_heavy() -> None:
    code = (
        "import sys, fwrl.worlds; fwrl.worlds.load_world('four-rooms');"
        "print([m for m in ('numba', 'matplotlib', 'gymnasium', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
