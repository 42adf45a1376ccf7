"""Values from Python as columns that DuckDB can scan."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FwrlError
from fwrl.planner.ingest.schema import LABELS

Table = dict[str, NDArray[Any]]
PLAIN = {int, float, str, type(None)}
MISSING = ("NAType", "NaTType")  # types of pandas' missing values
EXACT = 2.0**53  # integers up to which floats are exact


def column(name: str, values: Any) -> NDArray[Any]:
    """An array of integers or of numbers if all values are, otherwise of text; None stays missing."""
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iufUM":
        return _array_column(name, values)
    plain: Sequence[Any] = values if isinstance(values, list | tuple) else list(values)
    kinds = set(map(type, plain))
    if not kinds <= PLAIN:
        plain = [_plain(value) for value in plain]
        kinds = set(map(type, plain))
    if kinds == {int}:
        return _integers(name, plain)
    if kinds <= {int, float, type(None)} and kinds:
        return _numbers(name, plain)
    if name in LABELS and not kinds <= {int, str, type(None)}:
        raise _no_label(name, plain)
    if kinds <= {int, str, type(None)}:
        return np.array([None if value is None else str(value) for value in plain], object)
    try:
        return np.array(plain, "datetime64[us]") if name == "time" else np.array(plain, object)
    except (TypeError, ValueError) as error:
        raise FwrlError(f"expected numbers or dates as {name}: {error}") from error


def _array_column(name: str, values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind == "U":
        return values.astype(object)
    if values.dtype.kind == "f" and name in LABELS:
        return _numbers(name, values.tolist())
    return np.ascontiguousarray(values)


def _integers(name: str, values: Sequence[int]) -> NDArray[Any]:
    try:
        return np.array(values, np.int64)
    except OverflowError:
        if name not in LABELS:
            raise FwrlError(f"expected integers of 64 bits as {name}") from None
        return np.array([str(value) for value in values], object)


def _numbers(name: str, values: Sequence[float | None]) -> NDArray[Any]:
    """Numbers, some of which are missing; labels among them must be whole."""
    numbers = np.array([np.nan if value is None else value for value in values], np.float64)
    if name not in LABELS:
        return numbers
    exact = (np.floor(numbers) == numbers) & (np.abs(numbers) <= EXACT) | np.isnan(numbers)
    if exact.all():
        return numbers
    if all(isinstance(value, int | None) for value in values):
        return np.array([None if value is None else str(value) for value in values], object)
    raise _no_label(name, values, ~exact)


def _no_label(name: str, values: Sequence[Any], wrong: NDArray[np.bool_] | None = None) -> FwrlError:
    allowed = (int, str, type(None))
    first = (
        next(k for k, value in enumerate(values) if type(value) not in allowed)
        if wrong is None
        else int(np.argmax(wrong))
    )
    return FwrlError(f"expected strings or integers as {name}, item {first} has {values[first]!r}")


def _plain(value: Any) -> Any:
    """A NumPy scalar as a Python number, a zoned moment in UTC, a missing value as None; any other value unchanged."""
    if isinstance(value, np.generic | np.ndarray) and np.ndim(value) == 0:
        return value.item()
    if type(value).__name__ in MISSING:
        return None
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.UTC).replace(tzinfo=None)
    return value


def state_of(value: Any) -> Any:
    """The state in an observation of a goal environment; any other value unchanged."""
    return value["observation"] if isinstance(value, Mapping) and "observation" in value else value


def concatenated(tables: Iterable[Table]) -> Table:
    """The rows of several tables; a column that one of them lacks is missing there."""
    tables = list(tables)
    if not tables:
        raise FwrlError("the log is empty; expected at least one transition")
    if len(tables) == 1:
        return tables[0]
    names = dict.fromkeys(name for table in tables for name in table)
    lengths = [len(next(iter(table.values()))) for table in tables]
    return {name: _joined(name, tables, lengths) for name in names}


def _joined(name: str, tables: list[Table], lengths: list[int]) -> NDArray[Any]:
    parts = [table.get(name) for table in tables]
    kinds = {"O" if part is None else part.dtype.kind for part in parts}
    if len(kinds) == 1 and "O" not in kinds:
        return np.concatenate(parts)  # type: ignore[arg-type]
    values: list[Any] = []
    for part, n in zip(parts, lengths, strict=True):
        values += [None] * n if part is None else part.tolist()
    return column(name, values)
