"""Union of two lists of labels in ascending order of their bytes.

Label i of a list is the bytes `text[offset[i] : offset[i + 1]]`. Its code is its index in the list.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Indices, Ints
from fwrl.kernels.jit import compiled

Bytes = NDArray[np.uint8]


@compiled
def unite_labels(text_a: Bytes, offset_a: Ints, text_b: Bytes, offset_b: Ints, code_a: Indices, code_b: Indices) -> int:
    """Fill in the codes of both lists' labels in their union; return the union's number of labels."""
    A, B = len(offset_a) - 1, len(offset_b) - 1
    i = j = n = 0
    while i < A or j < B:
        order = 0
        if j == B:
            order = -1
        elif i == A:
            order = 1
        else:
            order = _order(text_a, offset_a[i], offset_a[i + 1], text_b, offset_b[j], offset_b[j + 1])
        if order <= 0:
            code_a[i] = n
            i += 1
        if order >= 0:
            code_b[j] = n
            j += 1
        n += 1
    return n


@compiled
def _order(text_a: Bytes, begin_a: int, end_a: int, text_b: Bytes, begin_b: int, end_b: int) -> int:
    """-1, 0 or 1: the first label is less, equal or greater."""
    k = 0
    while begin_a + k < end_a and begin_b + k < end_b:
        a, b = text_a[begin_a + k], text_b[begin_b + k]
        if a != b:
            return -1 if a < b else 1
        k += 1
    return int(begin_a + k < end_a) - int(begin_b + k < end_b)


@compiled
def copy_labels(text: Bytes, offset: Ints, code: Indices, united_offset: Ints, united: Bytes) -> None:
    """Copy every label to its place in the text of the union."""
    for i in range(len(code)):
        begin = united_offset[code[i]]
        for k in range(offset[i + 1] - offset[i]):
            united[begin + k] = text[offset[i] + k]
