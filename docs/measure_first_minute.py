"""Measure first commands with empty caches in two source trees, alternately, and write first-minute.json.

    python docs/measure_first_minute.py BEFORE AFTER RESULTS

BEFORE and AFTER are folders with a `src`. Times are processor seconds of the command and its children, the least of
`REPEATS`; of `fwrl play`, until the page has its first frame. Starting Python and importing is part of it.
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
from pathlib import Path

import websockets

REPEATS = 1
COMMANDS = ("fwrl train four-rooms", "fwrl plan warehouse.fwrl dock packing", "fwrl play")


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
    results.mkdir(parents=True, exist_ok=True)
    (results / "first-minute.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
