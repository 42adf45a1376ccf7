"""The results of runs in one SQLite file.

Each run is written in one transaction, completely or not at all. Tables are keyed by (experiment, agent, seed), so the
content doesn't depend on when and in which order runs finish. Only one process writes: workers return runs, `runner`
stores them, and commands lock the file meanwhile (`changing` in `fwrl.cli.output_paths`).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import platform
import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from fwrl import __version__
from fwrl.arrays import Floats
from fwrl.errors import FileError
from fwrl.experiment.spec import Experiment
from fwrl.experiment.trial import Trial
from fwrl.kernels.jit import digest

APPLICATION = 0x6677726C  # "fwrl"
SCHEMA = 1

TABLES = {
    "about": "key TEXT PRIMARY KEY, value TEXT NOT NULL",
    "runs": "experiment TEXT, agent TEXT, seed INTEGER, spec TEXT NOT NULL, versions TEXT NOT NULL, "
    "PRIMARY KEY (experiment, agent, seed)",
    "episodes": "experiment TEXT, agent TEXT, seed INTEGER, episode INTEGER, goal INTEGER NOT NULL, "
    "reward REAL NOT NULL, distance REAL NOT NULL, shortest REAL NOT NULL, visits INTEGER NOT NULL, "
    "steps INTEGER NOT NULL, PRIMARY KEY (experiment, agent, seed, episode)",
    "visits": "experiment TEXT, agent TEXT, seed INTEGER, distance BLOB NOT NULL, shortest BLOB NOT NULL, "
    "PRIMARY KEY (experiment, agent, seed)",
    "steps": "experiment TEXT, agent TEXT, seed INTEGER, episode INTEGER, step INTEGER, state INTEGER NOT NULL, "
    "action INTEGER NOT NULL, reward REAL NOT NULL, next_state INTEGER NOT NULL, arrived INTEGER NOT NULL, "
    "PRIMARY KEY (experiment, agent, seed, episode, step)",
    "audits": "experiment TEXT, agent TEXT, seed INTEGER, goal INTEGER, unknown INTEGER NOT NULL, believed REAL, "
    "kept REAL, believed_arrival REAL, arrival REAL, value REAL, steps REAL, "
    "PRIMARY KEY (experiment, agent, seed, goal)",
}


@functools.cache
def versions() -> str:
    """The versions of fwrl, its compiled sources and its dependencies, as JSON."""
    import numba
    import scipy

    found = {
        "fwrl": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "scipy": scipy.__version__,
        "sources": digest(),
    }
    return json.dumps(found, sort_keys=True)


class Store:
    """An open results file; a context manager.

    Args:
        path: The file; created if it doesn't exist.
        read_only: Only read an existing file, possibly from other versions of fwrl.

    """

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path = Path(path)
        try:
            _roll_back(self.path)
            fresh = not read_only and (not self.path.exists() or self.path.stat().st_size == 0)
            if not fresh:
                _check_sound(self.path, any_version=read_only)
            mode = "ro" if read_only else "rwc"
            self._db = sqlite3.connect(f"{self.path.resolve().as_uri()}?mode={mode}", uri=True)
            self._db.execute("PRAGMA synchronous = FULL")
            if fresh:
                self._create()
        except (sqlite3.Error, OSError) as error:
            raise FileError(f"can't use {str(self.path)!r} as a results file: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    def _create(self) -> None:
        with self._db:
            self._db.execute("BEGIN")
            for name, columns in TABLES.items():
                self._db.execute(f"CREATE TABLE {name} ({columns}) WITHOUT ROWID")
            self._db.execute("INSERT INTO about VALUES ('versions', ?)", [versions()])
            self._db.execute(f"PRAGMA application_id = {APPLICATION}")
            self._db.execute(f"PRAGMA user_version = {SCHEMA}")

    def finished(self) -> set[tuple[str, str, int]]:
        """(experiment, agent, seed) of every stored run."""
        return set(self._db.execute("SELECT experiment, agent, seed FROM runs"))

    def provenances(self, experiment: str, agent: str) -> set[str]:
        """The distinct specs of an agent's stored runs, as JSON (see `Experiment.provenance`)."""
        sql = "SELECT DISTINCT spec FROM runs WHERE experiment = ? AND agent = ?"
        return {spec for (spec,) in self._db.execute(sql, [experiment, agent])}

    def write(self, trials: Iterable[Trial], experiments: dict[str, Experiment]) -> None:
        """Add finished runs in one transaction.

        Args:
            trials: The runs.
            experiments: Their experiments, by id.

        Raises:
            FileError: The file can't be written; none of these runs is stored.

        """
        try:
            with self._db:
                for trial in trials:
                    self._write_one(trial, experiments[trial.experiment])
        except sqlite3.Error as error:
            raise FileError(
                f"can't write to {str(self.path)!r}: {error}; finished runs are safe, run the same command again"
            ) from error

    def _write_one(self, trial: Trial, experiment: Experiment) -> None:
        key = (trial.experiment, trial.agent, trial.seed)
        result = trial.result
        self._insert("runs", [(*key, experiment.provenance(trial.agent), versions())])
        columns = (result.goal, result.reward, result.distance, result.shortest, result.visits, result.steps)
        self._insert("episodes", _rows(key, range(len(result.goal)), *(c.tolist() for c in columns)))
        if experiment.visits:
            blobs = (_packed(result.visit_distance), _packed(result.visit_shortest))
            self._insert("visits", [(*key, *blobs)])
        if result.trajectory is not None:
            episode = result.trajectory.episode
            step = np.arange(len(episode)) - np.searchsorted(episode, episode)
            columns_of_steps = [c.tolist() for c in result.trajectory[1:]]
            self._insert("steps", _rows(key, episode.tolist(), step.tolist(), *columns_of_steps))
        self._insert("audits", [(*key, *entry) for entry in trial.audits])

    def _insert(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        n = TABLES[table].split("PRIMARY KEY (")[0].count(",")
        self._db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * n)})", rows)

    def seeds(self, experiment: str, agent: str) -> list[int]:
        """The seeds of an agent's stored runs, ascending."""
        sql = "SELECT seed FROM runs WHERE experiment = ? AND agent = ? ORDER BY seed"
        return [seed for (seed,) in self._db.execute(sql, [experiment, agent])]

    def agents(self, experiment: str) -> list[str]:
        """The labels of the agents with stored runs."""
        return [
            agent for (agent,) in self._db.execute("SELECT DISTINCT agent FROM runs WHERE experiment = ?", [experiment])
        ]

    def episodes(self, experiment: str, agent: str, column: str) -> Floats:
        """One column of the table `episodes`.

        Args:
            experiment: The id of the experiment.
            agent: The agent's label.
            column: `goal`, `reward`, `distance`, `shortest`, `visits` or `steps`.

        Returns:
            (runs, episodes) values, ordered by seed; shape (1, 0) without runs.

        """
        sql = f"SELECT {column} FROM episodes WHERE experiment = ? AND agent = ? ORDER BY seed, episode"
        flat = np.array([value for (value,) in self._db.execute(sql, [experiment, agent])], dtype=np.float64)
        return flat.reshape(max(1, len(self.seeds(experiment, agent))), -1)

    def visits(self, experiment: str, agent: str) -> dict[int, tuple[Floats, Floats]]:
        """The distances of all visits, if the experiment stores them.

        Args:
            experiment: The id of the experiment.
            agent: The agent's label.

        Returns:
            By seed, (visits,) the distance travelled to each visit and (visits,) the shortest distance.

        """
        sql = "SELECT seed, distance, shortest FROM visits WHERE experiment = ? AND agent = ? ORDER BY seed"
        return {seed: (_unpacked(a), _unpacked(b)) for seed, a, b in self._db.execute(sql, [experiment, agent])}

    def steps(self, experiment: str, agent: str, seed: int, episode: int) -> list[tuple[Any, ...]]:
        """The steps of a scripted episode.

        Args:
            experiment: The id of the experiment.
            agent: The agent's label.
            seed: The seed of the run.
            episode: The index of the episode in the script.

        Returns:
            (state, action, reward, next_state, arrived) of every step, in order; empty if the episode isn't stored.

        """
        sql = (
            "SELECT state, action, reward, next_state, arrived FROM steps "
            "WHERE experiment = ? AND agent = ? AND seed = ? AND episode = ? ORDER BY step"
        )
        return list(self._db.execute(sql, [experiment, agent, seed, episode]))

    def audits(self, experiment: str, agent: str, column: str) -> dict[int, Floats]:
        """One column of the table `audits`.

        Args:
            experiment: The id of the experiment.
            agent: The agent's label.
            column: `goal`, `unknown`, `believed`, `kept`, `believed_arrival`, `arrival`, `value` or `steps`.

        Returns:
            By seed, (goals,) values of the audited run.

        """
        sql = f"SELECT seed, {column} FROM audits WHERE experiment = ? AND agent = ? ORDER BY seed, goal"
        found: dict[int, list[float]] = {}
        for seed, value in self._db.execute(sql, [experiment, agent]):
            found.setdefault(seed, []).append(value)
        return {seed: np.array(values, dtype=np.float64) for seed, values in found.items()}

    def rows(self, table: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The column names and all rows of a table, in the order of its key.

        Args:
            table: `about`, `runs`, `episodes`, `visits`, `steps` or `audits`.

        Raises:
            FileError: There's no such table.

        """
        if table not in TABLES:
            raise FileError(f"there's no table {table!r}, only {', '.join(TABLES)}")
        cursor = self._db.execute(f"SELECT * FROM {table}")
        return [column[0] for column in cursor.description], cursor.fetchall()

    def content(self) -> str:
        """A SHA-256 checksum of all results, regardless of the order in which they were written."""
        state = hashlib.sha256()
        for table in TABLES:
            for row in self.rows(table)[1]:
                state.update(repr(row).encode())
        return state.hexdigest()


def _roll_back(path: Path) -> None:
    """Let SQLite roll back the unfinished transaction of a killed process, which needs write access."""
    if path.exists() and Path(f"{path}-journal").exists():
        db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True)
        with contextlib.closing(db), contextlib.suppress(sqlite3.DatabaseError):  # `_check_sound` reports damage
            db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()


def _check_sound(path: Path, *, any_version: bool) -> None:
    """Raise if an existing file is damaged, not ours or, unless `any_version`, from other versions. Never change it."""
    db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    try:
        application = db.execute("PRAGMA application_id").fetchone()[0]
        schema = db.execute("PRAGMA user_version").fetchone()[0]
        sound = db.execute("PRAGMA quick_check").fetchone()[0] == "ok"
        if application != APPLICATION:
            raise FileError(f"{str(path)!r} isn't a results file of fwrl; it was left untouched")
        if schema != SCHEMA:
            raise FileError(
                f"{str(path)!r} has format version {schema}, this fwrl needs {SCHEMA}; it was left untouched: "
                "use another file"
            )
        if not sound:
            raise FileError(f"{str(path)!r} is damaged and was left untouched; use another file")
        found = db.execute("SELECT value FROM about WHERE key = 'versions'").fetchone()
        if not any_version and (found is None or found[0] != versions()):
            raise FileError(
                f"{str(path)!r} was made with {found[0] if found else 'unknown versions'}, but this is "
                f"{versions()}; fwrl doesn't mix results of different versions: use another file"
            )
    except sqlite3.DatabaseError as error:
        raise FileError(f"{str(path)!r} is damaged and was left untouched ({error}); use another file") from error
    finally:
        db.close()


def _rows(key: tuple[str, str, int], *columns: Sequence[Any]) -> list[tuple[Any, ...]]:
    return [(*key, *row) for row in zip(*columns, strict=True)]


def _packed(values: Floats) -> bytes:
    return zlib.compress(values.astype("<f8").tobytes())


def _unpacked(blob: bytes) -> Floats:
    return np.frombuffer(zlib.decompress(blob), dtype="<f8")
