"""What once went wrong on the page: each of these tests failed before."""

import itertools

import pytest
from web_browser import needs_browser
from web_visitor import (
    at_rest,
    choose_speed,
    click,
    holds,
    marker,
    more,
    on_screen,
    pixels,
    place,
    route,
    rows_of,
    said,
    settled,
    taken,
    tool,
    undo,
    verdict,
)

pytestmark = needs_browser

LEARNED = "world=four-rooms&start=1,1&goal=9,9"
ROUTE = ["#1b1f26", "#56b4e9", "#cc79a7"]  # the greedy route, and its stretches


def test_the_route_from_the_start_stays_while_the_pointer_rests_on_the_goal(opened):
    page = opened(address=LEARNED)
    more(page)
    click(page, 7, 2)  # where the pointer now is
    holds(page, "document.querySelectorAll('.route')[0].dataset.promise === '7'")
    holds(page, "document.getElementById('inspect-title').textContent.startsWith('From the start (1, 1)')")
    assert pixels(page, ROUTE) > 150
    assert "7 moves from" in page.inner_text("#inspect-routes")


def test_an_edit_keeps_what_was_learned_and_says_what_it_cannot_know(opened):
    page = opened(address=LEARNED)
    tool(page, "#")
    click(page, 3, 4)
    settled(page, lambda: rows_of(page)[4], "#..#.#....#")
    assert taken(page) == [8000, 8000]
    settled(page, lambda: verdict(page, 0)[0], 16)
    page.wait_for_selector(".outdated:visible")
    assert "never forgets" in page.locator(".outdated").first.inner_text()
    page.locator(".outdated button").first.click()
    holds(page, "document.querySelector('.outdated').hidden")
    assert taken(page)[0] == 8000


def test_an_edit_may_start_over_and_undo_gives_the_learning_back(opened):
    page = opened(address=LEARNED)
    tool(page, "#")
    page.select_option("#keep", "over")
    click(page, 3, 4)
    settled(page, lambda: taken(page), [0, 0])
    undo(page)
    settled(page, lambda: taken(page), [8000, 8000])
    settled(page, lambda: rows_of(page)[4], "#....#....#")
    holds(page, "document.querySelectorAll('.route')[0].dataset.promise === '16'")
    more(page)
    page.click("#reset")
    settled(page, lambda: taken(page), [0, 0])
    page.click("#undo")
    settled(page, lambda: taken(page), [8000, 8000])


def test_the_agent_of_one_side_is_changed_alone_and_says_that_it_joined_later(opened):
    page = opened(address=LEARNED)
    for _ in range(3):
        page.click("#step")
    settled(page, lambda: taken(page), [8003, 8003])
    page.locator(".agent").nth(1).select_option("ql")
    settled(page, lambda: taken(page), [8003, 8000])
    holds(page, "document.querySelectorAll('.route')[0].dataset.promise === '16'")
    joined = page.locator(".joined")
    assert joined.nth(1).inner_text() == "It joined later: 8,000 steps so far, while FWRL has taken 8,003."
    assert joined.first.is_hidden()


def test_the_tour_gives_back_what_it_interrupted(opened):
    page = opened(address=LEARNED + "&speed=500")
    page.click("#tour-open")
    page.wait_for_selector("#tour[data-step='0']")
    page.click("#tour-next")
    page.wait_for_selector("#tour[data-step='1']")
    page.click("#tour-leave")
    settled(page, lambda: taken(page), [8000, 8000])
    assert page.inner_text("#speed-said") == "500 steps/s"
    holds(page, "document.querySelectorAll('.route')[0].dataset.promise === '16'")


def test_a_reload_goes_on(opened):
    page = opened(address=LEARNED)
    choose_speed(page, 120)
    page.click("#play")
    holds(page, "Number(document.getElementById('pace').dataset.steps) > 30_000")
    page.click("#play")
    holds(page, "document.getElementById('pace').textContent.includes('paused')")
    settled(page, lambda: len(set(taken(page))), 1)
    before = taken(page)
    page.reload()
    page.wait_for_selector(".route[data-route]")
    settled(page, lambda: taken(page), before)


def test_where_steps_cost_the_verdict_compares_cost(opened):
    page = opened()
    page.select_option("#lessons", label="Mud")
    page.click("#lesson-answers button:first-child")
    # Six steps round the mud cost 6; four steps through it cost 16.
    settled(page, lambda: [said(page, side) for side in (0, 1)], ["cost 6, the cheapest", "cost 16; 6 is possible"])
    assert "It promises 4 steps." in route(page, 1).inner_text()
    assert [route(page, side).get_attribute("data-route") for side in (0, 1)] == ["best", "worse"]


