"""Labels, held against a sorted list of the same names."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwrl.errors import UnknownNameError
from fwrl.files import open_archive, write_archive
from fwrl.planner.labels import IntegerLabels, TextLabels, labels_of, read_labels

INTEGERS = st.sets(st.integers(-(2**63), 2**63 - 1), min_size=1)
TEXTS = st.sets(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1)


def ordered(names):
    return sorted(names, key=lambda name: name.encode() if isinstance(name, str) else name)


@given(st.one_of(INTEGERS, TEXTS), st.data())
def test_labels_are_a_sorted_list_of_distinct_names(names, data):
    truth = ordered(names)
    labels = labels_of(names) if isinstance(truth[0], int) else TextLabels.of(truth)
    assert isinstance(labels, IntegerLabels) == isinstance(truth[0], int)
    assert (list(labels), len(labels), labels[-1]) == (truth, len(truth), truth[-1])
    assert [labels.find(name) for name in truth] == list(range(len(truth)))
    codes = data.draw(st.lists(st.integers(0, len(truth) - 1)))
    assert labels.decode(codes) == [truth[code] for code in codes]
    assert labels.texts(np.array(codes, np.int32)).tolist() == [str(truth[code]) for code in codes]
    some = np.unique(np.array(codes, np.int64))
    assert list(labels.subset(some)) == [truth[code] for code in some.tolist()]
    if isinstance(labels, TextLabels):
        labels.check_order()


@pytest.mark.parametrize("names", [[30, 4, -7], ["north", "süd", "07"]])
def test_labels_come_back_from_a_file(tmp_path, names):
    write_archive(tmp_path / "labels", "test", {}, labels_of(names).sections("docks"))
    assert list(read_labels(open_archive(tmp_path / "labels"), "docks")) == ordered(names)


def test_close_matches_are_found_among_many_labels():
    labels = labels_of(f"s{k:06d}" for k in range(30_000))
    with pytest.raises(UnknownNameError, match="among 30,000; did you mean 's020000'"):
        labels.find("s020000x")
    with pytest.raises(UnknownNameError, match="among 30,000; did you mean 29999"):
        labels_of(range(30_000)).find("299990")
