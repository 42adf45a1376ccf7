"""The DuckDB tables that the steps of reading a log share: their columns, who writes them, who reads them.

Columns are listed in order. Some are there only if the log has a certain column. Tables that a module makes and
reads alone are not listed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

# The columns of a log. Labels are integers or text, and become codes.
COLUMNS = ("state", "next_state", "action", "reward", "trip", "time", "count", "terminated")
COUNTED = ("best", "weight", "trips", "trip_times")  # further columns of edges that are counted already
LABELS = ("state", "next_state", "action", "trip")


@dataclass(frozen=True)
class SharedTable:
    """A table or view in DuckDB; as text it is its name.

    Attributes:
        name: As SQL calls it.
        columns: What each column holds.
        writers: Modules of this package that create it or change its rows.
        readers: Modules of this package that select from it.
        only_with: For columns that are not always there, the column of the log without which they are missing.

    """

    name: str
    columns: Mapping[str, str]
    writers: tuple[str, ...]
    readers: tuple[str, ...]
    only_with: Mapping[str, str] = field(default_factory=dict)

    def columns_with(self, has: Collection[str]) -> list[str]:
        """The columns it has for a log with the columns `has`."""
        return [name for name in self.columns if name not in self.only_with or self.only_with[name] in has]

    def __str__(self) -> str:
        return self.name


VISITS = SharedTable(
    "visits",  # made only from rows of visits; successive ones of a cell are one
    {
        "state": "label",
        "action": "label",
        "reward": "DOUBLE",
        "trip": "label",
        "time": "BIGINT in the log's unit (see `times`)",
        "terminated": "whether the trip terminated there",
        "arrival": "when its state was first seen, where that may be before `time`",
        "next_state": "label of the state of the next visit of the trip",
        "next_terminated": "whether the trip terminated at that visit",
        "first": "whether it is the first visit of the trip",
        "last": "whether it is the last one",
    },
    writers=("visits",),
    readers=(
        "grouping",
        "encoding",
        "trip_ends",
    ),
    only_with={
        "action": "action",
        "reward": "reward",
        "terminated": "terminated",
        "next_terminated": "terminated",
        "arrival": "stays",
    },
)
MOVES = SharedTable(
    "moves",
    {
        "state": "label",
        "next_state": "label",
        "action": "label",
        "reward": "DOUBLE",
        "trip": "label",
        "time": "BIGINT in the log's unit (see `times`)",
        "count": "number of transitions, where they are counted already",
        "terminated": "whether `next_state` is terminal",
        "best": "largest reward of these",
        "trips": "list of their latest trips",
        "trip_times": "list of when these were last seen",
        "weight": "what the transition counts, by its age",
    },
    writers=("grouping",),
    readers=("latest", "log", "connections", "coverage"),
    only_with={name: name for name in (*COLUMNS[2:], *COUNTED)},
)
EDGES = SharedTable(
    "edges",
    {
        "state": "label",
        "action": "label",
        "next_state": "label",
        "count": "number of transitions",
        "total": "sum of rewards",
        "best": "largest reward",
        "terminated": "whether any of the transitions terminated",
        "edge": "number of the row, from 0, in no particular order",
        "weight": "sum of the weights, by which `total` is weighted",
        "last": "latest time",
    },
    writers=("grouping", "latest"),
    readers=("encoding",),
    only_with={"action": "action", "terminated": "terminated", "last": "time", "weight": "age"},
)
TRIP_HASHES = SharedTable(
    "trip_hashes",  # made only where the log has trips
    {"trip": "label, each once", "hash": "its 64-bit hash"},
    writers=("latest",),
    readers=("latest", "encoding"),
)
EDGE_TRIPS = SharedTable(
    "edge_trips",  # made only where the log has trips
    {
        "edge": "number of the edge",
        "trip": "label of one of its latest trips",
        "time": "when that trip was last seen there",
        "rank": "0 for the latest trip of the edge",
    },
    writers=("latest",),
    readers=("encoding",),
    only_with={"time": "time"},
)


def _codes(name: str, readers: tuple[str, ...]) -> SharedTable:
    return SharedTable(
        name, {"label": "as in `edges`", "code": "index among the labels in order"}, ("encoding",), readers
    )


STATE_CODES = _codes("state_codes", readers=("encoding", "connections"))
ACTION_CODES = _codes("action_codes", readers=("encoding",))
TRIP_CODES = _codes("trip_codes", readers=("encoding",))

TABLES = (VISITS, MOVES, EDGES, TRIP_HASHES, EDGE_TRIPS, STATE_CODES, ACTION_CODES, TRIP_CODES)


def edge_key(has: Collection[str]) -> list[str]:
    """The columns that tell one edge from another."""
    return ["state", *(["action"] if "action" in has else []), "next_state"]
