"""SQL from lists of terms."""

from __future__ import annotations

from collections.abc import Iterable


def quoted(text: str) -> str:
    """A string literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(column: str) -> str:
    """A column, whatever its name is."""
    return '"' + column.replace('"', '""') + '"'


def listed(terms: Iterable[str]) -> str:
    """Terms with commas between them.

    >>> listed(["state", "count(*) AS n"])
    'state, count(*) AS n'
    """
    return ", ".join(terms)


def any_of(conditions: Iterable[str]) -> str:
    """Whether any of the conditions holds; false where there are none."""
    return " OR ".join(conditions) or "false"


def union_all(queries: Iterable[str]) -> str:
    """The rows of all queries."""
    return " UNION ALL ".join(queries)


def when(present: bool, *terms: str) -> list[str]:
    """The terms if `present`, otherwise none."""
    return list(terms) if present else []


def all_of(conditions: Iterable[str]) -> str:
    """Whether all of the conditions hold; true where there are none."""
    return " AND ".join(conditions) or "true"


def sql_bool(value: bool) -> str:
    """A truth value in SQL."""
    return str(value).lower()
