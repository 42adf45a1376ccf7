"""What the page offers: updates, knowledge, lessons, links, presentation, and a drawer for researchers."""

import csv
import io
import re
import tomllib

import pytest
from web_browser import needs_browser
from web_visitor import click, holds, on_screen, picture, pixels, route, rows_of, settled, taken, verdict

from fwrl.web.play.lessons import own_lessons
from fwrl.web.play.scenario_text import from_address

pytestmark = needs_browser

LEARNED = "world=four-rooms&start=1,1&goal=9,9&training=begin:9,9:8000"


def test_one_update_is_watched_triangle_by_triangle(opened):
    page = opened(1440, 900)
    for step in range(1, 7):  # the sixth goes on from the fifth
        page.click("#step")
        holds(page, f"document.querySelectorAll('.taken')[0].textContent === '{step}'")
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
    assert on_screen(page, "#matrix")
    assert "of 4556 pairs known" in page.get_attribute("#matrix", "aria-label")
    picture(page, "update")
    page.click("#triangle-finish")
    holds(page, f"document.getElementById('update-count').textContent.startsWith('Triangle {tried} of {tried}')")
    assert page.locator("#triangle-next").is_disabled()
    page.click("#update-close")
    settled(page, page.locator("#rewards").is_visible, True)


def test_what_does_it_know_counts_pairs(opened):
    page = opened(address=LEARNED)
    page.check("#knowledge")
    settled(page, lambda: page.locator(".knows").first.is_visible(), True)
    known = [int(n.replace(",", "")) for n in re.findall(r"knows ([\d,]+) of 4,556 pairs", page.inner_text(".boards"))]
    assert known[0] > 60 * known[1] > 0
    page.uncheck("#knowledge")
    settled(page, lambda: page.locator(".knows").first.is_visible(), False)


def test_every_lesson_opens_asks_and_explains(opened):
    page = opened(1440, 900)
    for number, lesson in enumerate(own_lessons(), start=1):
        page.select_option("#lessons", label=lesson.title)
        settled(page, lambda: page.inner_text("#lesson-title") or "", lesson.title)
        card = lesson.scenario.card
        assert card is not None
        page.get_by_role("button", name=card.answers[card.answer], exact=True).click()
        assert page.inner_text("#lesson-result").startswith("That is right.")
        holds(page, "document.querySelectorAll('.route')[0].dataset.optimal !== ''")
        assert on_screen(page, "[data-side='0'] .route")
        picture(page, f"lesson-{number}")
    page.click("#lesson-leave")
    settled(page, page.locator("#lesson").is_hidden, True)


def test_the_address_carries_everything_to_another_tab(opened):
    page = opened(address=LEARNED + "&agents=fwrl;ql,learning_rate:0.5&seed=7&speed=250")
    page.click("[data-tool='#']")
    click(page, 3, 4)
    settled(page, lambda: rows_of(page)[4], "#..#.#....#")
    page.click("[data-tool='goal']")
    click(page, 7, 2)
    holds(page, "document.querySelectorAll('.route')[0].dataset.promise === '7'")
    page.click("#share-open")
    page.wait_for_selector("#share-dialog[open]")
    link = page.input_value("#share-link")
    page.click("#share-copy")
    assert "same agents" in page.inner_text("#share-note") or "Copied" in page.inner_text("#share-note")
    other = opened(address=link.partition("#")[2])
    assert taken(other) == taken(page)
    assert verdict(other, 0) == verdict(page, 0)
    assert rows_of(other)[4] == "#..#.#....#"
    assert other.input_value("#seed") == "7"
    assert other.inner_text("#speed-said") == "250 steps/s"
    assert "LEARNING RATE" in other.locator(".agent").nth(1).inner_text().upper()


def test_a_scenario_is_saved_and_opened(opened, tmp_path):
    page = opened(address=LEARNED)
    page.click("#share-open")
    page.wait_for_selector("#share-dialog[open]")
    with page.expect_download() as saved:
        page.click("#share-save")
    path = tmp_path / "scenario.toml"
    saved.value.save_as(path)
    assert tomllib.loads(path.read_text())["training"][0]["steps"] == 8000
    other = opened()
    other.click("#share-open")
    other.set_input_files("#share-file", path)
    settled(other, lambda: taken(other), [8000, 8000])
    path.write_text("world = 3")
    other.click("#share-open")
    other.set_input_files("#share-file", path)
    settled(other, lambda: "expected world as a text" in other.inner_text("#notice").lower(), True)


def test_a_link_that_cannot_be_read_says_so_and_shows_the_first_world(opened):
    page = opened(address="world=nowhere")
    settled(page, lambda: "unknown world" in page.inner_text("#notice").lower(), True)
    assert len(rows_of(page)) == 11


def test_presentation_mode_is_large_and_its_verdicts_are_too(opened):
    page = opened(1920, 1080, address=LEARNED)
    before = page.locator(".stage canvas").first.bounding_box()["width"]
    page.keyboard.press("p")
    holds(page, "document.body.classList.contains('presenting')")
    assert page.locator(".stage canvas").first.bounding_box()["width"] > 1.05 * before
    assert float(route(page, 0).evaluate("(p) => parseFloat(getComputedStyle(p).fontSize)")) >= 28
    for side in ("[data-side='0']", "[data-side='1']"):
        assert on_screen(page, f"{side} .stage canvas")
        assert on_screen(page, f"{side} .route")
    picture(page, "projector")
    page.keyboard.press("Escape")
    holds(page, "!document.body.classList.contains('presenting')")


def test_the_drawer_has_every_option_other_seeds_and_the_data(opened):
    page = opened(address="world=h-maze&training=begin:2,2:4000")
    page.click("#drawer summary")
    page.locator("form.options").first.locator("select[name=backup]").select_option("expected")
    settled(page, lambda: page.locator(".agent").first.locator("option:checked").inner_text(), "FWRL (backup expected)")
    page.click("#undo")
    settled(page, lambda: page.locator("form.options").first.locator("select[name=backup]").input_value(), "best")
    page.fill("#seeds", "3")
    page.click("#seeds-run")
    holds(page, "document.getElementById('working').textContent === 'Ready'")
    rows: list[dict[str, str]] = []

    def agents_in_the_data() -> set[str]:  # the curve that undo brought back may still be on its way
        with page.expect_download() as saved:
            page.click("#save-csv")
        rows[:] = csv.DictReader(io.StringIO(saved.value.path().read_text()))
        return {row["agent"] for row in rows}

    settled(page, agents_in_the_data, {"FWRL", "QLCAT"})
    match = from_address("world=h-maze&training=begin:2,2:4000").trained()
    rewards = [point.mean_reward for point in match.runners[0].curve.segments[0].points]
    assert [float(row["reward"]) for row in rows if row["side"] == "0"] == pytest.approx(rewards, abs=1e-4)
    with page.expect_download() as drawn:
        page.click("#save-png")
    assert drawn.value.path().read_bytes().startswith(b"\x89PNG")
