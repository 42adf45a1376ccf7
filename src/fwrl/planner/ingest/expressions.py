"""What a user may give for a column of a log: a column, several joined by `+`, or an arithmetic expression.

A name that a column has means that column, whatever characters are in it. A number k, or `#k`, means the k-th column.
In expressions, a name with an operator or a blank in it stands in double quotes.

    value      = part { "+" part }                             of labels: the parts make one label
    expression = [sign] term { ("+" | "-" | "*" | "/") term }  of numbers
    term       = number | name | "(" expression ")"
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from fwrl.errors import FwrlError
from fwrl.planner.ingest.sql import listed

TOKEN = re.compile(r'\s*(?:(?P<quoted>"[^"]+")|(?P<operator>[-+*/()])|(?P<word>[^-+*/()"\s]+))')
NUMBER = re.compile(r"\d+(\.\d*)?|\.\d+")
LISTED = 20  # columns named in a message
LONGEST = 40  # characters of a column's name in a message


class Column(str):
    """A column of the source, among the operators and numbers of an expression."""

    __slots__ = ()


class Expression(NamedTuple):
    """What stands for a column of a log.

    Attributes:
        tokens: Columns, operators and numbers in order.
        text: As it was given.

    """

    tokens: tuple[str, ...]
    text: str

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
    """Finds the columns of a source by name or number.

    Args:
        columns: The names of its columns in order.
        source: What messages call the source.

    """

    def __init__(self, columns: Iterable[str], source: str) -> None:
        self._columns, self._source = list(columns), source
        self._folded = {column.casefold(): column for column in self._columns}

    def find(self, name: str) -> Column | None:
        """The column of that name or number; None if there is none."""
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
        end = _end_of_expression(tokens, 0)
        if not tokens or end != len(tokens) or not any(_is_name(token) for token in tokens):
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
    """The tokens of an expression; none where some of the text is no token."""
    tokens, at = [], 0
    while at < len(text.rstrip()):
        found = TOKEN.match(text, at)
        if found is None:
            return []
        tokens.append(found[0].strip())
        at = found.end()
    return tokens


def _is_name(token: str) -> bool:
    return token not in ("+", "-", "*", "/", "(", ")") and NUMBER.fullmatch(token) is None


def _end_of_expression(tokens: Sequence[str], at: int) -> int:
    """Where the expression that begins `at` a token ends; -1 where there is none."""
    if at < len(tokens) and tokens[at] in ("+", "-"):
        at += 1
    while True:
        at = _end_of_term(tokens, at)
        if at < 0 or at >= len(tokens) or tokens[at] not in ("+", "-", "*", "/"):
            return at
        at += 1


def _end_of_term(tokens: Sequence[str], at: int) -> int:
    if at >= len(tokens) or tokens[at] in ("+", "-", "*", "/", ")"):
        return -1
    if tokens[at] != "(":
        return at + 1
    end = _end_of_expression(tokens, at + 1)
    return end + 1 if 0 <= end < len(tokens) and tokens[end] == ")" else -1
