"""Photograph the pages for README.md and docs: front-door.png, explore.png and play-*.png in docs/images.

Needs Chromium and playwright.

    python docs/photograph_pages.py [NAME ...]
"""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image
from playwright.sync_api import sync_playwright

import fwrl
from fwrl.samples.warehouse import write

IMAGES = Path(__file__).with_name("images")
FRONT_DOOR = Path(__file__).with_name("front-door.html")
COLOURS = 256
TIMEOUT = 180_000  # milliseconds: agents may have to be compiled
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def _explored(page: Any) -> None:
    page.wait_for_selector("#sentence[data-found=route]")
    page.wait_for_selector("#working", state="hidden")
    page.click("#fit")


def _learned(page: Any) -> None:
    page.wait_for_selector(".route[data-route]")
    page.wait_for_selector("#working", state="hidden")


def _moved(page: Any) -> None:
    _learned(page)
    page.wait_for_timeout(3000)
    box = page.locator(".stage canvas").first.bounding_box()
    cell = box["width"] / 11
    page.mouse.move(box["x"] + 9.5 * cell, box["y"] + 9.5 * cell)
    page.mouse.down()
    page.mouse.move(box["x"] + 7.5 * cell, box["y"] + 2.5 * cell, steps=8)
    page.mouse.up()
    page.mouse.move(5, 5)
    page.wait_for_timeout(1500)


def _lesson(page: Any) -> None:
    _learned(page)
    page.select_option("#lessons", index=1)
    page.wait_for_selector("#lesson:not([hidden])")
    page.locator("#lesson-answers button").nth(1).click()
    page.wait_for_timeout(4000)


def _tour(page: Any) -> None:
    _learned(page)
    page.click("#tour-open")
    for step in range(3):
        page.wait_for_selector(f"#tour[data-step='{step}']")
        page.wait_for_timeout(2500)
        page.click("#tour-next")
    page.wait_for_timeout(3000)


def _dragged(page: Any) -> None:
    flag = page.locator(".flag").first.bounding_box()
    board = page.locator(".board canvas").first.bounding_box()
    page.mouse.move(flag["x"] + flag["width"] / 2, flag["y"] + flag["height"] / 2)
    page.mouse.down()
    page.mouse.move(board["x"] + 2.5 / 9 * board["width"], board["y"] + 2.5 / 9 * board["height"], steps=10)


class Picture(NamedTuple):
    """A picture: the command and the address of its page, its size, and what is done before."""

    command: tuple[str, ...]  # none for the front door, which is a file
    address: str
    width: int
    height: int
    prepare: Callable[[Any], None]


PICTURES = {
    "front-door": Picture((), "", 1100, 720, _dragged),
    "explore": Picture(
        ("explore", "warehouse.fwrl", "--positions", "places.csv", "--unit", "s"),
        "from=dock&to=packing&avoid=E3",
        1440,
        825,
        _explored,
    ),
    "play-desktop": Picture(("play",), "", 1400, 860, _moved),
    "play-lesson": Picture(("play",), "", 1440, 900, _lesson),
    "play-tour": Picture(("play",), "", 1280, 790, _tour),
}


@contextlib.contextmanager
def served(command: tuple[str, ...], folder: str) -> Iterator[str]:
    """The address of a page that is served from a folder."""
    arguments = [sys.executable, "-m", "fwrl", *command, "--no-browser", "--port", "0"]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, cwd=folder)
    try:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None
        yield found.group()
    finally:
        process.terminate()
        process.wait()


def photograph(name: str, browser: Any, folder: str) -> None:
    """Write one picture."""
    picture = PICTURES[name]
    with served(picture.command, folder) if picture.command else contextlib.nullcontext(FRONT_DOOR.as_uri()) as url:
        page = browser.new_page(viewport={"width": picture.width, "height": picture.height})
        page.set_default_timeout(TIMEOUT)
        page.goto(f"{url}#{picture.address}")
        picture.prepare(page)
        page.wait_for_timeout(1000)
        taken = Image.open(io.BytesIO(page.screenshot()))
        taken.convert("RGB").quantize(COLOURS).save(IMAGES / f"{name}.png", optimize=True)
        page.close()


def main(names: list[str]) -> None:
    """Write the pictures of these names, all without any."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        log = Path(folder) / "trips.csv"
        write(log, Path(folder) / "places.csv")
        fwrl.fit(str(log)).save(Path(folder) / "warehouse.fwrl")
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        for name in names or PICTURES:
            photograph(name, browser, folder)
            print(f"wrote {IMAGES / name}.png")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
