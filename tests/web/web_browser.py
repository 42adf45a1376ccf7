"""Chromium with pages of a server of its own; no page may log an error or ask another host for anything."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from web_server import TIMEOUT, Running, running

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LEFT = "net::ERR_ABORTED"  # what the browser says of a request when its page is left or closed; nothing went wrong
READ = "willReadFrequently"  # what it says when a test reads the pixels of a canvas several times
READY = {  # what a page shows once it is ready: its answer, and its first frame
    "play": (".route[data-route]", "#pace[data-steps]"),
    "explore": ("#sentence[data-found]", "#map[data-at]"),
}

needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")


class Visits:
    """The pages that one test has opened, and what went wrong on them."""

    def __init__(self, browser: Any, server: Running) -> None:
        self.server, self._browser = server, browser
        self._contexts: list[Any] = []
        self._wrong: list[str] = []

    def open(self, width: int = 1280, height: int = 900, address: str = "", **options: Any) -> Any:
        """A page that is ready; `address` is what a link carries."""
        context = self._browser.new_context(viewport={"width": width, "height": height}, **options)
        self._contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(1000 * TIMEOUT)
        page.on("console", lambda said: self._heard(said.type, said.text))
        page.on("pageerror", lambda error: self._log(str(error)))
        page.on("request", lambda request: None if self._own(request.url) else self._log(request.url))
        page.on("requestfailed", lambda request: None if request.failure == LEFT else self._log(request.url))
        page.goto(self.server.url + (f"#{address}" if address else ""))
        for shown in READY[self.server.command]:
            page.wait_for_selector(shown, state="attached")
        return page

    def beside(self, server: Running) -> Visits:
        """Visits of another server in the same browser."""
        return Visits(self._browser, server)

    def _heard(self, kind: str, text: str) -> None:
        if kind in ("error", "warning") and READ not in text:
            self._log(text)

    def _log(self, problem: str) -> None:
        self._wrong.append(problem)

    def _own(self, url: str) -> bool:
        return url.startswith((self.server.url, f"blob:{self.server.url}"))

    def close(self) -> None:
        for context in self._contexts:
            context.close()
        wrong, self._wrong, self._contexts = self._wrong, [], []
        assert not wrong, "\n".join(wrong)


@contextlib.contextmanager
def visiting(*arguments: str, command: str = "play") -> Iterator[Visits]:
    """A server and a browser."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright installed")
    with running("--port", "0", *arguments, command=command) as server, playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield Visits(browser, server)
        browser.close()
