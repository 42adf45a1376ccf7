"""Test built packages: the wheel alone in an empty environment, the sdist by its own tests.

    python tests/packages.py dist [--quick]

With `--quick` the sdist runs the tests that are about its own files only.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

USE = """
import fwrl

world = fwrl.load_world("four-rooms")
agent = fwrl.make_agent("fwrl", world.n_states, world.n_actions, seed=0)
result = fwrl.run(world, agent, episodes=20, steps=400, seed=0)
assert result.reward[-5:].mean() > 400, result.reward
planner = fwrl.fit([("dock", "aisle"), ("aisle", "shelf"), ("gate", "aisle")])
assert planner.plan("gate", "shelf").states == ("gate", "aisle", "shelf")
"""
QUICK = ("tests/test_package.py", "tests/test_readme.py", "tests/test_architecture.py", "tests/docs", "tests/files")


def call(*command: str | Path, cwd: Path) -> None:
    """Run a command in a folder; its failure ends this program."""
    print("$", *command, flush=True)
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([str(word) for word in command], cwd=cwd, env=outside, check=True)


def environment(folder: Path) -> Path:
    """The interpreter of a new virtual environment."""
    venv.create(folder, with_pip=True)
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


def test_wheel(wheel: Path, folder: Path) -> None:
    """Install the wheel where nothing else is, and use it."""
    python = environment(folder / "wheel")
    call(python, "-m", "pip", "install", "--quiet", wheel, cwd=folder)
    call(python, "-m", "pip", "check", cwd=folder)
    call(python, "-m", "fwrl", "--version", cwd=folder)
    call(python, "-c", USE, cwd=folder)
    call(python, "-m", "fwrl", "train", "four-rooms", "--episodes", "5", "--out", "rooms.fwrl", cwd=folder)
    call(python, "-m", "fwrl", "check", "rooms.fwrl", cwd=folder)


def test_sdist(sdist: Path, folder: Path, tests: tuple[str, ...]) -> None:
    """Unpack the sdist, install it from there, and run its own tests."""
    with tarfile.open(sdist) as packed:
        packed.extractall(folder, filter="data")
    (root,) = folder.glob("fwrl-*/")
    python = environment(folder / "sdist")
    # Editable, or the examples in src would be those of another package than the one that is imported.
    install = ("-m", "pip", "install", "--quiet", "--constraint", "constraints.txt", "--editable", ".[test,docs]")
    call(python, *install, cwd=root)
    if not tests:
        call(python, "tests/warm_up.py", cwd=root)
    call(python, "-m", "pytest", "-q", "-m", "not stress", "-n", "2", "--dist", "loadgroup", *tests, cwd=root)


def main(dist: Path, quick: bool) -> None:
    """Test what is in `dist`."""
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as folder:
        test_wheel(wheel.resolve(), Path(folder))
        test_sdist(sdist.resolve(), Path(folder), QUICK if quick else ())


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--quick" in sys.argv[2:])
