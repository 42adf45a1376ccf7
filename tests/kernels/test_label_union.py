"""The union of labels is that of Python's sets, in the order of bytes."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fwrl.kernels.label_union import copy_labels, unite_labels

LABELS = st.sets(st.binary(min_size=1, max_size=4), max_size=12).map(sorted)


def as_arrays(labels):
    offsets = np.cumsum([0, *map(len, labels)])
    arrays = np.frombuffer(b"".join(labels), np.uint8), offsets
    for array in arrays:
        array.flags.writeable = False
    return arrays


@given(LABELS, LABELS)
@settings(max_examples=100)
def test_labels_are_united_in_order(one, other):
    union = sorted({*one, *other})
    codes = [np.empty(len(labels), np.int32) for labels in (one, other)]
    assert unite_labels(*as_arrays(one), *as_arrays(other), *codes) == len(union)
    offsets = np.cumsum([0, *map(len, union)])
    text = np.zeros(offsets[-1], np.uint8)
    for labels, code in zip((one, other), codes, strict=True):
        assert [union[k] for k in code] == labels
        own_text, own_offsets = as_arrays(labels)
        copy_labels(own_text, own_offsets, code, offsets, text)
    assert text.tobytes() == b"".join(union)
