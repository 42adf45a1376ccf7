"""One look per agent, whatever company it is drawn in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fwrl.figures.palette import LOOKS, SPARE, table_of_colours

LABELS = ["QL", "QLCAT", "MBRL", "MBRL (straight lines)", "FWRL (Algorithm 1)", "FWRL (exact)", "random", "oracle"]


def test_every_agent_of_the_paper_has_its_own_colour_and_marker() -> None:
    looks = table_of_colours(LABELS)
    assert set(looks) == set(LABELS)
    assert len({look.colour for look in looks.values()}) == len(LABELS)
    assert len({look.marker for look in looks.values()}) == len(LABELS)


@given(st.sets(st.sampled_from(LABELS)), st.sets(st.text(max_size=5), max_size=6))
def test_a_known_agent_looks_the_same_in_any_company(known: set[str], others: set[str]) -> None:
    looks = table_of_colours(known | others)
    assert set(looks) == known | others
    assert all(looks[label] == LOOKS[label] for label in known)


@given(st.permutations(["d", "b", "QL", "a"]))
def test_the_order_of_labels_changes_nothing(labels: list[str]) -> None:
    assert list(table_of_colours(labels).items()) == list(table_of_colours(sorted(labels)).items())


def test_unknown_agents_get_colours_that_no_known_one_has() -> None:
    looks = table_of_colours([*LABELS, "w", "x", "y", "z"])
    assert len({look.colour for look in looks.values()}) == len(LABELS) + len(SPARE)


def test_text_is_dark_enough_to_read_on_white() -> None:
    """At least 3:1, the contrast that WCAG 2 asks of large and bold text."""
    for look in (*LOOKS.values(), *SPARE):
        channels = [int(look.ink[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        assert 1.05 / (luminance + 0.05) >= 3, look
