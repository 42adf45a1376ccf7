"""Which columns of a source are those of a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fwrl.errors import FwrlError, OptionError, unknown_name
from fwrl.planner.ingest.errors import LogError
from fwrl.planner.ingest.expressions import Column, ColumnFinder, Expression, column_names
from fwrl.planner.ingest.options import ReadOptions
from fwrl.planner.ingest.scan import Source
from fwrl.planner.ingest.schema import COLUMNS, COUNTED, LABELS
from fwrl.planner.ingest.sql import listed

COST = "cost"  # a column of positive numbers to be minimised, in place of the reward
# What the columns are called in event logs (XES) and in tables of edges, where they have no name of ours.
OTHER_NAMES = {"trip": "case:concept:name", "state": "concept:name", "time": "time:timestamp"}
LAST = "last"  # the time of an edge that is counted already
NAMED = (*COLUMNS, COST)


@dataclass(frozen=True)
class Choice:
    """What stands for each column of a log in one source.

    Attributes:
        columns: The expression of each column that the source has; without those of cells.
        points: The two columns of coordinates of `state`, and of `next_state` in transitions; empty without cells.
        is_cost: Whether `reward` is a cost.

    """

    columns: Mapping[str, Expression]
    points: Mapping[str, tuple[Column, Column]]
    is_cost: bool

    @property
    def has(self) -> frozenset[str]:
        """The columns of a log that there are."""
        return frozenset(self.columns) | frozenset(self.points)


def check_names(columns: Mapping[str, str]) -> None:
    """Refuse names that are not of columns of a log."""
    for name in columns:
        if name not in NAMED:
            raise OptionError(str(unknown_name("column", name, NAMED)))


def chosen_columns(source: Source, options: ReadOptions) -> Choice:
    """What stands for each column of a log in `source`."""
    finder = ColumnFinder(source.types, source.name)
    columns = {name: found for name in NAMED if (found := _expression(finder, name, options.columns)) is not None}
    points = _points(finder, source, options)
    columns = {name: found for name, found in columns.items() if name not in points}
    if options.shape == "visits":
        columns.pop("next_state", None)
    is_transition = "next_state" in columns or "next_state" in points
    columns = _counted(finder, columns, options, is_transition)
    choice = _with_cost(Choice(columns, points, False), source, options)
    _check_shape(choice, source, options)
    return choice


def _expression(finder: ColumnFinder, name: str, given: Mapping[str, str]) -> Expression | None:
    if name in given:
        if not given[name]:
            return None
        if name in LABELS:
            return finder.label(given[name], name)
        found = finder.number(given[name], name)
        if name in ("time", "terminated") and found.bare is None:
            raise FwrlError(f"expected one column as {name}, got {given[name]!r}")
        return found
    column = finder.find(name) or finder.find(OTHER_NAMES.get(name, name))
    return None if column is None else Expression((column,), name)


def _points(finder: ColumnFinder, source: Source, options: ReadOptions) -> dict[str, tuple[Column, Column]]:
    if options.cells is None:
        return {}
    found = []
    for name in options.cells:
        column = finder.label(name, "cells").bare
        if column is None:
            raise FwrlError(f"expected a column of {source.name} as a coordinate, got {name!r}")
        found.append(column)
    points = {"state": (found[0], found[1])}
    if len(found) == 4:
        points["next_state"] = (found[2], found[3])
    return points


def _counted(
    finder: ColumnFinder, columns: dict[str, Expression], options: ReadOptions, is_transition: bool
) -> dict[str, Expression]:
    """The columns, with those that only edges which are counted already have; without a count of visits."""
    if "count" not in columns or not is_transition:
        if options.columns.get("count"):
            raise FwrlError("only transitions can have a count: each visit is one")
        return {name: found for name, found in columns.items() if name != "count"}
    more = {name: column for name in COUNTED if (column := finder.find(name)) is not None}
    last = finder.find(LAST)
    if last is not None and "time" not in columns:
        more["time"] = last
    if options.half_life is None:
        more.pop("weight", None)
    return {**columns, **{name: Expression((column,), name) for name, column in more.items()}}


def _with_cost(choice: Choice, source: Source, options: ReadOptions) -> Choice:
    """The choice with its cost, if it has one, as negative reward."""
    columns = dict(choice.columns)
    if COST in columns and "reward" in columns:
        explicit = [name for name in (COST, "reward") if name in options.columns]
        if len(explicit) != 1:
            raise LogError(f"{source.name} has both a cost and a reward, and only one can count", "cost")
        del columns[COST if explicit == ["reward"] else "reward"]
    if options.cost is not None and (options.columns.get(COST) or options.columns.get("reward")):
        raise OptionError(f"the cost is either {options.cost!r} or a column; leave one out")
    if options.cost is not None:
        columns.pop(COST, None)
        columns.pop("reward", None)
    if COST not in columns:
        return Choice(columns, choice.points, False)
    cost = columns.pop(COST)
    columns["reward"] = Expression(("-", "(", *cost.tokens, ")"), cost.text)
    return Choice(columns, choice.points, True)


def _check_shape(choice: Choice, source: Source, options: ReadOptions) -> None:
    has = choice.has
    if {"state", "next_state"} <= has:
        _check_both_states(choice, source)
        if options.cost is not None:
            raise OptionError("elapsed time as cost needs visits (trip, time and state), the log has transitions")
        return
    if not {"trip", "time", "state"} <= has or options.shape == "transitions":
        raise LogError(
            "expected the columns state and next_state (transitions), or trip, time and state (visits); "
            f"{source.name} has {column_names(source.types)}",
            "columns",
        )


def _check_both_states(choice: Choice, source: Source) -> None:
    """Refuse transitions whose states are cells on one side only, or the same column on both."""
    if len(choice.points) == 1:
        raise LogError(
            f"{source.name} has the column next_state, so that its rows are transitions, which need four columns of "
            "coordinates: of a state and of the next",
            "visits",
        )
    state, following = (choice.points.get(name) or choice.columns[name].tokens for name in ("state", "next_state"))
    if state == following:
        raise LogError(f"state and next_state are the same column of {source.name}, {listed(state)}", "columns")
