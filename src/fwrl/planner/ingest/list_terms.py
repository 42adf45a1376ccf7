"""Lists in a table of edges: the trips of each edge, and when they were last seen there.

`Planner.edges` writes them. DuckDB casts the elements; times must be of the same kind as `last`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fwrl.errors import FwrlError
from fwrl.planner.ingest.expressions import Expression
from fwrl.planner.ingest.label_terms import LabelKind, joint_kind
from fwrl.planner.ingest.scan import SIGNED, Source
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


def list_terms(lists: Mapping[str, Expression]) -> dict[str, str]:
    """Terms for the lists of trips and of their times."""
    return {name: identifier(expression.columns[0]) for name, expression in lists.items()}
