"""Reading logs and planning routes, measured against a bare DuckDB group-by, SciPy and networkx."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from benchmarks.speed.measure import Measurement, alternate, discard, peak_of
from fwrl.planner import Planner, fit
from fwrl.worlds import World, four_rooms

ROWS = 50_000_000
SIDE = 316  # the log is of moves on a torus of SIDE x (SIDE + 1) states
TRIP = 50  # moves
MEMORY = "1GB"
LOGS = 10  # to merge
LARGE, MIDDLE, SMALL = 1000, 317, 100  # sides of four-room maps

Edges = tuple[np.ndarray[Any, Any], ...]


def ingestion() -> Iterator[Measurement]:
    """Fit a log and save the planner, against only grouping the same Parquet file."""
    with tempfile.TemporaryDirectory(prefix="fwrl-bench-") as folder:
        out = str(Path(folder) / "log.fwrl")
        for labels in ("integer", "string"):
            path = Path(folder) / f"{labels}.parquet"
            write_log(path, labels == "string")
            for counts in (False, True):

                def learn(path: Path = path, counts: bool = counts) -> None:
                    fit(path, memory=MEMORY, connections=counts).save(out)

                ours, other = alternate(learn, lambda p=path: _bare(p), rounds=3)  # type: ignore[misc]
                peak = peak_of(f"fitted({str(path)!r}, {out!r}, {MEMORY!r}, {counts})") / 2**30
                also = "with" if counts else "without"
                note = f"{ours / other:.2f} times as long; {also} counting connections; peak {peak:.2f} GB"
                name = f"fit, {labels} labels / bare group-by"
                yield Measurement(name, ours / ROWS, other / ROWS, note)
            path.unlink()


def merging() -> Iterator[Measurement]:
    """Merge planners of ten logs and save the result, against fitting all ten logs at once."""
    with tempfile.TemporaryDirectory(prefix="fwrl-bench-") as folder:
        out, n = Path(folder) / "merged.fwrl", ROWS // LOGS
        for labels in ("integer", "string"):
            logs = [Path(folder) / f"{labels}-{k}.parquet" for k in range(LOGS)]
            for k, log in enumerate(logs):
                write_log(log, labels == "string", range(k * n, (k + 1) * n))
                fit(log, memory=MEMORY).save(log.with_suffix(".fwrl"))

            def merge(logs: list[Path] = logs) -> None:
                first, *others = (Planner.load(log.with_suffix(".fwrl")) for log in logs)
                first.merge(*others).save(out)

            ours, other = alternate(merge, lambda given=logs: fit(given, memory=MEMORY).save(out), rounds=3)  # type: ignore[misc]
            note = f"{ours / other:.2f} times as long; {LOGS} planners of {n:,} rows each"
            yield Measurement(f"merge, {labels} labels / fit", ours, other, note)
            for log in logs:
                log.unlink()


def write_log(path: Path, as_text: bool, rows: range | None = None, side: int = SIDE) -> None:
    """Write some rows of a log of random moves on a torus of `side` x (`side` + 1) states, `ROWS` by default."""
    import duckdb

    rows = rows or range(ROWS)
    S = side * (side + 1)
    label = "'s' || {}" if as_text else "{}"
    step = f"CASE a WHEN 0 THEN 1 WHEN 1 THEN {S - 1} WHEN 2 THEN {side} ELSE {S - side} END"
    moves = (
        f"SELECT i, (hash(i) % 4)::INT AS a, (hash(i // {TRIP}) % {S} + hash(i + 77) % 40 * {side} + hash(i + 99) % 40)"
        f"::BIGINT % {S} AS s, (hash(i + 5) % 1000)::DOUBLE / 1000 AS noise FROM range({rows.start}, {rows.stop}) t(i)"
    )
    with duckdb.connect() as con:
        con.execute(
            f"COPY (SELECT {label.format('s')} AS state, {label.format('a')} AS action, "
            f"{label.format(f'((s + {step}) % {S})')} AS next_state, -1 - noise AS reward, "
            f"{label.format(f'(i // {TRIP})')} AS trip, TIMESTAMP '2024-01-01' + to_milliseconds(i) AS time "
            f"FROM ({moves})) TO '{path}' (FORMAT parquet)"
        )


def _bare(path: Path) -> None:
    import duckdb

    with duckdb.connect() as con:
        con.execute(f"SET memory_limit='{MEMORY}'; SET preserve_insertion_order=false")
        con.execute(
            "CREATE TEMP TABLE grouped AS SELECT state, action, next_state, count(*), sum(reward), max(reward) "
            f"FROM '{path}' GROUP BY ALL"
        )


def routes() -> Iterator[Measurement]:
    """A route on a million states against SciPy, in process and from the shell; on ten thousand against networkx."""
    planner, (source, target, cost), ends = _known(four_rooms(LARGE))
    S = planner.summary.states
    graph: Any = csr_array((cost, (source, target)), shape=(S, S))
    ours_far, theirs_far = reversed(range(S)), reversed(range(S))  # a new, distant goal each time

    def search(goal: int) -> None:
        here, before = goal, dijkstra(graph, indices=[ends[0]], return_predecessors=True)[1][0]
        while here >= 0:
            here = int(before[here])

    ours, other = alternate(
        lambda: discard(planner.plan(ends[0], next(ours_far))), lambda: search(next(theirs_far)), rounds=5
    )
    yield Measurement(f"new goal, {S:,} states / SciPy dijkstra", ours, other, "one route each")
    ours, other = alternate(lambda: discard(planner.plan(*ends)), lambda: search(ends[1]), rounds=5)
    yield Measurement("next route to it / SciPy dijkstra", ours, other, f"{len(planner.plan(*ends).steps):,} steps")
    yield _from_the_shell(planner, graph, ends)

    planner, (source, target, cost), ends = _known(four_rooms(SMALL))
    import networkx

    known = networkx.DiGraph()
    known.add_weighted_edges_from(zip(source.tolist(), target.tolist(), cost.tolist(), strict=True))
    ours_far, theirs_far = reversed(range(len(planner.states))), reversed(range(len(planner.states)))
    ours, other = alternate(
        lambda: discard(planner.plan(ends[0], next(ours_far))),
        lambda: discard(networkx.dijkstra_path(known, ends[0], next(theirs_far))),
        rounds=5,
    )
    yield Measurement(f"new goal, {planner.summary.states:,} states / networkx", ours, other, "one route each")


def matrices() -> Iterator[Measurement]:
    """The costs of 100 x 1,000 pairs on a hundred thousand states against SciPy, which searches from the 100 too."""
    for costs, noise in (("within a factor of 1.5", 0.5), ("within a factor of 1,001", 1000.0)):
        planner, (source, target, cost), _ = _known(four_rooms(MIDDLE), noise)
        S, rng = planner.summary.states, np.random.default_rng(0)
        graph: Any = csr_array((cost, (source, target)), shape=(S, S))
        starts, goals = rng.choice(S, 100, replace=False).tolist(), rng.choice(S, 1000, replace=False).tolist()
        ours, other = alternate(
            lambda p=planner, s=starts, g=goals: discard(p.matrix(s, g)),  # type: ignore[misc]
            lambda m=graph, s=starts, g=goals: discard(dijkstra(m, indices=s)[:, g]),  # type: ignore[misc]
            rounds=5,
        )
        yield Measurement(f"100 x 1,000 pairs, {S:,} states / SciPy dijkstra", ours, other, f"costs {costs}")


def _from_the_shell(planner: Planner, graph: Any, ends: tuple[int, int]) -> Measurement:
    with tempfile.TemporaryDirectory(prefix="fwrl-bench-") as folder:
        saved, arrays = Path(folder) / "known.fwrl", Path(folder) / "known.npz"
        planner.save(saved)
        np.savez(arrays, data=graph.data, indices=graph.indices, indptr=graph.indptr)
        script = (
            "import sys, numpy, scipy.sparse, scipy.sparse.csgraph as c\n"
            "z = numpy.load(sys.argv[1]); g = scipy.sparse.csr_array((z['data'], z['indices'], z['indptr']))\n"
            "d, b = c.dijkstra(g, indices=int(sys.argv[2]), return_predecessors=True)\n"
            "x = int(sys.argv[3])\nwhile x >= 0: print(x); x = int(b[x])\n"
        )
        start, goal = map(str, ends)
        ours, other = alternate(
            lambda: _call([sys.executable, "-m", "fwrl", "plan", str(saved), start, goal]),
            lambda: _call([sys.executable, "-c", script, str(arrays), start, goal]),
            rounds=5,
        )
    return Measurement("fwrl plan from the shell / a SciPy script", ours, other, "start to end, kernels cached")


def _call(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True)


def _known(world: World, noise: float = 0.5) -> tuple[Planner, Edges, tuple[int, int]]:
    """A planner fitted to every move of a map with random costs, the edges, and two opposite corners."""
    T, A = world.tables, world.n_actions
    source, target = np.repeat(np.arange(world.n_states), A), T.next_state[T.first[:-1]]
    moved = source != target
    source, target, action = source[moved], target[moved], np.tile(np.arange(A), world.n_states)[moved]
    cost = 1 + noise * np.random.default_rng(0).random(len(source))
    columns = {"state": source, "action": action, "next_state": target, "reward": -cost}
    log = np.empty(len(source), [(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        log[name] = column
    return fit(log, connections=False), (source, target, cost), (0, world.n_states - 1)