def test_a_policy_that_never_arrives_has_no_share_of_arrivals(opened):
    page = opened(address="world=four-rooms&agents=random;qlcat&steps=0")
    settled(page, lambda: said(page, 1), "no route yet")
    assert "%" not in route(page, 0).inner_text() + route(page, 1).inner_text()


def test_a_wall_offers_no_values(opened):
    page = opened()
    more(page)
    page.mouse.move(*place(page, 0, 0))
    settled(page, lambda: page.inner_text("#inspect-title"), "Cell (0, 0): wall")
    assert page.locator("#inspect-hint").is_hidden()


def test_a_start_does_not_hide_the_cost_of_its_cell(opened):
    corner = """(canvas) => { const side = canvas.width / 3, context = canvas.getContext("2d");
        return [...context.getImageData(0.72 * side, 0.02 * side, 0.26 * side, 0.26 * side).data]; }"""
    pictures = []
    for start in ("0,0", "1,0"):
        page = opened(address=f"map=9../...&start={start}&goal=2,1&agents=random;random&steps=0")
        at_rest(page)
        pictures.append(page.locator(".stage canvas").first.evaluate(corner))
    assert pictures[0] == pictures[1]


def test_drawing_ends_where_a_lesson_begins(opened):
    page = opened()
    tool(page, "#")
    page.select_option("#lessons", index=1)
    page.wait_for_selector("#lesson:not([hidden])")
    page.locator("#lesson-answers button").first.click()
    assert page.locator("#draw").is_hidden()
    before = rows_of(page)
    click(page, 3, 3)
    settled(page, lambda: marker(page, "goal"), (3, 3))
    assert rows_of(page) == before


def test_labels_of_charts_do_not_overlap_however_often_the_flag_moved(opened):
    page = opened()
    more(page)
    choose_speed(page, 120)
    for x in (1, 2, 3, 4, 6):
        steps = int(page.get_attribute("#pace", "data-steps"))
        page.click("#play")
        holds(page, f"Number(document.getElementById('pace').dataset.steps) > {steps + 2000}")  # five episodes
        page.click("#play")
        click(page, x, 1)
    for chart in ("rewards", "inefficiencies"):
        drawn = f"JSON.parse(document.getElementById('{chart}').dataset.labels ?? '[]')"
        holds(page, f"{drawn}.some(({{ row }}) => row === 1)")  # a mark of a move
        labels = page.evaluate(drawn)
        assert {label["row"] for label in labels} == {0, 1}
        for row in (0, 1):
            spans = sorted((label["left"], label["right"]) for label in labels if label["row"] == row)
            assert all(one[1] < other[0] for one, other in itertools.pairwise(spans)), spans


def test_numbers_are_in_the_unit_chosen_everywhere_and_stitches_are_fwrls(opened):
    page = opened(address=LEARNED)
    more(page)
    page.select_option("#unit", "reward")
    click(page, 7, 2)
    settled(page, lambda: said(page, 0), "reward \N{MINUS SIGN}0.00175, the best")
    assert " steps" not in route(page, 0).inner_text() + route(page, 1).inner_text()
    click(page, 9, 9)
    page.mouse.move(*place(page, 1, 1))
    settled(page, lambda: "Q-learning with goals: 16 moves" in page.inner_text("#inspect-routes"), True)
    routes = page.locator("#inspect-routes > div")
    assert "stitch" in routes.nth(0).inner_text()
    assert "stitch" not in routes.nth(1).inner_text()
    assert routes.nth(1).locator("li").count() == 0


def test_the_table_of_a_cell_has_units_and_an_optimal_column(opened):
    page = opened(address=LEARNED)
    more(page)
    page.mouse.move(*place(page, 8, 9))
    holds(page, "document.getElementById('inspect-title').textContent.startsWith('Cell (8, 9)')")
    table = page.locator("#inspect-table")
    assert table.locator("th[scope=col]").all_inner_texts() == ["action", "FWRL", "Q-learning with goals", "optimal"]
    assert table.locator("tbody tr").nth(3).locator("td").all_inner_texts()[::2] == ["1", "1"]  # right
    assert "steps to the goal" in page.inner_text("#inspect-units")
    page.select_option("#unit", "reward")
    assert table.locator("tbody tr").nth(3).locator("td").all_inner_texts()[::2] == [
        "\N{MINUS SIGN}0.00025",
        "\N{MINUS SIGN}0.00025",
    ]
    assert "Q, with the goal reward" in page.inner_text("#inspect-units")
    assert said(page, 0) == "reward \N{MINUS SIGN}0.00400, the best"


