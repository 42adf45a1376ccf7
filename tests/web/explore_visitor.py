"""What a visitor does on the explore page of the town."""

from urllib.parse import unquote

from web_town import PLACES
from web_visitor import holds, settled

WIDTH = 7.0  # of the town
WEST, NORTH = 0.0, 1.0


def in_sight(page):
    """The middle of what is in sight and its magnification, from the address."""
    drawn(page)
    at = page.get_attribute("#map", "data-at")
    settled(page, lambda: unquote(page.url).endswith(f"at={at}"), True)  # the address follows a moved map
    x, y, zoom = (float(number) for number in at.split(","))
    return x, y, zoom


def place(page, name):
    """Where a state is drawn, in the window."""
    page.locator("#map").scroll_into_view_if_needed()
    drawn(page)
    box = page.locator("#map").bounding_box()
    left, top, scale = (float(number) for number in page.get_attribute("#map", "data-sight").split(","))
    east, north = PLACES[name]
    return box["x"] + left + (east - WEST) / WIDTH * scale, box["y"] + top + (NORTH - north) / WIDTH * scale


def click(page, name, **options):
    page.mouse.click(*place(page, name), **options)


def asks(page, *wanted):
    """Wait until the chips say this question, as "from home"."""

    def said():
        return [" ".join(text.split()[1:3]) for text in page.locator("#chips .chip").all_inner_texts()]

    settled(page, said, list(wanted))


def says(page, beginning):
    holds(page, f"document.getElementById('sentence').textContent.startsWith({beginning!r})")


def drawn(page):
    """Wait until what was answered last is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def colour(page, name):
    """A colour of the style sheet, as the canvas has it."""
    return page.evaluate(f"getComputedStyle(document.documentElement).getPropertyValue('--{name}').trim()")
