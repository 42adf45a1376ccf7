"""Measure first commands with empty caches in two source trees, alternately, and write first-minute.json.

    python -m benchmarks.first_minute BEFORE AFTER RESULTS

BEFORE and AFTER are folders with a `src`. Times are processor seconds of the command and its children, the least of
`REPEATS`; of `fwrl play`, until the page has its first frame. Starting Python and importing is part of it. The first
minute as a whole, from `pip install` of AFTER in a new environment to a route and a picture, is measured by the clock:
how long downloads take is part of it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import websockets

assert sys.platform != "win32", "only Unix tells the processor time of child processes"

REPEATS = 3
COMMANDS = ("fwrl train four-rooms", "fwrl plan warehouse.fwrl dock packing", "fwrl play")
MINUTE = {
    "`pip install`, in a new environment": ("pip install --quiet {tree}",),
    "a first route: `fwrl fit`, `fwrl plan`": (
        "fwrl fit trips.csv -o warehouse.fwrl",
        "fwrl plan warehouse.fwrl dock packing",
    ),
    "a first picture: `fwrl train`, `fwrl show`": (
        "fwrl train four-rooms --out rooms.fwrl",
        "fwrl show rooms.fwrl four-rooms --goal 9,9 --start 1,1 --picture way.png",
    ),
}


def environment(tree: Path, cache: Path) -> dict[str, str]:
    """The variables with which commands of a tree run."""
    return {**os.environ, "PYTHONPATH": str(tree.resolve() / "src"), "NUMBA_CACHE_DIR": str(cache)}


def finished(words: list[str], variables: dict[str, str], folder: Path) -> float:
    """Processor seconds of a command that ends by itself."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", *words], env=variables, cwd=folder, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


async def first_frame(address: str) -> None:
    """Open a page as a browser would, until its first frame is there."""
    host = address.removeprefix("http://").rstrip("/")
    async with websockets.connect(f"ws://{host}/ws", origin=f"http://{host}", max_size=None) as socket:  # type: ignore[arg-type]
        await socket.send(json.dumps({"type": "begin", "session": "", "address": ""}))
        while not isinstance(await socket.recv(), bytes):
            pass


def shown(words: list[str], variables: dict[str, str], folder: Path) -> float:
    """Processor seconds of a page until its first frame."""
    command = [sys.executable, "-m", *words, "--no-browser", "--port", "0"]
    process = subprocess.Popen(command, env=variables, cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r"http://[^\s/]+", process.stdout.readline())
        assert found is not None
        asyncio.run(first_frame(found.group()))
        used = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")
    finally:
        process.terminate()
        process.wait()


def measured(command: str, tree: Path, folder: Path) -> tuple[float, float]:
    """Processor seconds of a command with an empty cache, and of the same again."""
    with tempfile.TemporaryDirectory() as cache:
        variables, words = environment(tree, Path(cache)), command.split()
        measure = shown if words[1] == "play" else finished
        return measure(words, variables, folder), measure(words, variables, folder)


def fitted(tree: Path, log: Path, folder: Path) -> Path:
    """A new folder with the log fitted by a tree itself: trees may write different versions of the format."""
    folder.mkdir()
    words = ["fwrl", "fit", str(log), "-o", "warehouse.fwrl"]
    finished(words, environment(tree, folder / "cache"), folder)
    return folder


def first_minute(tree: Path, folder: Path) -> dict[str, float]:
    """Seconds by the clock of each step of `MINUTE`, one after the other, nothing being installed or cached."""
    venv.create(folder / "venv", with_pip=True)
    python = str(folder / "venv" / "bin" / "python")
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "compiled"), "PIP_NO_CACHE_DIR": "1"}
    seconds = {}
    for step, commands in MINUTE.items():
        begin = time.perf_counter()
        for command in commands:
            words = command.format(tree=tree.resolve()).split()
            subprocess.run([python, "-m", *words], env=variables, cwd=folder, check=True, capture_output=True)
        seconds[step] = time.perf_counter() - begin
        print(step, seconds[step], flush=True)
    return seconds


def main(before: Path, after: Path, results: Path) -> None:
    """Measure all commands and write what was found."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = ["fwrl.samples.warehouse", "trips.csv", "places.csv"]
        subprocess.run([sys.executable, "-m", *words], cwd=folder, check=True, capture_output=True)
        trees = [(tree, fitted(tree, folder / "trips.csv", folder / str(k))) for k, tree in enumerate((before, after))]
        for command in COMMANDS:
            found = [[measured(command, *tree) for tree in trees] for _ in range(REPEATS)]
            old, new = (min(pair[k] for pair in found) for k in (0, 1))
            rows.append({"command": command, "before": old[0], "after": new[0], "again": new[1]})
            print(rows[-1], flush=True)
        seconds = first_minute(after, folder)
    results.mkdir(parents=True, exist_ok=True)
    page = json.dumps({"commands": rows, "minute": seconds}, indent=1)
    (results / "first-minute.json").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
