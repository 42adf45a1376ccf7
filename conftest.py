"""Fixtures for doctests and tests alike."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _worlds_of_doctests(request: pytest.FixtureRequest) -> Iterator[None]:
    """Unregister the worlds that a doctest registers, so that later tests do not find them."""
    if not isinstance(request.node, pytest.DoctestItem):
        yield
        return
    from fwrl.worlds import catalogue

    before = dict(catalogue._registered)
    yield
    catalogue._registered.clear()
    catalogue._registered.update(before)
