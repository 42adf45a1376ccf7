"""The page in a real browser: everything a visitor can do, without console errors or requests to other hosts."""

import re
import shutil

import pytest
from web_server import running
from web_visitor import choose_speed, click, drag, holds, marker, picture, place, play_until, route, rows_of, settled

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
playwright = pytest.importorskip("playwright.sync_api", reason="no playwright installed")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def server():
    with running("--port", "0") as server:
        yield server


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, server):
    """`opened(width=..., ...)` is a page; at the end of the test, no error may have occurred on it."""
    contexts, wrong = [], []

    def opened(width=1280, height=900, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda r: None if r.url.startswith(server.url) else wrong.append(r.url))
        page.on("requestfailed", lambda r: wrong.append(r.url))
        page.goto(server.url)
        page.wait_for_selector(".route[data-route]")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def test_a_goal_never_used_is_answered_at_once_by_fwrl_and_not_by_qlcat(opened):
    page = opened()
    play_until(page, 300_000)
    assert route(page, 0).get_attribute("data-route") == "best"
    assert route(page, 1).get_attribute("data-route") in ("best", "longer")
    click(page, 7, 2)
    # From (1, 1) to (7, 2) it is 6 columns and 1 row, through the door at (5, 2).
    holds(page, "document.querySelectorAll('.route')[0].dataset.moves === '7'")
    holds(page, "document.querySelectorAll('.route')[0].dataset.route === 'best'")
    assert route(page, 0).inner_text().endswith("From the start: 7 moves, the best there is")
    assert route(page, 1).inner_text().endswith("From the start: no route known")
    page.mouse.move(*place(page, 1, 9))
    holds(page, "document.querySelectorAll('#inspect-routes h3').length === 2")
    assert "FWRL: 13 moves from" in page.inner_text("#inspect-routes")
    assert "QLCAT: no route known" in page.inner_text("#inspect-routes")
    picture(page, "desktop")


def test_a_wall_is_drawn_and_undone(opened):
    page = opened()
    before = rows_of(page)
    page.click("[data-tool='#']")
    drag(page, (2, 3), (4, 3))
    holds(page, "document.getElementById('world').value === 'drawn'")
    assert rows_of(page)[3] == "#.####....#"
    page.keyboard.press("Control+z")
    settled(page, lambda: rows_of(page), before)
    page.click("[data-tool='cost']")
    click(page, 1, 1)
    settled(page, lambda: rows_of(page)[1], "#2...#....#")
    page.click("[data-tool='>']")
    click(page, 2, 1)
    settled(page, lambda: rows_of(page)[1], "#2>..#....#")
    page.click("[data-tool='.']")
    click(page, 5, 1)
    settled(page, lambda: rows_of(page)[1], "#2>.......#")


def test_start_and_goal_are_dragged_by_mouse_and_moved_by_keyboard(opened):
    page = opened()
    drag(page, (9, 9), (9, 7))
    settled(page, lambda: marker(page, "goal"), (9, 7))
    drag(page, (1, 1), (1, 4))
    settled(page, lambda: marker(page, "start"), (1, 4))
    page.mouse.move(5, 5)
    canvas = page.locator(".stage canvas").first
    canvas.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "g"):  # the cursor begins at the start
        page.keyboard.press(key)
    holds(page, "document.getElementById('inspect-title').textContent.includes('goal (2, 5)')")
    assert "FWRL" in page.inner_text("#live")
    assert marker(page, "goal") == (2, 5)
    canvas.focus()
    for key in ("ArrowRight", "ArrowRight", "#"):
        page.keyboard.press(key)
    settled(page, lambda: rows_of(page)[4], "#.#..#....#")


def test_controls_play_step_and_reset(opened):
    page = opened()
    steps = "document.getElementById('pace').dataset.steps"
    page.click("#step")
    holds(page, f"{steps} === '1'")
    choose_speed(page, 0)
    assert page.inner_text("#speed-said") == "1 step/s"
    page.focus(".stage canvas")
    page.keyboard.press(" ")
    holds(page, f"Number({steps}) >= 2")
    page.keyboard.press(" ")
    holds(page, "document.getElementById('play').textContent === 'Play'")
    page.click("#reset")
    holds(page, f"{steps} === '0'")
    assert page.locator("#working").is_hidden()
    assert {"FWRL", "FWRL-BEYOND", "MBRL"} <= set(page.locator(".agent").first.locator("option").all_inner_texts())
    page.locator(".agent").nth(1).select_option("ql")
    settled(page, lambda: page.locator(".about").nth(1).inner_text().partition(",")[0], "Q-learning")
    page.select_option("#world", "risky-bridge")
    settled(page, lambda: len(rows_of(page)[0]), 13)
    page.select_option("#starts", "start")
    play_until(page, 2_000)


