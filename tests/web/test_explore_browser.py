"""The explore page in Chromium: every feature by clicks, touches and keys, on a town with one of everything."""

import json

import pytest
from explore_visitor import asks, click, colour, drawn, in_sight, place, says
from web_browser import needs_browser, visiting
from web_server import running
from web_town import write_town
from web_visitor import holds, picture, pixels, settled

import fwrl

pytestmark = needs_browser

MAP = "#map"


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    return write_town(tmp_path_factory.mktemp("town"))


@pytest.fixture(scope="module")
def visits(town):
    with visiting(str(town.planner), "--positions", str(town.positions), command="explore") as visits:
        yield visits


def copied(page, what):
    """What a copy button puts into the clipboard."""
    if not page.locator("#copies[open]").count():
        page.click("#copies summary")
    page.click(f"[data-copy={what}]")
    said = "copied the link" if what == "link" else f"copied as {what}"
    settled(page, lambda: page.inner_text("#working").lower(), said)
    return page.evaluate("navigator.clipboard.readText()")


def test_click_from_and_click_to_gives_the_sentence_and_the_steps(opened):
    page = opened(1440, 900)
    says(page, "Click where to start")
    click(page, "home")
    asks(page, "from home")
    says(page, "Click where to go")
    click(page, "shop")
    asks(page, "from home", "to shop")
    says(page, "4 steps, arrives 94 %, stitched from at most 2 trips, weakest step seen once, 1 Jan 2024")
    rows = page.locator("#steps tbody tr").all_inner_texts()
    assert [" ".join(row.split()) for row in rows] == [
        "trip old",
        "1 mill walk 1 100 % once long ago",
        "2 bridge walk 1 100 % once long ago",
        "3 square walk 1 100 % 2",
        "stitched at square: trip shopping-12 and 2 more",
        "4 shop walk 1.47 94 % 15",
    ]
    click(page, "park")  # any further click is another goal
    asks(page, "from home", "to park")
    picture(page, "explore-steps")


def test_stitches_are_ringed_single_steps_dotted_and_old_ones_amber(opened):
    page = opened(1440, 900, address="from=home&to=shop")
    says(page, "4 steps")
    drawn(page)
    assert pixels(page, [colour(page, "amber")], selector=MAP) > 60
    ink = pixels(page, [colour(page, "ink")], selector=MAP)
    page.click("[aria-label='Remove from home']")
    says(page, "Click where to start")
    drawn(page)
    assert pixels(page, [colour(page, "amber")], selector=MAP) == 0
    assert pixels(page, [colour(page, "ink")], selector=MAP) < ink
    # Beside the mill a solid line would have no gaps: half-way along the dotted step some pixels are not amber.
    page.go_back()
    says(page, "4 steps")
    drawn(page)
    (x1, y1), (x2, y2) = place(page, "home"), place(page, "mill")
    box = page.locator(MAP).bounding_box()
    on_line = page.evaluate(
        """([x1, y1, x2, y2, amber]) => {
            const context = document.getElementById("map").getContext("2d");
            const wanted = [1, 3, 5].map((k) => parseInt(amber.slice(k, k + 2), 16));
            const found = [];
            for (let k = 15; k < 45; k++) {
                const [x, y] = [x1 + (x2 - x1) * k / 100, y1 + (y2 - y1) * k / 100].map(Math.round);
                const pixel = context.getImageData(x, y, 1, 1).data;
                found.push(wanted.every((v, i) => Math.abs(v - pixel[i]) < 12));
            }
            return found;
        }""",
        [x1 - box["x"], y1 - box["y"], x2 - box["x"], y2 - box["y"], colour(page, "amber")],
    )
    assert any(on_line)
    assert not all(on_line)


def test_a_right_click_avoids_shift_passes_and_the_ghost_stays_with_the_difference_in_words(opened):
    page = opened(1440, 900, address="from=home&to=shop")
    says(page, "4 steps")
    click(page, "mill", button="right")
    asks(page, "from home", "to shop", "avoid mill")
    holds(page, "document.getElementById('difference').textContent.includes('cost 6 more')")
    assert "without closures" in page.inner_text(".legend")
    drawn(page)
    picture(page, "explore-what-if")
    page.click("#fit")
    click(page, "mill", button="right")  # again: no longer
    asks(page, "from home", "to shop")
    settled(page, page.locator("#difference").is_hidden, True)
    page.keyboard.down("Shift")
    click(page, "lane")
    page.keyboard.up("Shift")
    asks(page, "from home", "to shop", "via lane")
    page.click("[data-tool=avoid]")
    click(page, "lane")  # what is passed is no longer passed once it is avoided
    asks(page, "from home", "to shop", "avoid lane")
    holds(page, "document.getElementById('difference').textContent.includes('the same route')")


