"""What once went wrong on the page: each of these tests failed before."""

import pytest
from web_browser import needs_browser
from web_visitor import (
    choose_speed,
    click,
    holds,
    on_screen,
    pixels,
    place,
    route,
    rows_of,
    settled,
    taken,
    verdict,
)

from fwrl.web.play.judge import judge
from fwrl.web.play.judge import verdict as exact_verdict
from fwrl.web.play.scenario_text import from_address

pytestmark = needs_browser

LEARNED = "world=four-rooms&start=1,1&goal=9,9&training=begin:9,9:8000"
ROUTE = ["#0b5cad", "#56b4e9", "#cc79a7"]  # the greedy route, and its stretches


def test_the_route_from_the_start_stays_while_the_pointer_rests_on_the_goal(opened):
    page = opened(address=LEARNED)
    click(page, 7, 2)  # where the pointer now is
    holds(page, "document.querySelectorAll('.route')[0].dataset.promise === '7'")
    holds(page, "document.getElementById('inspect-title').textContent.startsWith('From the start (1, 1)')")
    assert pixels(page, ROUTE) > 300
    assert "7 moves from" in page.inner_text("#inspect-routes")


def test_an_edit_keeps_what_was_learned_and_says_what_it_cannot_know(opened):
    page = opened(address=LEARNED)
    page.click("[data-tool='#']")
    click(page, 3, 4)
    settled(page, lambda: rows_of(page)[4], "#..#.#....#")
    assert taken(page) == [8000, 8000]
    assert verdict(page, 0)[0] == 16
    page.wait_for_selector(".outdated:visible")
    assert "never forgets" in page.locator(".outdated").first.inner_text()
    page.locator(".outdated button").first.click()
    holds(page, "document.querySelector('.outdated').hidden")
    assert taken(page)[0] == 8000


def test_an_edit_may_start_over_and_undo_gives_the_learning_back(opened):
    page = opened(address=LEARNED)
    page.select_option("#keep", "over")
    page.click("[data-tool='#']")
    click(page, 3, 4)
    settled(page, lambda: taken(page), [0, 0])
    page.keyboard.press("Control+z")
    settled(page, lambda: taken(page), [8000, 8000])
    settled(page, lambda: rows_of(page)[4], "#....#....#")
    holds(page, "document.querySelectorAll('.route')[0].dataset.promise === '16'")
    page.click("#reset")
    settled(page, lambda: taken(page), [0, 0])
    page.click("#undo")
    settled(page, lambda: taken(page), [8000, 8000])


def test_the_agent_of_one_side_is_changed_alone(opened):
    page = opened(address=LEARNED)
    page.locator(".agent").nth(1).select_option("ql")
    settled(page, lambda: taken(page), [8000, 0])
    holds(page, "document.querySelectorAll('.route')[0].dataset.promise === '16'")


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


def test_after_the_tour_the_board_is_not_empty(opened):
    page = opened()
    page.click("#tour-open")
    page.wait_for_selector("#tour[data-step='0']")
    page.click("#tour-leave")
    settled(page, lambda: taken(page), [4000, 4000])
    assert page.inner_text("#speed-said") == "60 steps/s"
    holds(page, "document.querySelectorAll('.route')[0].dataset.route === 'best'")


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


@pytest.mark.parametrize("world", ["windy-four-rooms", "risky-bridge"])
def test_in_the_wind_promise_truth_and_optimum_are_exact(opened, world):
    goal = "9,9" if world == "windy-four-rooms" else "12,0"
    address = f"world={world}&agents=fwrl;fwrl-expected&goal={goal}&training=begin:{goal}:20000"
    page = opened(address=address)
    match = from_address(address).trained()
    optimum = judge(match.task, match.settings)
    for side, promise in enumerate(match.promises()):
        expected = exact_verdict(match.world, optimum, promise)
        parts = ("promise", "truth", "optimal")
        if world == "risky-bridge":  # where steps cost, numbers are rewards in plain steps
            said = route(page, side).inner_text()
            for part in parts:
                assert f"{expected[part]['reward'] / match.step_reward:.1f}".removesuffix(".0") in said
        else:
            wanted = tuple(pytest.approx(expected[part]["steps"], abs=0.06) for part in parts)
            assert verdict(page, side) == wanted
            assert "really takes" in route(page, side).inner_text()


def test_where_steps_cost_the_verdict_compares_reward(opened):
    page = opened(address="world=muddy-rooms&agents=fwrl;fwrl,objective:steps&goal=3,3&training=begin:3,3:40000")
    # Six steps round the mud cost 6; four steps through it cost 16.
    holds(page, "document.querySelectorAll('.route')[0].textContent.includes('promises 6 plain steps, really costs 6')")
    assert "promises 4 steps, really costs 16, optimal 6" in route(page, 1).inner_text()
    assert [route(page, side).get_attribute("data-route") for side in (0, 1)] == ["best", "worse"]


def test_the_table_of_a_cell_has_units_and_an_optimal_column(opened):
    page = opened(address=LEARNED)
    page.mouse.move(*place(page, 8, 9))
    holds(page, "document.getElementById('inspect-title').textContent.startsWith('Cell (8, 9)')")
    table = page.locator("#inspect-table")
    assert table.locator("th[scope=col]").all_inner_texts() == ["action", "FWRL", "QLCAT", "optimal"]
    assert table.locator("tbody tr").nth(3).locator("td").all_inner_texts()[::2] == ["1", "1"]  # right
    assert "steps to the goal" in page.inner_text("#inspect-units")
    page.select_option("#unit", "reward")
    assert table.locator("tbody tr").nth(3).locator("td").all_inner_texts()[::2] == [
        "\N{MINUS SIGN}0.00025",
        "\N{MINUS SIGN}0.00025",
    ]
    assert "Q, with the goal reward" in page.inner_text("#inspect-units")
    assert "really earns \N{MINUS SIGN}0.00400" in route(page, 0).inner_text()


