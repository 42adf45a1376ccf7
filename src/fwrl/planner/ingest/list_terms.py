"""Lists in a table of edges: the trips of each edge, and when they were last seen there.

`Planner.edges` writes them. Times must be of the same kind as `last`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fwrl.errors import FwrlError
from fwrl.planner.experience import MILLION, TimeKind
from fwrl.planner.ingest.expressions import Expression
from fwrl.planner.ingest.label_terms import LabelKind, joint_kind
from fwrl.planner.ingest.scan import INTEGERS, SIGNED, Source
from fwrl.planner.ingest.sql import identifier


def list_kind(sources: Sequence[Source], trips: Sequence[Expression]) -> LabelKind:
    """What the labels in lists of trips are."""
    kinds: list[LabelKind] = []
    for source, expression in zip(sources, trips, strict=True):
        type_ = source.types[expression.columns[0]]
        if not type_.endswith("[]"):
            raise FwrlError(f"expected lists as trips, column {expression.text!r} of {source.name} is {type_}")
        kinds.append("integer" if type_.removesuffix("[]") in SIGNED else "text")
    return joint_kind(kinds)


def list_terms(source: Source, lists: Mapping[str, Expression], time: TimeKind | None) -> dict[str, str]:
    """Terms for the lists of trips and of their times; `time` is what the times of the whole log are."""
    terms = {name: identifier(expression.columns[0]) for name, expression in lists.items()}
    if "trip_times" in lists:
        type_ = source.types[lists["trip_times"].columns[0]].removesuffix("[]")
        terms["trip_times"] = f"[{_time('t', type_, time)} FOR t IN {terms['trip_times']}]"
    return terms


def _time(value: str, type_: str, whole: TimeKind | None) -> str:
    """A term for a time as an integer, as `times` makes it of a column; `type_` is DuckDB's type of `value`."""
    if whole == "timestamp":
        return f"epoch_us({value}::TIMESTAMPTZ)"
    if whole == "number" and type_ in INTEGERS:
        return f"try_cast({value}::HUGEINT * {MILLION} AS BIGINT)"
    if whole == "number":
        return f"try_cast(round({value}::DOUBLE * {MILLION}) AS BIGINT)"
    return f"{value}::BIGINT"