def test_a_single_step_on_a_fresh_board_shows_what_it_changed(opened):
    page = opened(address="world=four-rooms&steps=0")
    page.click("#step")
    page.wait_for_selector("#update:not([hidden])")
    told = page.inner_text("#update-sides")
    assert "FWRL: " in told
    assert "reward \N{MINUS SIGN}0.00025" in told
    holds(page, "document.querySelectorAll('.taken')[0].textContent === '1'")
    assert pixels(page, ["#0b5cad"]) > 300  # the frame around the cell, and the step


def test_a_goal_that_nobody_has_visited_says_so(opened):
    page = opened(address="world=four-rooms&steps=0")
    for side, name in enumerate(("FWRL", "Q-learning with goals")):
        settled(page, lambda: said(page, side), "no route yet")  # noqa: B023
        assert f"{name} has never been at this flag" in route(page, side).inner_text()
    page.goto(page.url.partition("#")[0] + "#" + LEARNED)
    settled(page, lambda: said(page, 0), "16 steps, the shortest")
    click(page, 7, 2)
    settled(page, lambda: "has been at this flag, but" in route(page, 1).inner_text(), True)


def test_an_address_is_not_lost_to_an_answer_that_writes_its_own(opened):
    page = opened()
    page.evaluate(
        "other => { const old = location.hash; location.hash = other; history.replaceState(null, '', old); }",
        "world=h-maze",
    )
    settled(page, lambda: len(rows_of(page)), 3)


def test_a_link_that_was_cut_within_an_escape_still_opens_the_page(opened):
    page = opened(address="world=four-rooms&start=1,1&goal=9,9%E0")
    assert "this link can't be read" in page.text_content("#notice")


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768), (390, 844)])
def test_boards_verdicts_and_controls_need_no_scrolling(opened, width, height):
    page = opened(width, height, address=LEARNED)
    for side in ("[data-side='0']", "[data-side='1']"):
        on_screen(page, f"{side} .stage canvas")
        on_screen(page, f"{side} .route")
    on_screen(page, ".controls")
    assert page.locator(".route").nth(1).bounding_box()["y"] < page.locator("footer").bounding_box()["y"]
    assert page.locator(".stage canvas").first.bounding_box()["height"] > 230


def test_the_bar_at_the_bottom_does_not_cover_the_legend(opened):
    page = opened(1440, 900)

    def uncovered():
        legend, bar = (page.locator(part).bounding_box() for part in (".legend", "footer"))
        return legend["y"] + legend["height"] <= bar["y"]

    page.select_option("#lessons", index=1)
    page.locator("#lesson-answers button").nth(1).click()
    settled(page, lambda: said(page, 1), "no route yet")
    settled(page, uncovered, True)
    page.click("#lesson-leave")
    page.click("#tour-open")
    for step in range(3):
        page.wait_for_selector(f"#tour[data-step='{step}']")
        page.click("#tour-next")
    settled(page, lambda: said(page, 1), "no route yet")
    settled(page, uncovered, True)


def test_nothing_covers_a_board(opened):
    page = opened(address=LEARNED)
    click(page, 7, 2)
    page.mouse.move(5, 5)
    holds(page, "document.getElementById('working').hidden")
    assert page.evaluate("""() => [...document.querySelectorAll(".stage canvas")].every((canvas) => {
        const { left, top, width, height } = canvas.getBoundingClientRect();
        for (let x = left + 5; x < left + width; x += 20)
            for (let y = top + 5; y < top + height; y += 20)
                if (document.elementFromPoint(x, y) !== canvas) return false;
        return true;
    })""")


def test_charts_have_numbers_of_episodes_and_show_values_on_hover(opened):
    page = opened(address=LEARNED)
    more(page)
    chart = page.locator("#rewards")
    chart.scroll_into_view_if_needed()
    holds(page, "document.getElementById('rewards').getAttribute('aria-label').includes('episodes 1 to 20')")
    box = chart.bounding_box()
    under = chart.evaluate("""(canvas) => {
        const ratio = canvas.width / canvas.clientWidth, at = (canvas.clientHeight - 30) * ratio;
        const { data } = canvas.getContext("2d").getImageData(0, at, canvas.width, 14 * ratio);
        return data.filter((v, k) => k % 4 === 3 && v > 100).length;
    }""")
    assert under > 40  # pixels of digits
    page.mouse.move(box["x"] + 60, box["y"] + 40)
    readout = page.locator(".readout").first
    settled(page, readout.is_visible, True)
    assert readout.inner_text().startswith("episode ")
    settled(page, lambda: "oracle" in readout.inner_text(), True)  # its curve comes after those of the agents
    page.mouse.move(5, 300)
    settled(page, readout.is_visible, False)
    chart.focus()
    page.keyboard.press("ArrowRight")
    settled(page, lambda: readout.inner_text().startswith("episode 1: FWRL"), True)


