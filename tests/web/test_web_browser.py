"""The page in a real browser: everything a visitor can do, without console errors or requests to other hosts."""

import re

from web_browser import needs_browser
from web_visitor import (
    choose_speed,
    click,
    drag,
    holds,
    marker,
    more,
    picture,
    place,
    play_until,
    route,
    rows_of,
    said,
    settled,
    taken,
    tool,
    undo,
)

pytestmark = needs_browser


def test_a_flag_that_is_dragged_away_is_known_to_fwrl_and_not_to_q_learning(opened):
    page = opened(1400, 900)
    assert taken(page) == [8000, 8000]
    assert page.locator(".pulse").first.is_visible()
    assert "Drag the flag" in page.inner_text("#hint")
    settled(page, lambda: [said(page, side) for side in (0, 1)], ["16 steps, the shortest"] * 2)
    picture(page, "open")
    drag(page, (9, 9), (7, 2))
    # From (1, 1) to (7, 2) it is 6 columns and 1 row, through the door at (5, 2).
    settled(page, lambda: [said(page, side) for side in (0, 1)], ["7 steps, the shortest", "no route yet"])
    settled(page, page.locator(".badge").first.is_visible, True)
    settled(page, page.locator(".pulse").first.is_hidden, True)
    assert page.inner_text("#hint") == ""
    assert "knows no route to it from the start" in route(page, 1).inner_text()
    more(page)
    page.mouse.move(*place(page, 1, 9))
    holds(page, "document.getElementById('inspect-title').textContent.startsWith('Cell (1, 9)')")
    assert "FWRL: 13 moves from" in page.inner_text("#inspect-routes")
    assert "Q-learning with goals: no route known" in page.inner_text("#inspect-routes")
    picture(page, "desktop")
    undo(page)
    settled(page, lambda: marker(page, "goal"), (9, 9))


def test_at_full_speed_a_badge_says_that_nobody_has_taken_a_step_since_the_flag_moved(opened):
    page = opened()
    choose_speed(page, 120)
    page.click("#play")
    holds(page, "Number(document.getElementById('pace').dataset.steps) > 20_000")
    page.evaluate("""() => {
        const badge = document.querySelector(".badge");
        window.seen = 0;
        new MutationObserver(() => { window.seen += !badge.hidden; }).observe(badge, { attributes: true });
    }""")
    click(page, 7, 2)
    holds(page, "window.seen > 0")
    settled(page, page.locator(".badge").first.is_hidden, True)  # they go on


def test_a_wall_is_drawn_and_undone(opened):
    page = opened()
    before = rows_of(page)
    tool(page, "#")
    drag(page, (2, 3), (4, 3))
    holds(page, "document.getElementById('world').value === 'drawn'")
    assert rows_of(page)[3] == "#.####....#"
    undo(page)
    settled(page, lambda: rows_of(page), before)
    tool(page, "cost")
    click(page, 1, 1)
    settled(page, lambda: rows_of(page)[1], "#2...#....#")
    tool(page, ">")
    click(page, 2, 1)
    settled(page, lambda: rows_of(page)[1], "#2>..#....#")
    tool(page, ".")
    click(page, 5, 1)
    settled(page, lambda: rows_of(page)[1], "#2>.......#")


def test_start_and_goal_are_dragged_by_mouse_and_moved_by_keyboard(opened):
    page = opened()
    drag(page, (9, 9), (9, 7))
    settled(page, lambda: marker(page, "goal"), (9, 7))
    drag(page, (1, 1), (1, 4))
    settled(page, lambda: marker(page, "start"), (1, 4))
    page.mouse.move(5, 300)
    canvas = page.locator(".stage canvas").first
    canvas.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "g"):  # the cursor begins at the start
        page.keyboard.press(key)
    holds(page, "document.getElementById('inspect-title').textContent.includes('goal (2, 5)')")
    assert "FWRL" in page.inner_text("#live")
    settled(page, lambda: marker(page, "goal"), (2, 5))
    canvas.focus()
    for key in ("ArrowRight", "ArrowRight", "#"):
        page.keyboard.press(key)
    settled(page, lambda: rows_of(page)[4], "#.#..#....#")


