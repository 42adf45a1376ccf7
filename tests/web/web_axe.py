"""axe-core, from a package that only tests need."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Only what is broken is collected and sent.
RUN = """async (tags) => {
    const options = { runOnly: { type: "tag", values: tags }, resultTypes: ["violations"] };
    const { violations } = await axe.run(document, options);
    return violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)]);
}"""


@functools.cache
def axe_source() -> str:
    """The source of axe-core; the test is skipped without it."""
    found = importlib.util.find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        pytest.skip("no axe-playwright-python installed")
    return (Path(found.origin).parent / "axe.min.js").read_text()


def each_state(page: Any, states: list[Callable[[Any], None]]) -> Iterator[str]:
    """Bring a page into several states, one after the other: their names."""
    for state in states:
        state(page)
        page.wait_for_timeout(100)
        yield state.__name__


def problems(page: Any) -> list[tuple[str, list[str]]]:
    """What axe-core finds on a page: the rules that are broken, and where."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe_source())
    found = page.evaluate(RUN, RULES)
    return [(rule, [html[:120] for html in places]) for rule, places in found]