def test_a_typo_in_the_map_keeps_the_dialog_the_text_and_the_page(opened):
    page = opened()
    page.click("#draw-open")
    page.click("#text")
    page.fill("#map-text", "..\n.x")
    page.click("#map-use")
    settled(page, lambda: "unknown character 'x'" in page.inner_text("#map-problem"), True)
    assert page.input_value("#map-text") == "..\n.x"
    page.fill("#map-text", "\n".join(["." * 400] * 400))
    page.click("#map-use")
    settled(page, lambda: "at most 4,096 cells" in page.inner_text("#map-problem"), True)
    page.fill("#map-text", "v..\n.#9\n...\n")
    page.click("#map-use")
    settled(page, lambda: page.locator("#map-dialog").is_visible(), False)
    assert rows_of(page) == ["v..", ".#9", "..."]


def test_two_walls_drawn_quickly_after_choosing_an_agent_both_stand(opened):
    page = opened()
    tool(page, "#")
    spots = [place(page, x, 1) for x in (2, 3)]
    page.locator(".agent").nth(1).select_option("mbrl")
    for spot in spots:
        page.mouse.click(*spot)
    page.mouse.move(*spots[0])
    holds(page, "document.body.classList.contains('busy') === false")
    settled(page, lambda: rows_of(page)[1], "#.##.#....#")
    assert page.locator("#notice").is_hidden()
    assert page.locator(".agent").nth(1).input_value() == "mbrl"


def test_arrows_are_drawn_over_the_route(opened):
    page = opened(1440, 900, address=LEARNED)
    holds(page, "document.querySelectorAll('.route')[0].dataset.route === 'best'")
    # FWRL's route goes right through (2, 2), a dark cell with a light arrow.
    middle = """(canvas) => {
        const side = canvas.width / 11;
        return [...canvas.getContext("2d").getImageData(2.5 * side, 2.5 * side, 1, 1).data].slice(0, 3);
    }"""
    settled(page, lambda: min(page.locator(".stage canvas").first.evaluate(middle)) > 200, True)
    assert pixels(page, ROUTE[:1]) > 300


def test_on_a_wide_screen_a_lesson_is_next_to_its_boards(opened):
    page = opened(1440, 900)
    page.select_option("#lessons", index=1)
    page.locator("#lesson-answers button").nth(1).click()
    settled(page, lambda: said(page, 1), "no route yet")
    at_rest(page)
    card = page.locator("#lesson").bounding_box()
    boards = [page.locator(".stage canvas").nth(side).bounding_box() for side in (0, 1)]
    assert card["x"] + card["width"] <= boards[0]["x"]
    assert boards[0]["width"] + boards[1]["width"] > 0.85 * (1440 - card["x"] - card["width"])


def test_a_lesson_that_asks_shows_walls_start_and_flag_and_nothing_that_was_learned(opened):
    page = opened(1440, 900)
    page.select_option("#lessons", index=1)
    holds(page, "document.querySelectorAll('.route')[0].dataset.optimal !== ''")
    at_rest(page)
    assert page.locator(".stage canvas").first.is_visible()
    drawn = "[...document.querySelectorAll('.stage canvas')].map((canvas) => canvas.toDataURL())"
    settled(page, lambda: len(set(page.evaluate(drawn))), 1)  # both boards look the same, once the flag is at rest
    asked = page.evaluate(drawn)
    assert pixels(page, ["#c2184f"]) > 50  # the flag
    assert pixels(page, ["#c3c9d2"]) > 5000  # walls
    click(page, 3, 3)  # nobody moves the flag before the answer
    assert marker(page, "goal") == (7, 2)
    page.locator("#lesson-answers button").nth(1).click()
    settled(page, lambda: page.evaluate(drawn)[0] != asked[0] and len(set(page.evaluate(drawn))) == 2, True)


def test_the_sentence_of_an_agent_is_not_cut(opened):
    page = opened(1440, 900)
    more(page)
    at_rest(page)
    cut = "[...document.querySelectorAll('.about')].filter((p) => p.scrollWidth > p.clientWidth).length"
    assert page.evaluate(cut) == 0
