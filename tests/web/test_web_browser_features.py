"""What the page offers: updates, knowledge, lessons, links, options, and the data behind the picture."""

import csv
import io
import re
import tomllib
from pathlib import Path

import pytest
from web_browser import needs_browser
from web_visitor import click, holds, more, on_screen, picture, pixels, rows_of, settled, tool

from fwrl.web.play.scenario import from_address, own_lessons

pytestmark = needs_browser

LEARNED = "world=four-rooms&start=1,1&goal=9,9"


def test_one_update_is_watched_triangle_by_triangle(opened):
    page = opened(1440, 1000, address="world=four-rooms&steps=0")
    for step in range(1, 7):  # the sixth goes on from the fifth
        page.click("#step")
        holds(page, f"document.querySelectorAll('.taken')[0].textContent === '{step}'")
        settled(page, lambda: " 1 pairs" in page.inner_text("#update-sides"), False)
    holds(page, "!document.getElementById('triangle-improvement').disabled")
    said = page.inner_text("#update-sides")
    tried, improved = map(int, re.findall(r"(\d+) pairs? tried, (\d+) improved", said)[0])
    assert tried >= improved > 0
    assert "One number changed: Q(s, a) from" in said
    page.click("#triangle-improvement")
    holds(page, "document.getElementById('update-equation').textContent.includes('better')")
    assert re.search(r"F\(\(\d, \d\), \(\d, \d\)\) ← max\{ .+, .+ \+ .+ \} = .+", page.inner_text("#update-equation"))
    assert "1 improvement so far" in page.inner_text("#update-count")
    assert pixels(page, ["#cc79a7"]) > 20  # the improved leg, dashed
    on_screen(page, "#matrix")
    assert "of 4556 pairs known" in page.get_attribute("#matrix", "aria-label")
    picture(page, "update")
    page.click("#triangle-finish")
    holds(page, f"document.getElementById('update-count').textContent.startsWith('Triangle {tried} of {tried}')")
    assert page.locator("#triangle-next").is_disabled()
    page.click("#update-close")
    settled(page, page.locator("#update").is_hidden, True)


def test_what_does_it_know_counts_pairs(opened):
    page = opened(address=LEARNED)
    more(page)
    page.check("#knowledge")
    settled(page, lambda: page.locator(".knows").first.is_visible(), True)
    known = [int(n.replace(",", "")) for n in re.findall(r"knows ([\d,]+) of 4,556 pairs", page.inner_text(".boards"))]
    assert known[0] > 60 * known[1] > 0
    page.uncheck("#knowledge")
    settled(page, lambda: page.locator(".knows").first.is_visible(), False)


def test_every_lesson_asks_with_hidden_answers_then_shows_them_sets_a_task_and_goes_on(opened):
    page = opened(1440, 900)
    lessons = own_lessons()
    page.select_option("#lessons", label=lessons[0].title)
    for number, lesson in enumerate(lessons, start=1):
        progress = f"{lesson.title} · lesson {number} of 6, {number - 1} answered"
        settled(page, lambda: page.inner_text("#lesson-title"), progress)
        card = lesson.scenario.card
        assert card is not None
        holds(page, "document.querySelectorAll('.route')[0].dataset.optimal !== ''")
        for hidden in (".route b", ".counted", "#play"):
            assert page.locator(hidden).first.is_hidden(), hidden
        assert page.locator("#lesson-task").is_hidden()
        assert page.locator("#lesson-next").is_hidden()
        page.get_by_role("button", name=card.answers[card.answer], exact=True).click()
        assert page.inner_text("#lesson-result").startswith("That is right.")
        assert page.inner_text("#lesson-task") == f"Now you: {card.task}"
        settled(page, page.locator(".route b").first.is_visible, True)
        on_screen(page, "[data-side='0'] .route b")
        picture(page, f"lesson-{number}")
        if number < 6:
            page.click("#lesson-next")
    assert page.locator("#lesson-next").is_hidden()
    page.click("#lesson-leave")
    settled(page, page.locator("#lesson").is_hidden, True)
    assert all(title.startswith("✓ ") for title in page.locator("#lessons option").all_inner_texts()[1:])


def test_a_sheet_of_all_lessons_is_printed_without_answers(opened):
    page = opened()
    page.evaluate("window.print = () => { window.printed = true }")
    page.select_option("#lessons", index=1)
    page.wait_for_selector("#lesson:not([hidden])")
    page.click("#lesson-print")
    assert page.evaluate("window.printed")
    page.emulate_media(media="print")
    sheet = page.inner_text("#sheet")
    for lesson in own_lessons():
        card = lesson.scenario.card
        assert card is not None
        assert all(part in sheet for part in (card.title, card.question, card.task, *card.answers))
        assert card.explanation.strip() not in sheet
    assert page.locator("header").is_hidden()


