"""The names of a log's columns, and of the DuckDB tables that the steps of reading it share.

Each table lists its columns in order; those in brackets are there only if the log has what they need. Labels are
integers or text, and become codes.
"""

from __future__ import annotations

from collections.abc import Collection

COLUMNS = ("state", "next_state", "action", "reward", "trip", "time", "count", "terminated")
COUNTED = ("best", "weight", "trips", "trip_times")  # further columns of edges that are counted already
LABELS = ("state", "next_state", "action", "trip")

# Rows of visits, made by `visits`; successive ones of a cell are one. state, [action], [reward], trip, time (BIGINT in
# the log's unit, see `times`), [terminated], [arrival: when its state was first seen, where that may be before `time`],
# next_state of the next visit of the trip, [next_terminated], first, last (whether it is the trip's first or last).
VISITS = "visits"
# Transitions, made by `grouping`. state, next_state, [action], [reward], [trip], [time], [count, where they are counted
# already], [terminated: whether `next_state` is terminal], [best: largest reward of these], [trips: list of their
# latest trips], [trip_times: when these were last seen], [weight by age].
MOVES = "moves"
# One row per edge, made by `grouping`. state, [action], next_state, count, total and best of the rewards, [terminated:
# whether any transition terminated], edge (its number from 0, in no particular order), [weight: sum of the weights, by
# which `total` is weighted], [last: latest time, added by `latest`].
EDGES = "edges"
# Where the log has trips, made by `latest`: trip (each once), hash (64 bits).
TRIP_HASHES = "trip_hashes"
# Where the log has trips, made by `latest`: edge, trip (one of its latest), [time], rank (0 for the latest).
EDGE_TRIPS = "edge_trips"
# Made by `encoding`: label as in `edges`, code (its index among the labels in order).
STATE_CODES, ACTION_CODES, TRIP_CODES = "state_codes", "action_codes", "trip_codes"


def edge_key(has: Collection[str]) -> list[str]:
    """The columns that tell one edge from another."""
    return ["state", *(["action"] if "action" in has else []), "next_state"]