def test_a_map_is_imported_and_a_bad_one_refused_with_an_error(opened):
    page = opened()
    page.click("#text")
    page.fill("#map-text", "..\n.x")
    page.click("#map-use")
    page.wait_for_selector("#notice:not([hidden])")
    assert "unknown character 'x'" in page.inner_text("#notice")
    assert len(rows_of(page)) == 11
    page.click("#text")
    page.fill("#map-text", "\n".join(["." * 200] * 170))
    page.click("#map-use")
    holds(page, "document.getElementById('notice').textContent.includes('at most 32,767 cells')")
    page.click("#text")
    page.fill("#map-text", "v..\n.#9\n...")
    page.click("#map-use")
    settled(page, lambda: rows_of(page), ["v..", ".#9", "..."])


def test_a_choice_that_is_refused_is_undone(opened):
    page = opened()
    page.evaluate("document.querySelector('.agent').append(new Option('NOBODY', 'nobody'))")
    page.locator(".agent").first.select_option("nobody")
    holds(page, "document.getElementById('notice').textContent.includes('unknown agent')")
    assert page.locator(".agent").first.input_value() == "fwrl"


def test_the_guided_tour_runs_to_its_end(opened):
    page = opened()
    page.click("#tour-open")
    for step in range(5):
        page.wait_for_selector(f"#tour[data-step='{step}']")
        if step in (1, 2, 4):
            choose_speed(page, 40)
            holds(page, "document.getElementById('pace').textContent.includes('finished')")
        if step == 3:
            holds(page, "document.querySelectorAll('#inspect-routes li').length === 2")
            holds(page, "document.querySelectorAll('.route')[0].dataset.route === 'best'")
            assert "4 moves from 2 trips, 1 stitch" in page.inner_text("#inspect-routes")
            page.mouse.move(5, 5)
            picture(page, "tour")
        if step < 4:
            page.click("#tour-next")
    assert page.locator(".reward").all_inner_texts() == ["10.0", "0.0"]
    assert [route(page, side).get_attribute("data-route") for side in (0, 1)] == ["best", "none"]
    page.click("#tour-next")
    holds(page, "document.getElementById('world').value === 'four-rooms'")
    holds(page, "document.getElementById('tour').hidden")


def test_a_phone_shows_everything_in_one_column(opened):
    page = opened(width=1280, height=844)
    page.set_viewport_size({"width": 390, "height": 844})
    holds(page, "document.querySelector('.stage canvas').clientWidth <= 390")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    boxes = [page.locator(".stage canvas").nth(side).bounding_box() for side in (0, 1)]
    assert boxes[0]["width"] > 250
    assert boxes[1]["y"] > boxes[0]["y"] + boxes[0]["height"]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)


def test_a_finger_taps_goals_and_looks(opened):
    page = opened(width=390, height=844, has_touch=True, is_mobile=True, device_scale_factor=2)
    page.touchscreen.tap(*place(page, 3, 3))
    page.tap("[data-tool='look']")
    page.touchscreen.tap(*place(page, 8, 8))
    holds(page, "document.getElementById('inspect-title').textContent === 'Cell (8, 8), for the goal (3, 3)'")
    choose_speed(page, 60)
    page.tap("#play")
    holds(page, "Number(document.getElementById('pace').dataset.steps) > 1000")
    picture(page, "phone")


def test_dark_is_dark_and_screens_with_small_pixels_are_crisp(opened):
    page = opened(color_scheme="dark", device_scale_factor=2)
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, re.findall(r"\d+", colour))) < 60
    drawn, shown = page.evaluate(
        "(() => { const c = document.querySelector('.stage canvas'); return [c.width, parseFloat(c.style.width)] })()"
    )
    assert drawn == 2 * shown
    assert drawn % 11 == 0
    page.select_option("#world", "windy-four-rooms")
    play_until(page, 20_000)
    click(page, 7, 2)
    choose_speed(page, 60)
    steps = int(page.get_attribute("#pace", "data-steps"))
    page.click("#play")
    holds(page, f"Number(document.getElementById('pace').dataset.steps) > {steps + 30}")
    picture(page, "dark")


def test_everything_that_can_be_used_has_a_name_and_can_be_reached(opened):
    page = opened()
    nameless = page.evaluate("""
        [...document.querySelectorAll("button, select, input, textarea, canvas")]
            .filter((e) => !(e.getAttribute("aria-label") || e.labels?.length || e.textContent.trim()))
            .map((e) => e.outerHTML)
    """)
    assert nameless == []
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.className || 'canvas'"))
    assert {"tour-open", "play", "step", "reset", "speed", "world", "starts", "seed", "text", "agent"} <= reached
    assert page.evaluate("document.querySelector('.stage canvas').tabIndex") == 0


def test_a_world_of_60_by_60_is_drawn_while_both_learn(opened):
    page = opened()
    page.select_option("#world", "four-rooms-60")
    settled(page, lambda: len(rows_of(page)), 62)
    play_until(page, 20_000)
    assert int(page.get_attribute("#pace", "data-frames")) > 0
