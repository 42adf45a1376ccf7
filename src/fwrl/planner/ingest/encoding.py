"""Numbering the groups of a log, and folding them into an experience there already was.

Everything kept of an edge adds up: counts and sums are added, the best and the latest compared. So two logs one after
the other make the same experience as both at once, provided that no trip is cut in two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FwrlError
from fwrl.planner.experience import KEPT, MILLION, NONE, Evidence, Experience, Indices, Ints, TimeKind
from fwrl.planner.ingest.latest import latest_trips
from fwrl.planner.ingest.log import Log
from fwrl.planner.ingest.reader import Reader
from fwrl.planner.ingest.times import LARGEST
from fwrl.planner.labels import Labels


class Numbered:
    """The columns of an `Experience` as they come out of DuckDB, without its sample and summary."""

    def __init__(self, reader: Reader, log: Log, old: Experience | None) -> None:
        self._reader, self._con = reader, reader.con
        self._has_action = "action" in log.has
        self._has_trip, self.time = "trip" in log.has, log.time
        if old is not None:
            self._fold(log, old)
        integer = {name: self._is_integer(name, log, old) for name in ("state", "action", "trip")}
        self.states = self._labels("states", ("state", "next_state"), "grouped", integer["state"])
        self.actions = self._labels("actions", ("action",), "grouped", integer["action"]) if self._has_action else None
        self.edges = self._edges()
        self.trips = self._labels("trips", ("trip",), "kept", integer["trip"]) if self._has_trip else None
        kept: tuple[Indices | None, Ints | None] = self._kept() if self._has_trip else (None, None)
        self.trip, self.trip_time = kept

    def experience(self, **more: Any) -> Experience:
        """All of it, with `more` of its fields."""
        e = self.edges
        last = e["last"].astype(np.int64) if self.time is not None else None
        evidence = Evidence(last, self.trips, self.trip, self.trip_time)
        return Experience(
            self.states,
            self.actions,
            e["source"].astype(np.int32),
            e["action"].astype(np.int32) if self._has_action else None,
            e["target"].astype(np.int32),
            e["count"].astype(np.int64),
            np.ascontiguousarray(e["total"], np.float64),
            np.ascontiguousarray(e["best"], np.float64),
            time=self.time,
            recall=lambda: evidence,
            **more,
        )

    def _fold(self, log: Log, old: Experience) -> None:
        """Add the old edges to `grouped` and their trips to `kept`, as rows with labels."""
        has = {"action": old.action is not None, "trip": old.evidence.trip is not None, "time": old.time is not None}
        for name, had in has.items():
            if had != (name in log.has):
                one, other = ("has", "does not") if had else ("does not have", "does")
                raise FwrlError(
                    f"expected new logs with the columns of the old ones: the file {one} {name}, the new log {other}"
                )
        if {old.time, log.time} >= {"timestamp", None} or (old.time == "timestamp") != (log.time == "timestamp"):
            raise FwrlError(f"expected new logs with times as in the old ones ({old.time}), got {log.time}")
        scale_old, scale_new, self.time = _common_time(old.time, log.time)
        if self.time != log.time or self.time != old.time:
            self._refuse_overflow(old if scale_old > 1 else None)
        text = {name: not self._is_integer(name, log, old) for name in ("state", "action", "trip")}
        columns: dict[str, Any] = {
            "state": old.states.taken(old.source, text["state"]),
            "next_state": old.states.taken(old.target, text["state"]),
            "count": np.ascontiguousarray(old.count),
            "total": np.ascontiguousarray(old.total),
            "best": np.ascontiguousarray(old.best),
        }
        if old.action is not None and old.actions is not None:
            columns["action"] = old.actions.taken(old.action, text["action"])
        if old.evidence.last is not None:
            columns["last"] = old.evidence.last * scale_old
        keys = "state, action, next_state" if self._has_action else "state, next_state"
        cast = {name: "VARCHAR" if wide else "BIGINT" for name, wide in text.items()}
        cast["next_state"] = cast["state"]
        labels = ", ".join(f"{key}::{cast[key]} AS {key}" for key in keys.split(", "))
        last = f", last * {scale_new} AS last" if old.evidence.last is not None else ""
        self._con.register("old_edges", columns)
        self._con.execute(
            f"CREATE TEMP TABLE united AS SELECT *, (row_number() OVER () - 1)::INTEGER AS no FROM (SELECT {keys}, "
            f"sum(count)::BIGINT AS count, sum(total) AS total, max(best) AS best{', max(last) AS last' * bool(last)} "
            f"FROM ("
            f"SELECT {labels}, count, total, best{last} FROM grouped UNION ALL "
            f"SELECT {labels}, count, total, best{', last' * bool(last)} FROM old_edges) GROUP BY {keys})"
        )
        if self._has_trip:
            self._fold_trips(old, columns, text, labels, scale_old, scale_new, keys, cast["trip"])
        self._con.execute("DROP TABLE grouped; ALTER TABLE united RENAME TO grouped")

    def _refuse_overflow(self, old: Experience | None) -> None:
        """Refuse whole numbers too large for millionths: those of `old`, or else the new ones."""
        if old is None:
            tables = ["SELECT last AS time FROM grouped", *["SELECT time FROM kept"] * self._has_trip]
            low, high = self._reader.one(f"SELECT min(time), max(time) FROM ({' UNION ALL '.join(tables)})")
        else:
            times = [some for some in (old.evidence.last, old.evidence.trip_time) if some is not None]
            low, high = min(int(some.min()) for some in times), max(int(some.max()) for some in times)
        if max(-low, high) > LARGEST:
            raise FwrlError(
                f"expected times up to {LARGEST:,} in size where some are whole numbers and some are not, got "
                f"{high if high > LARGEST else low:,}; write them all alike"
            )

    def _fold_trips(
        self,
        old: Experience,
        columns: dict[str, Any],
        text: dict[str, bool],
        labels: str,
        scale_old: int,
        scale_new: int,
        keys: str,
        trip_type: str,
    ) -> None:
        was = old.evidence
        assert was.trip is not None
        assert was.trips is not None
        edge, rank = np.nonzero(was.trip != NONE)
        kept = {key: columns[key][edge] for key in keys.split(", ")}
        kept["trip"] = was.trips.taken(was.trip[edge, rank], text["trip"])
        if was.trip_time is not None:
            kept["time"] = was.trip_time[edge, rank] * scale_old
        self._con.register("old_kept", kept)
        timed = was.trip_time is not None
        time_new = f", time * {scale_new} AS time" if timed else ""
        new = "SELECT grouped.* EXCLUDE (no), kept.* EXCLUDE (no, rank) FROM kept JOIN grouped USING (no)"
        both = (
            f"(SELECT no, trip{', time' * timed} FROM ("
            f"SELECT {labels}, trip::{trip_type} AS trip{time_new} FROM ({new}) UNION ALL "
            f"SELECT {labels}, trip::{trip_type} AS trip{', time' * timed} FROM old_kept) JOIN united USING ({keys}))"
        )
        self._con.execute(f"CREATE OR REPLACE TEMP TABLE kept AS {latest_trips(both, timed)}")

    def _is_integer(self, name: str, log: Log, old: Experience | None) -> bool:
        """Whether the labels of a column are integers: where each of them reads back as itself, for text from CSV."""
        if name not in log.has:
            return False
        before = None
        if old is not None:
            before = {"state": old.states, "action": old.actions, "trip": old.evidence.trips}[name]
        if before is not None and before.kind == "text":
            return False
        if log.kinds[name] != "unsure":
            return log.kinds[name] == "integer"
        table = "journeys" if name == "trip" else "grouped"
        names = ("state", "next_state") if name == "state" else (name,)
        return all(
            bool(
                self._reader.one(
                    f"SELECT bool_and(coalesce(try_cast({n} AS BIGINT)::VARCHAR = {n}::VARCHAR, false)) FROM {table}"
                )[0]
            )
            for n in names
        )

    def _labels(self, table: str, columns: Sequence[str], rows: str, integer: bool) -> Labels:
        """Number the labels in `columns` of `rows`; a table from label to place stays behind."""
        every = " UNION ".join(f"SELECT DISTINCT {column} AS label FROM {rows}" for column in columns)
        shown = "label::BIGINT" if integer else "label::VARCHAR"
        self._con.execute(
            f"CREATE OR REPLACE TEMP TABLE {table} AS "
            f"SELECT label, (row_number() OVER (ORDER BY {shown}) - 1)::INTEGER AS place FROM ({every})"
        )
        names = self._reader.columns(f"SELECT {shown} AS label FROM {table} ORDER BY place")["label"]
        return Labels(names.astype(np.int64)) if integer else Labels.of_text(names.tolist())

    def _edges(self) -> dict[str, NDArray[Any]]:
        action = ", a.place AS action" if self._has_action else ""
        join = "JOIN actions a ON g.action = a.label" if self._has_action else ""
        last = ", g.last" if self.time is not None else ""
        order = "source, action, target" if self._has_action else "source, target"
        return self._reader.columns(
            f"SELECT s.place AS source{action}, n.place AS target, g.no, g.count::BIGINT AS count, g.total, g.best"
            f"{last} FROM grouped g JOIN states s ON g.state = s.label JOIN states n ON g.next_state = n.label {join} "
            f"ORDER BY {order}"
        )

    def _kept(self) -> tuple[Indices, Ints | None]:
        timed, E = self.time is not None, len(self.edges["no"])
        found = self._reader.columns(
            f"SELECT no, rank, t.place AS trip{', time' * timed} FROM kept JOIN trips t ON kept.trip = t.label"
        )
        edge = np.empty(E, np.int32)
        edge[self.edges["no"]] = np.arange(E, dtype=np.int32)
        places = edge[found["no"]], found["rank"]
        trip = np.full((E, KEPT), NONE, np.int32)
        trip[places] = found["trip"]
        if not timed:
            return trip, None
        when = np.zeros(trip.shape, np.int64)
        when[places] = found["time"]
        return trip, when


def _common_time(old: TimeKind | None, new: TimeKind | None) -> tuple[int, int, TimeKind | None]:
    """What to multiply old and new times by, so that whole numbers and millionths meet."""
    if old == new:
        return 1, 1, old
    return (MILLION, 1, "number") if old == "integer" else (1, MILLION, "number")