def test_with_no_way_both_sides_are_shaded_and_the_nearest_gap_is_named(opened):
    page = opened(1440, 900, address="from=home&to=port")
    says(page, "No route is known.")
    assert "The nearest gap is from hole to isle, 1.41 apart." in page.inner_text("#gap")
    drawn(page)
    for name in ("ahead", "behind", "problem"):
        assert pixels(page, [colour(page, name)], selector=MAP) > 20, name
    assert page.locator("[data-copy=json]").is_disabled()
    picture(page, "explore-no-way")


def test_both_backups_stand_side_by_side_and_either_is_drawn(opened):
    page = opened(1440, 900, address="from=home&to=shop")
    says(page, "4 steps")
    expected, best = page.locator("#backups [role=radio]").all_inner_texts()
    assert "cost 4.47" in expected
    assert "arrives 94 %" in expected
    assert "cost 4" in best
    page.click("#backups [data-tool=best]")
    says(page, "4 steps, arrives 100 %")
    assert "backup=best" in page.url


def test_coverage_shows_bridges_dead_ends_and_one_way_streets(opened):
    page = opened(1440, 900)
    page.click("#views [data-tool=coverage]")
    says(page, "10 bridges hang on one trip, 2 dead ends, 8 one-way roads")
    assert "view=coverage" in page.url
    assert "trip picnic" in page.inner_text("[data-kind=bridges]")
    drawn(page)
    for name in ("problem", "behind", "accent"):
        assert pixels(page, [colour(page, name)], selector=MAP) > 20, name
    picture(page, "explore-coverage")
    page.click("[data-kind='dead ends'] summary")
    before = in_sight(page)
    page.click("[data-kind='dead ends'] button >> text=park")
    settled(page, lambda: in_sight(page) != before, True)
    page.click("#views [data-tool=route]")
    says(page, "Click where to start")


def test_the_address_carries_the_question_and_what_is_in_sight(opened, visits):
    page = opened(1440, 900, address="from=home&to=shop&avoid=mill")
    says(page, "4 steps")
    page.click("#zoom-in")
    page.click("#zoom-in")
    sight = in_sight(page)
    page.reload()
    says(page, "4 steps")
    asks(page, "from home", "to shop", "avoid mill")
    assert in_sight(page) == sight
    page.click("[aria-label='Remove avoid mill']")
    asks(page, "from home", "to shop")
    page.go_back()
    asks(page, "from home", "to shop", "avoid mill")
    other = opened(1440, 900, address=page.url.split("#")[1])
    asks(other, "from home", "to shop", "avoid mill")
    assert in_sight(other) == sight


def test_an_address_is_not_lost_to_one_that_the_page_writes_meanwhile(opened):
    page = opened(1440, 900, address="from=home&to=shop")
    says(page, "4 steps")
    page.evaluate("const old = location.hash; location.hash = 'to=shop'; history.replaceState(null, '', old)")
    asks(page, "to shop")
    says(page, "Click where to start")


def test_a_link_with_an_unknown_state_says_so_and_shows_the_map(opened):
    page = opened(address="from=hoem&to=shop")
    settled(page, lambda: "did you mean 'home'" in page.inner_text("#notice"), True)
    says(page, "Click where to start")


def test_a_link_that_was_cut_within_an_escape_still_shows_its_route(opened):
    page = opened(address="from=home&to=shop&at=0.5,0.1%E0")
    says(page, "4 steps")
    page.evaluate("location.hash = 'from=home&to=park&at=0.5%E0'")
    asks(page, "from home", "to park")
    page.evaluate("location.hash = 'from=home&to=sho%E0'")
    settled(page, lambda: "sho" in page.inner_text("#notice"), True)


def test_copies_as_command_json_svg_geojson_and_link(opened):
    page = opened(1440, 900, address="from=home&to=shop&avoid=mill", permissions=["clipboard-read", "clipboard-write"])
    says(page, "4 steps")
    assert copied(page, "command").endswith("home shop")
    assert json.loads(copied(page, "json"))["arrival"] == 0.9375
    assert json.loads(copied(page, "geojson"))["type"] == "FeatureCollection"
    assert "<svg" in copied(page, "svg")
    assert copied(page, "link").startswith(page.url.split("#")[0] + "#from=home&to=shop&avoid=mill")


def test_a_search_finds_a_state_shows_it_and_puts_it_to_use(opened):
    page = opened(1440, 900)
    page.fill("#search", "P")
    settled(page, lambda: page.locator("#found li").all_inner_texts(), ["pit", "park", "port", "shop"])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.get_attribute("#search", "aria-activedescendant") == "found-1"
    page.keyboard.press("Enter")
    settled(page, page.locator("#card").is_visible, True)
    assert page.inner_text("#card-name") == "park"
    assert "left 0 times" in page.inner_text("#card-text")
    page.click("[data-use=to]")
    asks(page, "to park")
    page.fill("#search", "nowhere")
    settled(page, lambda: page.get_attribute("#found", "data-more"), "no place has this in its name")