def test_a_single_step_on_a_fresh_board_shows_what_it_changed(opened):
    page = opened()
    page.click("#step")
    page.wait_for_selector("#update:not([hidden])")
    said = page.inner_text("#update-sides")
    assert "FWRL: " in said
    assert "reward \N{MINUS SIGN}0.00025" in said
    holds(page, "document.querySelectorAll('.taken')[0].textContent === '1'")
    assert pixels(page, ["#c44f00"]) > 300  # the frame around the cell, and the step


def test_a_goal_that_nobody_has_visited_says_so(opened):
    page = opened()
    why = page.locator(".why")
    settled(page, lambda: why.first.is_visible(), True)
    assert "FWRL has never been at this goal" in why.first.inner_text()
    assert "QLCAT has never been at this goal" in why.nth(1).inner_text()
    page.click("#reset")
    page.goto(page.url.partition("#")[0] + "#" + LEARNED)
    settled(page, lambda: why.first.is_visible(), False)
    click(page, 7, 2)
    settled(page, lambda: why.nth(1).inner_text().startswith("QLCAT has been at this goal, but"), True)


def test_an_address_is_not_lost_to_an_answer_that_writes_its_own(opened):
    page = opened()
    why = page.locator(".why")
    settled(page, lambda: why.first.is_visible(), True)
    page.evaluate(
        "learned => { const old = location.hash; location.hash = learned; history.replaceState(null, '', old); }",
        LEARNED,
    )
    settled(page, lambda: why.first.is_visible(), False)


def test_a_link_that_was_cut_within_an_escape_still_opens_the_page(opened):
    page = opened(address="world=four-rooms&start=1,1&goal=9,9%E0")
    assert "this link cannot be read" in page.text_content("#notice")


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768)])
def test_boards_verdicts_charts_and_inspector_need_no_scrolling(opened, width, height):
    page = opened(width, height, address=LEARNED)
    for selector in (".inspect", "#rewards", "#inefficiencies"):
        assert on_screen(page, selector), selector
    for side in ("[data-side='0']", "[data-side='1']"):
        assert on_screen(page, f"{side} .stage canvas")
        assert on_screen(page, f"{side} .route")
    assert page.locator(".stage canvas").first.bounding_box()["height"] > 250


def test_on_a_phone_both_boards_share_the_screen(opened):
    page = opened(390, 844, address=LEARNED, has_touch=True, is_mobile=True)
    for side in ("[data-side='0']", "[data-side='1']"):
        assert on_screen(page, f"{side} .stage canvas")
        assert on_screen(page, f"{side} .route")
    assert page.locator(".stage canvas").first.bounding_box()["width"] > 150


def test_charts_have_numbers_of_episodes_and_show_values_on_hover(opened):
    page = opened(address=LEARNED)
    chart = page.locator("#rewards")
    holds(page, "document.getElementById('rewards').getAttribute('aria-label').includes('episodes 1 to 20')")
    box = chart.bounding_box()
    under = chart.evaluate("""(canvas) => {
        const ratio = canvas.width / canvas.clientWidth, at = (canvas.clientHeight - 30) * ratio;
        const { data } = canvas.getContext("2d").getImageData(0, at, canvas.width, 14 * ratio);
        return data.filter((v, k) => k % 4 === 3 && v > 100).length;
    }""")
    assert under > 40  # pixels of digits
    page.mouse.move(box["x"] + 60, box["y"] + 40)
    said = page.locator(".readout").first
    settled(page, said.is_visible, True)
    assert said.inner_text().startswith("episode ")
    settled(page, lambda: "oracle" in said.inner_text(), True)  # its curve comes after those of the agents
    page.mouse.move(5, 5)
    settled(page, said.is_visible, False)
    chart.focus()
    page.keyboard.press("ArrowRight")
    settled(page, lambda: said.inner_text().startswith("episode 1: FWRL"), True)


def test_a_typo_in_the_map_keeps_the_dialog_the_text_and_the_page(opened):
    page = opened()
    page.click("#text")
    page.fill("#map-text", "..\n.x")
    page.click("#map-use")
    settled(page, lambda: "unknown character 'x'" in page.inner_text("#map-problem"), True)
    assert page.input_value("#map-text") == "..\n.x"
    page.fill("#map-text", "\n".join(["." * 400] * 400))
    page.click("#map-use")
    settled(page, lambda: "at most 32,767 cells" in page.inner_text("#map-problem"), True)
    page.fill("#map-text", "v..\n.#9\n...\n")
    page.click("#map-use")
    settled(page, lambda: page.locator("#map-dialog").is_visible(), False)
    assert rows_of(page) == ["v..", ".#9", "..."]


def test_two_walls_drawn_quickly_after_choosing_an_agent_both_stand(opened):
    page = opened()
    spots = [place(page, x, 1) for x in (2, 3)]
    page.click("[data-tool='#']")
    page.locator(".agent").nth(1).select_option("mbrl")
    for spot in spots:
        page.mouse.click(*spot)
    page.mouse.move(*spots[0])
    holds(page, "document.body.classList.contains('busy') === false")
    settled(page, lambda: rows_of(page)[1], "#.##.#....#")
    assert page.locator("#notice").is_hidden()
    assert page.locator(".agent").nth(1).input_value() == "mbrl"
