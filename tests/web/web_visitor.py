"""What a visitor does on the page, and how to wait until the page shows it."""

import os
import time
from pathlib import Path

from web_server import TIMEOUT

PICTURES = os.environ.get("FWRL_WEB_PICTURES")  # a folder to leave screenshots in


def place(page, x, y, side=0):
    """The middle of a cell, on the screen."""
    rows = rows_of(page)
    canvas = page.locator(".stage canvas").nth(side)
    canvas.scroll_into_view_if_needed()
    at_rest(page)
    box = canvas.bounding_box()
    return box["x"] + (x + 0.5) * box["width"] / len(rows[0]), box["y"] + (y + 0.5) * box["height"] / len(rows)


def at_rest(page):
    """Wait until boards stay where they are: a page lays them out again in the frame after its texts have changed."""
    page.evaluate("""() => new Promise((done) => {
        const canvases = [...document.querySelectorAll(".stage canvas")];
        const boxes = () => JSON.stringify(canvases.map((canvas) => canvas.getBoundingClientRect()));
        let last = "", same = 0;
        const look = () => {
            same = boxes() === last ? same + 1 : 0;
            last = boxes();
            if (same === 3) done();
            else requestAnimationFrame(look);
        };
        look();
    })""")


def click(page, x, y, side=0):
    page.mouse.click(*place(page, x, y, side))


def drag(page, begin, end):
    begin, end = place(page, *begin), place(page, *end)
    page.mouse.move(*begin)
    page.mouse.down()
    page.mouse.move(*end, steps=8)
    page.mouse.up()


def rows_of(page):
    page.evaluate("document.getElementById('text').click()")  # also where the drawer is closed
    text = page.input_value("#map-text")
    page.evaluate("document.getElementById('map-dialog').close()")
    return text.split("\n")


def tool(page, name):
    """Choose a tool; its drawer is opened if it is closed."""
    if page.locator("#draw").is_hidden():
        page.click("#draw-open")
    page.click(f"[data-tool='{name}']")


def more(page):
    """Open the panel with everything else."""
    if page.locator("#panel").is_hidden():
        page.click("#more-open")


def said(page, side):
    """The large line under a board."""
    return route(page, side).locator("b").text_content()


def undo(page):
    """Undo by the keyboard, once there is something to undo."""
    page.wait_for_selector("#undo:enabled")
    page.keyboard.press("Control+z")


def choose_speed(page, position):
    page.locator("#speed").evaluate(
        "(slider, v) => { slider.value = v; slider.dispatchEvent(new Event('input')); }", str(position)
    )


def play_until(page, steps):
    choose_speed(page, 120)
    page.click("#play")
    holds(page, f"Number(document.getElementById('pace').dataset.steps) > {steps}")
    page.click("#play")
    holds(page, "document.getElementById('pace').textContent.includes('paused')")


def route(page, side):
    return page.locator(".route").nth(side)


def verdict(page, side):
    """Steps promised, really taken and optimal, as the page says them."""
    data = route(page, side).evaluate("(p) => [p.dataset.promise, p.dataset.truth, p.dataset.optimal]")
    return tuple(float(number.replace(",", "")) if number else None for number in data)


def taken(page):
    """The steps that each agent has taken."""
    return [int(number.replace(",", "")) for number in page.locator(".taken").all_inner_texts()]


def pixels(page, colours, side=0, selector=".stage canvas"):
    """How many pixels of a canvas have one of these colours."""
    wanted = [[int(colour[k : k + 2], 16) for k in (1, 3, 5)] for colour in colours]
    return (
        page.locator(selector)
        .nth(side)
        .evaluate(
            """(canvas, wanted) => {
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            let found = 0;
            for (let k = 0; k < data.length; k += 4)
                if (wanted.some((c) => c.every((v, i) => Math.abs(v - data[k + i]) <= 3))) found += 1;
            return found;
        }""",
            wanted,
        )
    )


def on_screen(page, selector):
    """Wait until all of an element is in the window, without scrolling; a board is sized after its texts change."""

    def inside():
        box, size = page.locator(selector).bounding_box(), page.viewport_size
        return (
            box is not None
            and box["x"] >= 0
            and box["y"] >= 0
            and box["x"] + box["width"] <= size["width"]
            and box["y"] + box["height"] <= size["height"]
        )

    settled(page, inside, True)


def marker(page, name):
    """Where the start or the goal is drawn."""
    width = len(rows_of(page)[0])
    cell = int(page.get_attribute("#pace", f"data-{name}"))
    return cell % width, cell // width


def settled(page, question, wanted):
    """Ask until the answer is the one wanted."""
    until = time.monotonic() + TIMEOUT
    while (answer := question()) != wanted and time.monotonic() < until:
        page.wait_for_timeout(50)
    assert answer == wanted


def holds(page, condition):
    """Wait until a condition holds; Playwright's own wait would need the page to allow `eval`, and it does not."""
    settled(page, lambda: page.evaluate(condition), True)


def picture(page, name):
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=True)