def test_controls_play_step_and_reset(opened):
    page = opened()
    steps = "document.getElementById('pace').dataset.steps"
    page.click("#step")
    holds(page, f"{steps} === '8001'")
    choose_speed(page, 0)
    assert page.inner_text("#speed-said") == "1 step/s"
    page.focus(".stage canvas")
    page.keyboard.press(" ")
    holds(page, f"Number({steps}) >= 8002")
    page.keyboard.press(" ")
    holds(page, "document.getElementById('play').textContent === 'Play'")
    page.click("#reset")
    holds(page, f"{steps} === '0'")
    holds(page, "document.getElementById('working').hidden")
    menu = page.locator(".agent").first
    assert {"FWRL", "R-max", "Hindsight replay"} <= set(menu.locator("option").all_inner_texts())
    assert menu.locator("optgroup").count() >= 5
    page.locator(".agent").nth(1).select_option("ql")
    settled(page, lambda: "starts over with every episode" in page.locator(".about").nth(1).inner_text(), True)
    page.select_option("#world", "risky-bridge")
    settled(page, lambda: len(rows_of(page)[0]), 13)
    page.select_option("#starts", "start")
    play_until(page, 10_000)


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
            more(page)
            holds(page, "document.querySelectorAll('#inspect-routes li').length === 2")
            holds(page, "document.querySelectorAll('.route')[0].dataset.route === 'best'")
            assert "4 moves from 2 trips, 1 stitch" in page.inner_text("#inspect-routes")
            page.mouse.move(5, 5)
            picture(page, "tour")
        if step < 4:
            page.click("#tour-next")
    holds(page, "[...document.querySelectorAll('.route')].map((p) => p.dataset.route).join() === 'best,none'")
    page.click("#tour-next")
    holds(page, "document.getElementById('tour').hidden")
    assert len(rows_of(page)) == 3  # the board that the tour explained
    page.click("#undo")
    settled(page, lambda: len(rows_of(page)), 11)


def test_a_finger_drags_the_flag_taps_cells_and_looks(opened):
    page = opened(width=390, height=844, has_touch=True, is_mobile=True, device_scale_factor=2)
    begin, end = place(page, 9, 9), place(page, 7, 2)
    client = page.context.new_cdp_session(page)
    for kind, at in (("touchStart", begin), ("touchMove", place(page, 8, 5)), ("touchMove", end), ("touchEnd", None)):
        points = [] if at is None else [{"x": at[0], "y": at[1]}]
        client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    settled(page, lambda: marker(page, "goal"), (7, 2))
    page.touchscreen.tap(*place(page, 3, 3))
    settled(page, lambda: marker(page, "goal"), (3, 3))
    page.tap("#draw-open")
    page.tap("[data-tool='look']")
    page.touchscreen.tap(*place(page, 8, 8))
    holds(page, "document.getElementById('inspect-title').textContent === 'Cell (8, 8), for the goal (3, 3)'")
    choose_speed(page, 60)
    page.tap("#play")
    holds(page, "Number(document.getElementById('pace').dataset.steps) > 9000")
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
    more(page)
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
    more(page)
    page.click("#draw-open")
    page.focus("h1 ~ nav select")
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.className || 'canvas'"))
    wanted = {"tour-open", "lessons", "share-open", "play", "step", "reset", "speed", "world", "starts", "more-open"}
    assert wanted | {"seed", "knowledge", "keep", "text", "agent", "unit", "draw-open"} <= reached
    assert page.evaluate("document.querySelector('.stage canvas').tabIndex") == 0


def test_a_world_of_60_by_60_is_drawn_while_both_learn(opened):
    page = opened()
    more(page)
    page.select_option("#world", "four-rooms-60")
    settled(page, lambda: len(rows_of(page)), 62)
    play_until(page, 20_000)
    assert int(page.get_attribute("#pace", "data-frames")) > 0
