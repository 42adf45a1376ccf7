"""The page for everybody: axe-core finds nothing, everything is spoken, and no size or colour scheme loses anything."""

import itertools

import pytest
from web_axe import each_state, problems
from web_browser import needs_browser
from web_visitor import holds, picture, settled

pytestmark = needs_browser

LEARNED = "world=windy-four-rooms&start=1,1&goal=9,9"


def as_it_opens(page):
    """Nothing to do."""


def in_an_update(page):
    page.click("#step")
    page.wait_for_selector("#update:not([hidden])")
    page.click("#options summary")
    page.check("#knowledge")
    page.click("#draw-open")


def in_a_lesson(page):
    page.click("#update-close")
    page.select_option("#lessons", index=1)
    page.wait_for_selector("#lesson:not([hidden])")


def after_its_answer(page):
    page.locator("#lesson-answers button").first.click()


def in_the_share_dialog(page):
    page.click("#share-open")
    page.wait_for_selector("#share-dialog[open]")


def in_the_map_dialog(page):
    page.keyboard.press("Escape")
    page.click("#draw-open")
    page.click("#text")
    page.fill("#map-text", "x")
    page.click("#map-use")
    holds(page, "document.getElementById('map-problem').textContent !== ''")


def in_the_tour(page):
    page.keyboard.press("Escape")
    page.click("#tour-open")
    page.wait_for_selector("#tour[data-step='0']")


# One after the other: each leaves the one before it.
STATES = [
    as_it_opens,
    in_an_update,
    in_a_lesson,
    after_its_answer,
    in_the_share_dialog,
    in_the_map_dialog,
    in_the_tour,
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(opened, scheme):
    page = opened(address=LEARNED, color_scheme=scheme)
    for state in each_state(page, STATES):
        assert problems(page) == [], state
        picture(page, f"{state}-{scheme}")


def test_axe_finds_nothing_on_a_phone(opened):
    page = opened(390, 844, address=LEARNED, has_touch=True, is_mobile=True, device_scale_factor=2)
    assert problems(page) == []
    picture(page, "phone")


def test_nothing_scrolls_sideways_at_320_pixels(opened):
    page = opened(320, 640, address=LEARNED)
    for state in each_state(page, STATES):
        settled(page, lambda: page.evaluate("document.documentElement.scrollWidth") <= 320, True)
        assert page.locator(".stage canvas").nth(1).bounding_box()["width"] > 100
        picture(page, f"{state}-320")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_walls_are_flat_and_the_scale_rises_in_lightness_only(opened, scheme):
    page = opened(address=LEARNED, color_scheme=scheme)
    scale = page.evaluate(
        """async () => { const { scale } = await import("/static/palette.js");
            return Array.from({ length: 256 }, (_, k) =>
                "#" + [0, 1, 2].map((c) => scale[3 * k + c].toString(16).padStart(2, "0")).join("")); }"""
    )
    light = [luminance(colour) for colour in scale]
    assert all(one < other + 0.002 for one, other in itertools.pairwise(light))
    assert contrast(scale[0], scale[-1]) > 7
    seen = page.locator(".stage canvas").first.evaluate(
        """(canvas) => { const side = canvas.width / 11, context = canvas.getContext("2d");
            const { data } = context.getImageData(2 * side, 0, side, side - 2);
            const found = new Set();
            for (let k = 0; k < data.length; k += 4) found.add([...data.slice(k, k + 3)].join());
            return [...found]; }"""
    )
    assert len(seen) == 1
    wall = "#" + "".join(f"{int(part):02x}" for part in seen[0].split(","))
    assert max(contrast(wall, scale[0]), contrast(wall, scale[-1])) >= 3


def luminance(colour):
    linear = []
    for k in (1, 3, 5):
        c = int(colour[k : k + 2], 16) / 255
        linear.append(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4)
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_forced_colours_keep_the_chosen_tool_and_the_swatches(opened):
    page = opened(address=LEARNED, forced_colors="active")
    page.click("#draw-open")
    colour = "(e) => getComputedStyle(e).backgroundColor"
    chosen = page.locator("[data-tool='#']").evaluate(colour)
    other = page.locator("[data-tool='start']").evaluate(colour)
    assert chosen != other
    swatches = [page.locator(".swatch").nth(side).evaluate(colour) for side in (0, 1)]
    assert swatches[0] != swatches[1]
    picture(page, "forced-colours")


def test_cells_are_spoken_with_what_is_on_them(opened):
    page = opened(address="map=.%23.>/..9./....&start=0,0&goal=3,2")
    page.locator(".stage canvas").first.focus()
    page.keyboard.press("ArrowUp")  # the cursor begins at the start
    settled(page, lambda: page.inner_text("#live").startswith("(0, 0), floor, start"), True)
    page.keyboard.press("ArrowRight")
    settled(page, lambda: page.inner_text("#live"), "(1, 0), wall")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    settled(page, lambda: page.inner_text("#live").startswith("(3, 0), floor with wind right"), True)
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    settled(page, lambda: page.inner_text("#live").startswith("(3, 2), floor, goal"), True)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    settled(page, lambda: page.inner_text("#live").startswith("(2, 1), floor, costs 9 to leave"), True)
    assert "FWRL: " in page.inner_text("#live")
    assert page.locator(".route").first.get_attribute("aria-live") == "polite"


def test_reduced_motion_gets_few_frames_and_no_spinner(opened):
    page = opened(reduced_motion="reduce")
    page.click("#play")
    settled(page, lambda: int(page.get_attribute("#pace", "data-frames")) >= 2, True)
    page.wait_for_timeout(1000)
    assert int(page.get_attribute("#pace", "data-frames")) <= 4
    assert page.evaluate("getComputedStyle(document.getElementById('working'), '::before').animationName") == "none"
