"""The explore page for everybody: axe-core finds nothing, states are spoken, the keyboard does all, nothing is lost."""

import pytest
from explore_visitor import asks, drawn, says
from web_axe import each_state, problems
from web_browser import needs_browser, visiting
from web_town import write_town
from web_visitor import holds, picture, settled

pytestmark = needs_browser

ASKED = "from=home&to=shop&avoid=mill"


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    town = write_town(tmp_path_factory.mktemp("town"))
    with visiting(str(town.planner), "--positions", str(town.positions), command="explore") as visits:
        yield visits


def as_it_opens(page):
    says(page, "4 steps")
    settled(page, page.locator("#working").is_hidden, True)


def with_a_search(page):
    page.fill("#search", "p")
    settled(page, lambda: page.locator("#found li").count(), 4)
    page.keyboard.press("ArrowDown")


def with_a_card(page):
    page.keyboard.press("Enter")
    settled(page, page.locator("#card").is_visible, True)


def without_a_way(page):
    page.click("#card-close")
    page.evaluate("location.hash = 'from=home&to=port'")
    says(page, "No route is known.")


def in_coverage(page):
    page.click("#views [data-tool=coverage]")
    page.wait_for_selector("#coverage-lists details")


def before_a_question(page):
    page.evaluate("location.hash = ''")
    says(page, "Click where to start")


# One after the other: each leaves the one before it.
STATES = [as_it_opens, with_a_search, with_a_card, without_a_way, in_coverage, before_a_question]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(opened, scheme):
    page = opened(address=ASKED, color_scheme=scheme)
    for state in each_state(page, STATES):
        assert problems(page) == [], state
        picture(page, f"explore-{state}-{scheme}")


def test_axe_finds_nothing_on_a_phone(opened):
    page = opened(390, 844, address=ASKED, has_touch=True, is_mobile=True, device_scale_factor=2)
    for state in each_state(page, STATES):
        assert problems(page) == [], state


def test_nothing_scrolls_sideways_at_320_pixels(opened):
    page = opened(320, 640, address=ASKED)
    for state in each_state(page, STATES):
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, state
    picture(page, "explore-320")


def test_the_keyboard_goes_from_state_to_state_and_asks_and_the_page_speaks(opened):
    page = opened()
    page.locator("#map").focus()
    page.keyboard.press("ArrowRight")  # the cursor begins in the middle
    holds(page, "document.getElementById('live').textContent.includes('entered')")
    spoken = [page.inner_text("#live")]
    for key, state in (("ArrowLeft", "bridge"), ("ArrowLeft", "home")):
        for _ in range(6):
            if page.inner_text("#live").startswith(f"{state}:"):
                break
            page.keyboard.press(key)
            settled(page, lambda: page.inner_text("#live") != spoken[-1], True)
            spoken.append(page.inner_text("#live"))
        assert page.inner_text("#live").startswith(f"{state}: entered")
    page.keyboard.press("f")
    asks(page, "from home")
    page.locator("#map").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")  # the tool is now To
    settled(page, lambda: page.locator("#chips .chip").count(), 2)
    assert page.locator("[aria-live=polite] #sentence").count() == 1


def test_forced_colours_keep_the_chosen_tool_and_the_legend(opened):
    page = opened(address=ASKED, forced_colors="active")
    says(page, "4 steps")
    colour = "(e) => getComputedStyle(e).backgroundColor"
    chosen, other = (page.locator(f"#tools [data-tool={name}]").evaluate(colour) for name in ("to", "from"))
    assert chosen != other
    marks = [page.locator(f".legend i.{name}").evaluate(colour) for name in ("route", "ghost")]
    assert marks[0] != marks[1]
    picture(page, "explore-forced-colours")


def test_reduced_motion_turns_no_spinner_and_still_answers(opened):
    page = opened(address=ASKED, reduced_motion="reduce")
    says(page, "4 steps")
    assert page.evaluate("getComputedStyle(document.getElementById('working'), '::before').animationName") == "none"


def test_what_colours_mean_is_also_written(opened):
    page = opened(address="from=home&to=shop")
    says(page, "4 steps")
    drawn(page)
    steps = page.inner_text("#steps")
    for word in ("once", "long ago", "stitched at square"):
        assert word in steps
    legend = page.inner_text(".legend")
    for words in ("route, a colour for each trip", "seen only once", "not seen for 85 days"):
        assert words in legend


def test_axe_would_find_a_picture_without_words(opened):
    page = opened(address=ASKED)
    page.evaluate("document.querySelector('main').append(document.createElement('img'))")
    assert [rule for rule, _ in problems(page)] == ["image-alt"]
