"""Sums of numbers that do not depend on the order of rows.

DuckDB adds in the order in which its threads finish, and sums of floats depend on it in their last bits. So numbers are
added as integers, whose sums are exact:

- *Short.* Numbers of one sign and of about the same size, 2^(e-4) to 2^e, are rounded to multiples of 2^(e-44). Floats
  add these exactly up to 2^53 multiples: some 500 rows of a group. For more rows the multiples are split into two limbs
  of 22 bits. Both give the same sum. One limb takes as long as a plain sum of floats, fixed point a third more.
- *Fixed point.* A number x with |x| <= 2^e is written as x = l_0 2^(e-62) + l_1 2^(e-124), with integers l of 64 bits.
  Most numbers of one log are alike in size, and l_0 alone suffices: it holds all bits of numbers down to 2^(e-9), and
  rounds smaller ones to 2^(e-62). A sum that may be off by more than 2^-41 of its size is not `precise`.
- *By exponent.* Rows are grouped by the size of their numbers too, in steps of 2^8, so that all bits of a number fit
  into an integer that counts units of that size. This is exact for all numbers, and takes longer.

Sums are converted to floats at the end, always in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fwrl.planner.ingest.sql import listed

SHORT, ALIKE = 44, 3  # bits of a short number, and by how many the sizes of short numbers may differ
HALF = SHORT // 2  # bits of the second of two limbs
ROOM = {1: 9, 2: 27}  # a short sum of so many limbs is exact below 2^(e + ROOM)
BITS = 62  # of a limb, beside its sign
USUAL = 33  # e of numbers whose size is not known beforehand
PRECISION = 41  # bits of a sum
STEP = 8  # exponents that are grouped together: 53 bits of a float and these fit into 64
SMALLEST, LARGEST = -960, 500  # exponents; what lies below is rounded, what lies beyond is not added


class Aggregate(NamedTuple):
    """An aggregate that is no sum of floats.

    Attributes:
        name: Of its column.
        term: What computes it from rows.
        combination: The function that computes it from those of parts of the rows.

    """

    name: str
    term: str
    combination: str


@dataclass(frozen=True)
class Grouping:
    """A query for groups of rows.

    Attributes:
        table: Where the rows are.
        key: Columns that tell one group from another.
        aggregates: What is computed of each group. One must be `count`.
        sums: The numbers to be added, by the name of the sum. For each sum there is also a column for the number of
            rows whose number is missing or beyond the range, its name followed by `_lost`.

    """

    table: str
    key: Sequence[str]
    aggregates: Sequence[Aggregate]
    sums: Mapping[str, str]

    def short(self, exponent: int, limbs: int) -> str:
        """The query, for numbers that are alike, none missing, up to 2^`exponent` in size; `limbs` is 1 or 2."""
        terms = [f"{each.term} AS {each.name}" for each in self.aggregates]
        for name, number in self.sums.items():
            units = f"round({number} * {2.0 ** (SHORT - exponent)!r}::DOUBLE)"
            whole = f"sum({units})"
            if limbs > 1:
                high = f"round({number} * {2.0 ** (SHORT - HALF - exponent)!r}::DOUBLE) * {2.0**HALF!r}::DOUBLE"
                whole = f"(sum({high}) + sum({units} - {high}))"
            terms += [f"{whole} * {2.0 ** (exponent - SHORT)!r}::DOUBLE AS {name}", f"0 AS {name}_lost"]
        return f"SELECT {listed([*self.key, *terms])} FROM {self.table} GROUP BY {listed(self.key)}"

    def in_fixed_point(self, exponent: int, limbs: int) -> str:
        """The query, for numbers up to 2^`exponent` in size; `limbs` is 1 or 2."""
        terms = [f"{each.term} AS {each.name}" for each in self.aggregates]
        wholes = []
        for name, number in self.sums.items():
            scaled = f"({number} * {2.0 ** (BITS - exponent)!r}::DOUBLE)"
            first = f"try_cast({scaled} AS BIGINT)"
            terms += [f"sum({first}) AS {name}_0", f"count(*) - count({first}) AS {name}_lost"]
            whole = f"{name}_0::DOUBLE * {2.0 ** (exponent - BITS)!r}::DOUBLE"
            if limbs > 1:
                rest = f"({scaled} - {first}::DOUBLE) * {2.0**BITS!r}::DOUBLE"
                terms.append(f"sum(try_cast({rest} AS BIGINT)) AS {name}_1")
                whole += f" + {name}_1::DOUBLE * {2.0 ** (exponent - 2 * BITS)!r}::DOUBLE"
            wholes += [f"{whole} AS {name}", f"{name}_lost"]
        grouped = f"SELECT {listed([*self.key, *terms])} FROM {self.table} GROUP BY {listed(self.key)}"
        names = [each.name for each in self.aggregates]
        return f"SELECT {listed([*self.key, *names, *wholes])} FROM ({grouped})"

    def by_exponent(self) -> str:
        """The query, for numbers of any size."""
        terms = [f"{each.term} AS {each.name}" for each in self.aggregates]
        wholes = [f"{each.combination}({each.name}) AS {each.name}" for each in self.aggregates]
        steps = [f"{name}_step" for name in self.sums]
        rows = [f"{_step(number)} AS {name}_step" for name, number in self.sums.items()]
        for name, number in self.sums.items():
            unit = f"pow(2.0, {STEP} * {name}_step - 53)"
            part = f"CASE WHEN {name}_step IS NOT NULL THEN ({number} / {unit})::BIGINT END"
            terms += [f"sum({part}) AS {name}_0", f"count(*) - count({name}_step) AS {name}_lost"]
            wholes += [
                f"coalesce(sum({name}_0::DOUBLE * {unit} ORDER BY {listed(steps)}), 0) AS {name}",
                f"sum({name}_lost) AS {name}_lost",
            ]
        stepped = f"SELECT *, {listed(rows)} FROM {self.table}"
        key = [*self.key, *steps]
        grouped = f"SELECT {listed([*key, *terms])} FROM ({stepped}) GROUP BY {listed(key)}"
        return f"SELECT {listed([*self.key, *wholes])} FROM ({grouped}) GROUP BY {listed(self.key)}"


def _step(number: str) -> str:
    """A term for the size of a number; NULL where it is missing or out of range."""
    size = f"abs({number})"
    within = f"{size} <= {2.0**LARGEST!r}::DOUBLE"
    # By Parquet's statistics, which pass over what is not a number, DuckDB may find that all are within.
    step = f"try_cast(greatest(floor(log2({size}) / {STEP}), {SMALLEST // STEP}) AS INTEGER)"
    return f"CASE WHEN {number} = 0 THEN 0 WHEN {within} THEN {step} END"


def exponent_of(largest: float) -> int | None:
    """The smallest e with 2^e >= `largest`; None where that is out of range.

    >>> exponent_of(1000.0), exponent_of(0.25)
    (10, -2)
    """
    if largest == 0:
        return 0
    if not 2.0**SMALLEST <= largest <= 2.0**LARGEST:
        return None
    mantissa, exponent = math.frexp(largest)
    return exponent - (mantissa == 0.5)


def are_alike(low: float, high: float) -> bool:
    """Whether all numbers from `low` to `high` are of about the same size, so that short sums are precise.

    >>> are_alike(-1.9, -0.8), are_alike(-1.0, 1.0), are_alike(0.1, 2.0)
    (True, False, False)
    """
    return low * high > 0 and max(abs(low), abs(high)) <= 2.0**ALIKE * min(abs(low), abs(high))


def beyond_short(name: str, exponent: int, limbs: int) -> str:
    """A condition for groups whose `short` sum `name` is not exact."""
    return f"NOT abs({name}) < {2.0 ** (exponent + ROOM[limbs])!r}::DOUBLE"


def imprecise(name: str, size: str, exponent: int, limbs: int) -> str:
    """A condition for groups whose sum `name` in fixed point is not precise; `size` is how large it is at least."""
    error = 2.0 ** (exponent - limbs * BITS - 1 + PRECISION)
    return f"({name} <> 0 OR {size} <> 0) AND count * {error!r}::DOUBLE > greatest(abs({name}), {size})"