def test_the_address_carries_world_agents_options_and_seed_to_another_tab(opened):
    page = opened(address=LEARNED + "&agents=fwrl;ql,learning_rate:0.5&seed=7&speed=250")
    tool(page, "#")
    click(page, 3, 4)
    settled(page, lambda: rows_of(page)[4], "#..#.#....#")
    page.click("#draw-open")
    click(page, 7, 2)
    holds(page, "document.querySelectorAll('.route')[0].dataset.promise === '7'")
    page.click("#share-open")
    page.wait_for_selector("#share-dialog[open]")
    link = page.input_value("#share-link")
    assert "This address means this computer" in page.inner_text("#share-note")
    page.click("#share-copy")
    settled(page, lambda: page.inner_text("#share-said") != "", True)
    other = opened(address=link.partition("#")[2])
    holds(other, "document.querySelectorAll('.route')[0].dataset.promise === '7'")
    assert rows_of(other)[4] == "#..#.#....#"
    more(other)
    assert other.input_value("#seed") == "7"
    assert other.inner_text("#speed-said") == "250 steps/s"
    assert "learning rate" in other.locator(".agent").nth(1).inner_text()


def test_a_link_for_the_static_page_is_there_where_that_page_can_show_the_board(opened):
    page = opened(address="world=four-rooms&goal=7,2")
    page.click("#share-open")
    assert page.input_value("#share-page") == "front-door.html#world=four-rooms&goal=7,2"
    front_door = Path(__file__).resolve().parents[2] / "docs" / "front-door.html"
    static = page.context.new_page()
    static.goto(front_door.as_uri() + "#" + page.input_value("#share-page").partition("#")[2])
    assert "goal=7,2" in static.url
    assert "68 of 68" in static.inner_text("body")
    static.close()
    other = opened(address="world=h-maze")
    other.click("#share-open")
    assert other.locator("#share-static").is_hidden()


def test_a_scenario_is_saved_and_opened(opened, tmp_path):
    page = opened(address=LEARNED)
    page.click("#share-open")
    page.wait_for_selector("#share-dialog[open]")
    with page.expect_download() as saved:
        page.click("#share-save")
    path = tmp_path / "scenario.toml"
    saved.value.save_as(path)
    assert tomllib.loads(path.read_text())["goal"] == [9, 9]
    other = opened(address="world=h-maze")
    other.click("#share-open")
    other.set_input_files("#share-file", path)
    settled(other, lambda: len(rows_of(other)), 11)
    path.write_text("world = 3")
    other.click("#share-open")
    other.set_input_files("#share-file", path)
    settled(other, lambda: "expected world as a text" in other.inner_text("#notice").lower(), True)


def test_a_link_that_cannot_be_read_says_so_and_shows_the_first_world(opened):
    page = opened(address="world=nowhere")
    settled(page, lambda: "unknown world" in page.inner_text("#notice").lower(), True)
    assert len(rows_of(page)) == 11


def test_the_panel_has_every_option_and_the_data(opened):
    page = opened(address="world=h-maze&steps=4000")
    more(page)
    page.click("#options summary")
    page.locator("form.options").first.locator("select[name=backup]").select_option("expected")
    settled(page, lambda: page.locator(".agent").first.locator("option:checked").inner_text(), "FWRL (backup expected)")
    page.click("#undo")
    settled(page, lambda: page.locator("form.options").first.locator("select[name=backup]").input_value(), "best")
    rows: list[dict[str, str]] = []

    def agents_in_the_data() -> set[str]:  # the curve that undo brought back may still be on its way
        with page.expect_download() as saved:
            page.click("#save-csv")
        rows[:] = csv.DictReader(io.StringIO(saved.value.path().read_text()))
        return {row["agent"] for row in rows}

    settled(page, agents_in_the_data, {"FWRL", "Q-learning with goals"})
    match = from_address("world=h-maze&steps=4000").trained()
    rewards = [point.mean_reward for point in match.runners[0].curve.segments[0].points]
    played = [float(row["reward"]) for row in rows if row["side"] == "0"]  # the page goes on while an agent is made
    assert played[: len(rewards)] == pytest.approx(rewards, abs=1e-4)
    with page.expect_download() as drawn:
        page.click("#save-png")
    assert drawn.value.path().read_bytes().startswith(b"\x89PNG")
