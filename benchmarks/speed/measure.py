"""Timing two implementations of the same computation against each other, and the peak memory of a process."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, Literal, NamedTuple

import numpy as np

from fwrl.errors import FwrlError

ROOT = Path(__file__).resolve().parents[2]  # where Python finds `benchmarks`
CHUNK = 1 << 16  # moves learned at a time


class Measurement(NamedTuple):
    """The cost of fwrl and of what it is compared with, in seconds or bytes; `note` describes the measurement."""

    name: str
    ours: float
    other: float
    note: str
    unit: Literal["s", "B"] = "s"

    @property
    def ratio(self) -> float:
        """Our cost over the other's: below 1, fwrl takes less."""
        return self.ours / self.other


def alternate(ours: Callable[[], None], other: Callable[[], None], rounds: int) -> tuple[float, float]:
    """Median seconds of each, measured alternately, so that load affects both alike; the first round is not counted."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds + 1):
        for function, taken in zip((ours, other), times, strict=True):
            begin = time.perf_counter()
            function()
            if number > 0:
                taken.append(time.perf_counter() - begin)
    return median(times[0]), median(times[1])


def seconds(function: Callable[[], None], rounds: int = 1) -> float:
    """The least seconds of `function` over several rounds."""
    taken = []
    for _ in range(rounds):
        begin = time.perf_counter()
        function()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def discard(_: object) -> None:
    """Ignore a result."""


def peak_of(call: str) -> float:
    """The peak memory, in bytes, of a new Python process that calls one of the functions below."""
    script = f"from benchmarks.speed import measure; measure.{call}; print(measure.peak())"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True)
    return float(done.stdout)


def columns_of_fwrl(folder: str, goals: int) -> None:
    """An agent that begins an episode for each of `goals` goals and keeps the columns of all."""
    from fwrl.agents import make_agent

    source, action, target = _moves(folder)
    S, A = int(source[-1]) + 1, int(action.max()) + 1
    agent = make_agent("fwrl", S, A, seed=0, storage="columns")
    rng = np.random.default_rng(0)
    for begin in range(0, len(source), CHUNK):
        s, a, n = (column[begin : begin + CHUNK] for column in (source, action, target))
        agent.observe_many(s, a, -1 - rng.random(len(s)) / 2, n)
    for goal in np.linspace(0, S - 1, goals).astype(int).tolist():
        agent.begin_episode(goal)
        agent.act(S // 2)


def columns_of_scipy(folder: str, goals: int) -> None:
    """SciPy's dijkstra for each goal, on a matrix of the same moves."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    source, _, target = _moves(folder)
    S = int(source[-1]) + 1
    cost = 1 + np.random.default_rng(0).random(len(source)) / 2
    graph: Any = csr_array((cost, (target, source)), shape=(S, S))
    kept = [dijkstra(graph, indices=goal) for goal in np.linspace(0, S - 1, goals).astype(int).tolist()]
    assert len(kept) == goals


def fitted(log: str, out: str, memory: str, connections: bool) -> None:
    """Fit and save a planner, with a limit on DuckDB's memory."""
    from fwrl.planner import fit

    fit(log, memory=memory, connections=connections).save(out)


def solved(folder: str, goal: int) -> None:
    """Solve for a goal on a counted model that is in memory."""
    from fwrl.kernels.mdp.counts import Outcomes
    from fwrl.kernels.mdp.solver import solve

    arrays: list[Any] = [np.load(Path(folder) / f"{name}.npy") for name in Outcomes._fields]
    solve(Outcomes(*arrays), goal)


def learned_online(size: int, options: dict[str, str]) -> None:
    """Learn a few goals in wind on a map of `size` x `size` cells."""
    from benchmarks.speed.uncertainty import learned

    learned(size, options)


def peak() -> int:
    """The peak memory of this process in bytes.

    On Linux it is read from /proc, because `getrusage` includes the parent's memory before the exec.
    """
    if sys.platform == "win32":
        raise FwrlError("Windows does not tell the peak memory of a process in Python; leave out the part of memory")
    status = Path("/proc/self/status")
    if not status.is_file():
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    text = status.read_text(encoding="utf-8")
    kilobytes = next(line.split()[1] for line in text.splitlines() if line.startswith("VmHWM"))
    return 1024 * int(kilobytes)


def _moves(folder: str) -> list[Any]:
    return [np.load(Path(folder) / f"{name}.npy", mmap_mode="r") for name in ("source", "action", "target")]
