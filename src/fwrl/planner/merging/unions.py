"""The union of several ascending lists, and the place of each element of each list in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Indices, Ints
from fwrl.planner.labels import IntegerLabels, Labels, TextLabels


def places_in_union(lists: Sequence[Ints]) -> tuple[list[Indices], int]:
    """For each of several ascending lists the places of its elements in their union, and the length of the union.

    Args:
        lists: Arrays of integers, each strictly ascending.

    Returns:
        One array of places for each list, and the number of distinct elements.

    >>> places, n = places_in_union([np.array([1, 5]), np.array([3, 5])])
    >>> [each.tolist() for each in places], n
    ([[0, 2], [1, 2]], 3)
    """
    together = np.concatenate(lists)
    order = np.argsort(together, kind="stable")  # merges ascending runs
    ordered = together[order]
    new = np.ones(len(ordered), np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    place = np.empty(len(ordered), np.int32)
    place[order] = np.cumsum(new, dtype=np.int32) - 1
    bounds = np.cumsum([len(each) for each in lists])[:-1]
    return np.split(place, bounds), int(new.sum())


def united(several: Sequence[Labels]) -> tuple[Labels, list[Indices]]:
    """The labels of all, and for each of `several` the codes that its labels have among them.

    Integers become text where some labels are text.
    """
    if all(isinstance(labels, IntegerLabels) for labels in several):
        numbers = [np.asarray(labels.numbers) for labels in several if isinstance(labels, IntegerLabels)]
        codes, n = places_in_union(numbers)
        union = np.empty(n, np.int64)
        for code, number in zip(codes, numbers, strict=True):
            union[code] = number
        return IntegerLabels(union), codes
    return _united_text([_as_text(labels) for labels in several])


def _united_text(several: Sequence[tuple[TextLabels, Indices]]) -> tuple[Labels, list[Indices]]:
    """The union of halves of `several`; each comes with the codes of its original labels."""
    if len(several) == 1:
        labels, code = several[0]
        return labels, [code]
    half = len(several) // 2
    (one, codes_one), (other, codes_other) = (_united_text(part) for part in (several[:half], several[half:]))
    assert isinstance(one, TextLabels)
    assert isinstance(other, TextLabels)
    union, (code_one, code_other) = _united_pair(one, other)
    return union, [*(code_one[code] for code in codes_one), *(code_other[code] for code in codes_other)]


def _united_pair(one: TextLabels, other: TextLabels) -> tuple[TextLabels, list[Indices]]:
    from fwrl.kernels.labels import copy_labels, unite_labels

    parts = [(_read_only(labels.text), _read_only(labels.offsets)) for labels in (one, other)]
    codes = [np.empty(len(labels), np.int32) for labels in (one, other)]
    n = unite_labels(*parts[0], *parts[1], *codes)
    sizes = np.zeros(n + 1, np.int64)
    for (_, offsets), code in zip(parts, codes, strict=True):
        sizes[code + 1] = np.diff(offsets)
    united_offsets = np.cumsum(sizes)
    text = np.empty(int(united_offsets[-1]), np.uint8)
    for (own_text, offsets), code in zip(parts, codes, strict=True):
        copy_labels(own_text, offsets, code, united_offsets, text)
    return TextLabels(text, united_offsets), codes


def _as_text(labels: Labels) -> tuple[TextLabels, Indices]:
    """Labels as text, and the code that each has then: numbers as text are in another order."""
    if isinstance(labels, TextLabels):
        return labels, np.arange(len(labels), dtype=np.int32)
    names = [str(label) for label in labels]
    order = np.array(sorted(range(len(names)), key=names.__getitem__), np.int32)
    codes = np.empty(len(names), np.int32)
    codes[order] = np.arange(len(names), dtype=np.int32)
    return TextLabels.of([names[k] for k in order.tolist()]), codes


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written, as arrays mapped from files are: kernels are compiled for these alone."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