def test_the_map_moves_and_zooms_by_drag_wheel_and_buttons(opened):
    page = opened(1440, 900)
    x, y, zoom = in_sight(page)
    middle = place(page, "bridge")
    page.mouse.move(*middle)
    page.mouse.wheel(0, -400)
    settled(page, lambda: in_sight(page)[2] > 1.5 * zoom, True)  # a wheel is not waited for
    moved_x = in_sight(page)[0]
    assert place(page, "bridge") == pytest.approx(middle, abs=2)  # what is under the pointer stays there
    page.mouse.move(600, 500)
    page.mouse.down()
    page.mouse.move(700, 540, steps=4)
    page.mouse.up()
    settled(page, lambda: in_sight(page)[0] < moved_x, True)
    asks(page)  # a drag is no click
    page.click("#fit")
    settled(page, lambda: in_sight(page), (x, y, zoom))


def test_pointing_at_a_state_names_it_and_at_a_step_lights_it(opened):
    page = opened(1440, 900, address="from=home&to=shop")
    says(page, "4 steps")
    page.click("#fit")
    page.mouse.move(*place(page, "lane"))
    settled(page, lambda: page.locator("#tip").is_visible() and page.inner_text("#tip"), "lane")
    page.mouse.move(5, 5)
    settled(page, page.locator("#tip").is_hidden, True)
    drawn(page)
    blue = pixels(page, [colour(page, "trip-0")], selector=MAP)
    page.hover("#steps tbody tr:nth-child(4)")
    drawn(page)
    assert pixels(page, [colour(page, "trip-0")], selector=MAP) > blue


def test_without_positions_the_drawing_has_layers_and_no_geojson(town, visits):
    with running(str(town.planner), "--port", "0", command="explore") as server:
        layered = visits.beside(server)
        page = layered.open(1440, 900, address="from=home&to=shop")
        says(page, "4 steps")
        assert page.locator("[data-copy=geojson]").is_disabled()
        assert page.locator("[data-copy=svg]").is_enabled()
        drawn(page)
        assert pixels(page, [colour(page, "trip-0")], selector=MAP) > 60
        picture(page, "explore-layers")
        layered.close()


def test_a_rare_outcome_is_never_said_to_be_impossible_nor_a_frequent_one_certain(tmp_path, visits):
    rows = [("a", "go", -1.0, "goal")] + [("a", "go", -1.0, "b")] * 299 + [("b", "go", -1.0, "a")]
    fwrl.fit([*rows, *[("b", "go", -1.0, "goal")] * 299]).save(tmp_path / "rare.fwrl")
    with running(str(tmp_path / "rare.fwrl"), "--port", "0", command="explore") as server:
        rare = visits.beside(server)
        for start, chance in (("a", "<1 %"), ("b", ">99 %")):
            page = rare.open(1440, 900, address=f"from={start}&to=goal")
            says(page, "1 step")
            assert f"\t{chance}\t" in page.inner_text("#steps tbody")
        rare.close()


def test_turn_round_and_clear(opened):
    page = opened(1440, 900, address="from=isle&to=port")
    says(page, "1 step")
    page.get_by_role("button", name="Turn round").click()
    asks(page, "from port", "to isle")
    page.get_by_role("button", name="Clear").click()
    asks(page)


@pytest.mark.parametrize("width", [390, 1024])
def test_no_button_and_no_column_is_cut_off(opened, width):
    page = opened(width, 768, address="from=home&to=shop")
    says(page, "4 steps, arrives 94 %")
    for part in ("#views", "#steps .scroll", "#tools", ".panel"):
        assert page.eval_on_selector(part, "box => box.scrollWidth <= box.clientWidth"), part
    heights = page.eval_on_selector_all("#backups .whole", "parts => parts.map(part => part.getClientRects().length)")
    assert set(heights) == {1}  # a date, or "arrives 94 %", stands on one line


def test_a_phone_asks_by_taps(opened):
    page = opened(390, 844, has_touch=True, is_mobile=True)
    page.touchscreen.tap(*place(page, "home"))
    asks(page, "from home")
    page.touchscreen.tap(*place(page, "shop"))
    says(page, "4 steps, arrives 94 %")
    page.click("[data-tool=avoid]")
    page.touchscreen.tap(*place(page, "mill"))
    asks(page, "from home", "to shop", "avoid mill")
    picture(page, "explore-phone")
