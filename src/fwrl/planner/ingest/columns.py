"""Which columns of a source are those of a log: a column, several joined by `+`, or an arithmetic expression.

A name that a column has means that column, with any characters in it. A number k, or `#k`, means the k-th column. In
expressions, put a name with an operator or a blank in it in double quotes.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fwrl.errors import FwrlError, OptionError, unknown_name
from fwrl.planner.ingest.read_options import BEST, COLUMNS, LABELS, LogError, ReadOptions
from fwrl.planner.ingest.reader import Source, listed

TOKEN = re.compile(r'\s*(?:(?P<quoted>"[^"]+")|(?P<operator>[-+*/()])|(?P<word>[^-+*/()"\s]+))')
NUMBER = re.compile(r"\d+(\.\d*)?|\.\d+")
ARITHMETIC = (
    ast.Expression,
    ast.BinOp,
    ast.UnaryOp,
    ast.operator,
    ast.unaryop,
    ast.Name,
    ast.Constant,
    ast.expr_context,
)
LISTED = 20  # columns named in a message
LONGEST = 40  # characters of a column's name in a message


class Column(str):
    """A column of the source, among the operators and numbers of an expression."""

    __slots__ = ()


class Expression(NamedTuple):
    """The expression that a source has for a column of a log."""

    tokens: tuple[str, ...]  # Columns, operators and numbers in order
    text: str  # as it was given

    @property
    def columns(self) -> list[Column]:
        """The columns of the source in it."""
        return [token for token in self.tokens if isinstance(token, Column)]

    @property
    def bare(self) -> Column | None:
        """The column, if it is nothing else."""
        return self.tokens[0] if len(self.tokens) == 1 and isinstance(self.tokens[0], Column) else None

    def sql(self, term: Callable[[Column], str]) -> str:
        """The expression in SQL; `term` gives that of a column."""
        return " ".join(term(token) if isinstance(token, Column) else token for token in self.tokens)


class ColumnFinder:
    """Finds the columns of a source, which messages call `source`, by name or number."""

    def __init__(self, columns: Iterable[str], source: str) -> None:
        self._columns, self._source = list(columns), source
        self._folded = {column.casefold(): column for column in self._columns}

    def find(self, name: str) -> Column | None:
        """The column of that name or number; None if there isn't one."""
        if name.casefold() in self._folded:
            return Column(self._folded[name.casefold()])
        number = name.removeprefix("#")
        if number.isdecimal() and 0 < int(number) <= len(self._columns):
            return Column(self._columns[int(number) - 1])
        return None

    def label(self, text: str, name: str) -> Expression:
        """The column, or the columns that together make a label, of the log's column `name`."""
        whole = self.find(text)
        if whole is not None:
            return Expression((whole,), text)
        tokens = _tokens(text)
        if len(tokens) % 2 == 0 or any(operator != "+" for operator in tokens[1::2]):
            raise self._unknown(text, name)
        return Expression(tuple(self._found(part, name) if k % 2 == 0 else "+" for k, part in enumerate(tokens)), text)

    def number(self, text: str, name: str) -> Expression:
        """The column or the arithmetic expression for the log's column `name`."""
        whole = self.find(text)
        if whole is not None:
            return Expression((whole,), text)
        tokens = _tokens(text)
        if not _is_arithmetic(tokens):
            raise self._unknown(text, name)
        return Expression(tuple(self._found(token, name) if _is_name(token) else token for token in tokens), text)

    def _found(self, token: str, name: str) -> Column:
        column = self.find(token.strip('"'))
        if column is None:
            raise self._unknown(token.strip('"'), name)
        return column

    def _unknown(self, text: str, name: str) -> FwrlError:
        close = difflib.get_close_matches(text, self._columns, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        return FwrlError(f"{self._source} has no column {text!r} for {name}{hint} It has {column_names(self._columns)}")


def column_names(columns: Iterable[str]) -> str:
    r"""Columns in a message: the first few, long ones shortened, on one line.

    >>> column_names(["from", "to\nhere", 50 * "x"])
    'from, to here, xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'
    """
    names = [" ".join(column.split()) for column in list(columns)[:LISTED]]
    return listed(name if len(name) <= LONGEST else f"{name[: LONGEST - 3]}..." for name in names)


def _tokens(text: str) -> list[str]:
    """Return the tokens of an expression, or none if some of the text isn't a token."""
    tokens, at = [], 0
    while at < len(text.rstrip()):
        found = TOKEN.match(text, at)
        if found is None:
            return []
        tokens.append(found[0].strip())
        at = found.end()
    return tokens


def _is_arithmetic(tokens: Sequence[str]) -> bool:
    """Whether tokens are an arithmetic expression with a column in it; Python's grammar of those is SQL's."""
    try:
        tree = ast.parse(" ".join("x" if _is_name(token) else token for token in tokens), mode="eval")
    except (SyntaxError, RecursionError, MemoryError):
        return False
    parts = list(ast.walk(tree))
    return any(isinstance(part, ast.Name) for part in parts) and all(isinstance(part, ARITHMETIC) for part in parts)


def _is_name(token: str) -> bool:
    return token not in ("+", "-", "*", "/", "(", ")") and NUMBER.fullmatch(token) is None


COST = "cost"  # a column of positive numbers to be minimised, in place of the reward
# Names that event logs (XES) and tables of edges use for our columns.
OTHER_NAMES = {"trip": "case:concept:name", "state": "concept:name", "time": "time:timestamp"}
# Names of columns of coordinates.
COORDINATES = (
    (("x", "easting"), ("y", "northing")),
    (("lat", "latitude"), ("lon", "lng", "long", "longitude")),
)
NAMED = (*COLUMNS, COST)


@dataclass(frozen=True)
class Choice:
    """The expression for each column of a log in one source."""

    columns: Mapping[str, Expression]  # the expression of each column that the source has; without those of cells
    # The two columns of coordinates of `state`, and of `next_state` in transitions; empty without cells
    points: Mapping[str, tuple[Column, Column]]
    is_cost: bool  # whether `reward` is a cost

    @property
    def has(self) -> frozenset[str]:
        """Return the columns that the log has."""
        return frozenset(self.columns) | frozenset(self.points)


def check_names(columns: Mapping[str, str]) -> None:
    """Refuse names that are not of columns of a log."""
    for name in columns:
        if name not in NAMED:
            raise OptionError(str(unknown_name("column", name, NAMED)))


def chosen_columns(source: Source, options: ReadOptions) -> Choice:
    """Return the expression for each column of a log in `source`."""
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
    """The columns, with the best reward of edges that are counted already; without a count of visits."""
    if "count" not in columns or not is_transition:
        if options.columns.get("count"):
            raise FwrlError("only transitions can have a count: each visit is one")
        return {name: found for name, found in columns.items() if name != "count"}
    best = finder.find(BEST)
    return columns if best is None else {**columns, BEST: Expression((best,), BEST)}


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
    if "state" not in has and _has_coordinates(source):
        raise LogError(f"{source.name} has coordinates, but no column state", "cells")
    if not {"trip", "time", "state"} <= has or options.shape == "transitions":
        raise LogError(
            "expected the columns state and next_state (transitions), or trip, time and state (visits); "
            f"{source.name} has {column_names(source.types)}",
            "columns",
        )


def _has_coordinates(source: Source) -> bool:
    """Whether the names of columns look like coordinates of a plane or of the globe."""
    names = {str(column).casefold() for column in source.types}
    return any(names & set(first) and names & set(second) for first, second in COORDINATES)


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
