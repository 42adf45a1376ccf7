"""Fixtures and options for both doctests and tests."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator

import pytest

BEGAN = pytest.StashKey[float]()  # when the first test started
TIME_IS_UP = "the seconds of --seconds are over"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options --seconds, which `make check` uses, and --all-examples, which `make stress` uses."""
    parser.addoption("--seconds", type=float, help="skip tests that would start so long after the first")
    parser.addoption("--all-examples", action="store_true", help="let property tests draw all their examples")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage while tests are collected: nearly all that is made stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before fixtures are made
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that would start too late."""
    limit = item.config.getoption("seconds")
    if limit is not None and time.monotonic() > item.session.stash.setdefault(BEGAN, time.monotonic()) + limit:
        pytest.skip(TIME_IS_UP)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count the tests that would have started too late."""
    skipped = [report for report in terminalreporter.stats.get("skipped", []) if TIME_IS_UP in str(report.longrepr)]
    if skipped:
        terminalreporter.write_line(f"{TIME_IS_UP}: {len(skipped):,} tests were not run")


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
