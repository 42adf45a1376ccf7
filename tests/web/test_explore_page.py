"""The explore page map first: what never moves, closed roads, other routes, what is near, hours, logs, and words."""

import csv
import io
import itertools
import re
from typing import Any

import networkx as nx
import pytest
from explore_visitor import asks, colour, drawn, place, says
from web_browser import needs_browser, visiting
from web_server import running
from web_town import write_town
from web_visitor import pixels, settled

import fwrl
from fwrl.planner import Planner
from fwrl.web.explore.copies import copied
from fwrl.web.explore.explorer import Explorer, Explorers, Shown
from fwrl.web.explore.question import Period, from_address
from fwrl.web.explore.state_map import state_map
from fwrl.web.explore.words import Unit

MAP = "#map"
VALUE = re.compile(r"value|reward|promise|-\d")


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    return write_town(tmp_path_factory.mktemp("town"))


@pytest.fixture(scope="module")
def visits(town):
    with visiting(str(town.log), "--positions", str(town.positions), "--unit", "min", command="explore") as visits:
        yield visits


@pytest.fixture(scope="module")
def explorer(town):
    planner = Planner.load(town.planner)
    return Explorer(Shown(planner, state_map(planner.experience), None, "town.fwrl", None, Unit("min")))


def asked(explorer, address):
    return explorer.answer(from_address(address, explorer.shown.planner))


def test_the_headline_says_the_cost_what_closures_add_and_how_sure_the_path_is(explorer):
    assert asked(explorer, "from=home&to=shop")["headline"] == (
        "home → shop, about 4.47 min; this exact path 94 % of the time"
    )
    closed = asked(explorer, "from=home&to=shop&road=mill&road=home")
    assert closed["headline"] == (
        "home → shop, about 10.5 min (4.47 min without closures); this exact path 94 % of the time"
    )
    assert asked(explorer, "from=home&to=shop&backup=best")["headline"] == "home → shop, at best 4 min"


def test_nothing_that_people_read_says_value_or_reward_or_a_negative_number(explorer):
    answer = asked(explorer, "from=home&to=shop&avoid=mill")
    read = [answer["headline"], answer["sentence"], answer["difference"]]
    read += [step["cost"] for step in answer["route"]["steps"]] + [each["cost"] for each in answer["backups"].values()]
    assert [text for text in read if VALUE.search(text)] == []


@pytest.mark.parametrize("positions", [True, False])
def test_two_parts_that_never_meet_are_said_so_with_and_without_coordinates(town, positions):
    planner = Planner.load(town.planner)
    where = fwrl.planner.read_positions(town.positions, planner.states) if positions else None
    explorer = Explorer(Shown(planner, state_map(planner.experience, where), None, "town.fwrl", None))
    words = asked(explorer, "from=home&to=port")["gap"]["words"]
    assert words[0] == "home and port are in two parts of the log that never meet: 9 places and 2."
    one_way = asked(explorer, "from=shop&to=home")["gap"]["words"]
    assert not any("never meet" in text for text in one_way)  # one part, but no road back
    assert [row["name"].split(",")[0] for row in explorer.coverage()["lists"]["parts"]] == ["9 places", "2 places"]


def test_the_least_seen_roads_come_first(explorer):
    rows = explorer.coverage()["lists"]["least seen"]
    assert [row["seen"] for row in rows] == sorted(row["seen"] for row in rows)
    assert rows[-1]["name"] == "shop ↔ square"
    assert rows[-1]["seen"] == 15


def test_other_routes_are_other_routes_with_their_cost():
    roads = [("a", "b", 1), ("b", "z", 1), ("a", "c", 1), ("c", "z", 2), ("a", "d", 2), ("d", "z", 2), ("a", "z", 9)]
    planner = fwrl.fit([(a, b, -float(cost), b) for a, b, cost in roads])
    explorer = Explorer(Shown(planner, state_map(planner.experience), None, "log", None, Unit("min")))
    found = explorer.alternatives(from_address("from=a&to=z", planner))["routes"]
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(roads)
    paths = list(nx.shortest_simple_paths(graph, "a", "z", "weight"))[1:]
    assert [[planner.states[s] for s in each["states"]] for each in found] == paths
    assert [(each["cost"], each["more"]) for each in found] == [
        ("3 min", "+1 min"),
        ("4 min", "+2 min"),
        ("9 min", "+7 min"),
    ]
    assert explorer.alternatives(from_address("from=a&to=z&via=b", planner))["routes"] == []


def test_another_route_that_costs_a_hair_more_is_said_to_cost_the_same():
    planner = fwrl.fit(
        [("a", "b", -60.0, "b"), ("b", "z", -60.0, "z"), ("a", "c", -60.0, "c"), ("c", "z", -60.03, "z")]
    )
    explorer = Explorer(Shown(planner, state_map(planner.experience), None, "log", None, Unit("s")))
    (found,) = explorer.alternatives(from_address("from=a&to=z", planner))["routes"]
    assert (found["cost"], found["more"]) == ("120 s", "about the same")


@pytest.mark.parametrize("toward", [True, False])
def test_what_every_place_costs_is_what_networkx_finds(toward):
    roads = [("a", "b", 1), ("b", "c", 5), ("a", "c", 7), ("c", "d", 1), ("x", "a", 2)]
    planner = fwrl.fit([(a, b, -float(cost), b) for a, b, cost in roads])
    explorer = Explorer(Shown(planner, state_map(planner.experience), None, "log", None))
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(roads)
    wanted = nx.single_source_dijkstra_path_length(graph.reverse() if toward else graph, "c")
    found = explorer.reach(planner.states.find("c"), toward, "expected")
    assert {str(planner.states[s]): cost for s, cost in enumerate(found["costs"]) if cost is not None} == wanted
    assert found["said"][100] == f"cost {max(wanted.values()):g}"


def test_half_of_the_trips_and_nine_in_ten_cost_what_the_planner_says(town):
    luck = [("a", "go", -1.0, "b"), ("a", "go", -1.0, "a"), ("b", "on", -1.0, "c"), ("c", "on", -1.0, "b")]
    planner = fwrl.fit(luck)
    explorer = Explorer(Shown(planner, state_map(planner.experience), None, "log", None, Unit("min")))
    half, most = (each.cost for each in planner.cost_quantiles("a", "c", (0.5, 0.9)).quantiles)
    assert (half, most) == (2, 5)
    ask = lambda address: explorer.quantiles(from_address(address, planner))["text"]  # noqa: E731
    assert ask("from=a&to=c") == "Half of the trips cost at most 2 min, nine in ten at most 5 min."
    for more in ("&backup=best", "&via=b", "&road=b&road=c"):
        assert ask(f"from=a&to=c{more}") == "", more  # the planner can't give quantiles for it
    for address in ("from=b&to=c", "from=a"):
        assert ask(address) == "", address  # nothing varies


def test_a_part_of_the_log_by_hours_and_trips_is_what_fit_says(town):
    whole = fwrl.fit(str(town.log))
    refit: Any = lambda options: fwrl.fit(str(town.log), **options)  # noqa: E731
    explorers = Explorers(Shown(whole, state_map(whole.experience), None, "town.csv", None), refit, None)
    morning = explorers.of(Period(hours="8:30-9:30")).shown.planner
    around = fwrl.fit(str(town.log), at="9:00", around="30min")
    assert morning.plan("square", "shop").value == around.plan("square", "shop").value
    for other in (explorers, Explorers(explorers.whole.shown, None, None)):
        often = other.of(Period(min_trips="2")).shown.planner
        assert sorted(often.states) == sorted(fwrl.fit(str(town.log), min_trips=2).states)
        with pytest.raises(fwrl.FwrlError, match="whole number of trips"):
            other.of(Period(min_trips="two"))


def test_the_steps_as_csv_have_a_row_each(explorer):
    question = from_address("from=home&to=shop", explorer.shown.planner)
    rows = list(csv.DictReader(io.StringIO(copied(explorer, question, "csv"))))
    assert [row["to"] for row in rows] == ["mill", "bridge", "square", "shop"]
    assert [float(row["cost"]) for row in rows] == pytest.approx([1, 1, 1, 22 / 15])
    assert rows[2]["trips"] == "slow old"


def test_a_part_of_the_log_has_its_own_routes_on_the_same_map(town):
    whole = fwrl.fit(str(town.log))
    shown = Shown(whole, state_map(whole.experience), None, "town.csv", None)
    refit: Any = lambda options: fwrl.fit(str(town.log), **options)  # noqa: E731
    explorers = Explorers(shown, refit, None)
    assert explorers.of(Period()) is explorers.whole
    part = explorers.of(Period(since="2024-05-01"))
    assert part is explorers.of(Period(since="2024-05-01"))
    assert "mill" not in list(part.shown.planner.states)
    for name in part.shown.planner.states:
        there, here = (each.shown.planner.states.find(name) for each in (part, explorers.whole))
        assert part.shown.map.drawn[there].tolist() == explorers.whole.shown.map.drawn[here].tolist()
    assert asked(part, "from=home&to=shop")["address"] == "from=home&to=shop&since=2024-05-01"
    with pytest.raises(fwrl.FwrlError, match="open the log itself"):
        Explorers(shown, None, None).of(Period(hours="7-9"))


def test_a_small_log_is_answered_without_compiling(town, tmp_path):
    cache = {"XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path)}
    for file in (town.log, town.planner):
        arguments = (str(file), "--port", "0")
        with (
            running(*arguments, command="explore", environment=cache) as server,
            server.page(address="from=home&to=shop") as page,
        ):
            assert page.receive("answer")["headline"].startswith("home → shop")
            for kind, fields in (("coverage", {}), ("alternatives", {}), ("reach", {"state": 0, "toward": False})):
                page.send(kind, **fields)
                page.receive(kind)
    assert not list(tmp_path.rglob("*.nbi"))


@needs_browser
def test_the_map_never_moves_when_the_text_changes(opened):
    page = opened(1440, 900)
    boxes = []
    for address, sentence, chips in (
        ("", "Click where to start", 0),
        ("from=home&to=shop", "4 steps", 2),
        ("from=home&to=shop&avoid=mill&via=lane", "4 steps", 4),
        ("from=home&to=port", "No route is known", 2),
        ("view=coverage", "10 bridges", 0),
    ):
        page.evaluate(f"location.hash = '{address}&at=0.5,0.14,1'")
        settled(page, page.locator("#chips .chip").count, chips)
        says(page, sentence)
        drawn(page)
        boxes.append((page.locator(MAP).bounding_box(), page.get_attribute(MAP, "data-sight")))
        assert page.locator(".answer").bounding_box()["height"] == 128
    assert all(box == boxes[0] for box in boxes)
    assert boxes[0][0] == {"x": 0, "y": 0, "width": 1440, "height": 900}  # it fills the window


@needs_browser
def test_a_right_click_between_two_places_closes_the_road_and_another_one_opens_it(opened):
    page = opened(1440, 900, address="from=home&to=shop")
    says(page, "4 steps")
    (x1, y1), (x2, y2) = place(page, "home"), place(page, "mill")
    page.mouse.click((x1 + x2) / 2, (y1 + y2) / 2, button="right")
    settled(page, lambda: page.locator("#chips .chip b").all_inner_texts(), ["home", "shop", "home ↔ mill"])
    assert "10.5 min (4.47 min without closures)" in page.inner_text("#headline")
    assert "road=home&road=mill" in page.url
    page.mouse.click((x1 + x2) / 2, (y1 + y2) / 2, button="right")
    asks(page, "from home", "to shop")


@needs_browser
def test_other_routes_and_reach_are_drawn_and_hours_limit_the_log(opened):
    page = opened(1440, 900, address="from=home&to=shop")
    says(page, "4 steps")
    page.click("#others-ask")
    settled(page, lambda: page.locator("#others-list li").all_inner_texts(), ["10.5 min (+6 min), 4 steps"])
    drawn(page)
    assert pixels(page, [colour(page, "other")], selector=MAP) > 60
    page.click("#views [data-tool=reach]")
    settled(page, lambda: "places are reachable from home" in page.inner_text("#reach-text"), True)
    drawn(page)
    assert pixels(page, [colour(page, f"near-{band}") for band in range(1, 6)], selector=MAP) > 60
    page.click("#views [data-tool=route]")
    page.click("#period summary")
    page.fill("[name=since]", "2024-05-01")
    page.click("#period form button:not([type])")
    settled(page, lambda: "10 places" in page.inner_text("#about"), True)
    settled(page, lambda: page.inner_text("#headline").startswith("home → shop, about 10.5 min"), True)
    assert "since=2024-05-01" in page.url
    page.click("#period-all")
    settled(page, lambda: "11 places" in page.inner_text("#about"), True)


@needs_browser
def test_a_click_while_another_part_of_the_log_is_read_asks_for_the_same_places_there(opened):
    page = opened(1440, 900, address="from=home&to=shop")
    says(page, "4 steps")
    page.evaluate("""() => {
        document.querySelector("[name=since]").value = "2024-05-01";
        document.querySelector("#period form").requestSubmit();
        document.querySelector("#views [data-tool=reach]").click();
    }""")
    settled(page, lambda: "of 10 places are reachable from home" in page.inner_text("#reach-text"), True)
    asks(page, "from home", "to shop")
    assert page.locator("#notice").is_hidden()


@needs_browser
def test_on_a_phone_the_map_comes_first_and_stays_where_it_is(opened):
    page = opened(390, 844, address="from=home&to=shop", has_touch=True, is_mobile=True)
    says(page, "4 steps")
    box = page.locator(MAP).bounding_box()
    assert (box["y"], box["width"]) == (0, 390)
    assert page.locator("#headline").bounding_box()["y"] >= box["height"]
    page.tap("[data-tool=avoid]")
    page.touchscreen.tap(*place(page, "mill"))
    asks(page, "from home", "to shop", "avoid mill")
    assert page.locator(MAP).bounding_box() == box


@needs_browser
def test_on_a_phone_the_headline_takes_two_lines_and_the_legend_is_whole(opened):
    page = opened(390, 844, address="from=home&to=shop&road=home&road=mill", has_touch=True, is_mobile=True)
    says(page, "4 steps")
    assert page.inner_text("#headline").endswith("(4.47 min without closures); this exact path 94 % of the time")
    lines = page.evaluate("""() => {
        const headline = document.getElementById("headline");
        return headline.offsetHeight / parseFloat(getComputedStyle(headline).lineHeight);
    }""")
    assert lines <= 2.1
    page.click("#views [data-tool=coverage]")
    says(page, "10 bridges")
    for key in page.locator(".legend .key").all():
        box, foot = key.bounding_box(), page.locator(".foot").bounding_box()
        assert box["x"] + box["width"] <= foot["x"] + foot["width"]


@needs_browser
def test_what_half_of_the_trips_cost_is_below_the_headline(tmp_path, visits):
    fwrl.fit([("a", "go", -1.0, "b"), ("a", "go", -1.0, "a"), ("b", "on", -1.0, "c")]).save(tmp_path / "luck.fwrl")
    with running(str(tmp_path / "luck.fwrl"), "--unit", "min", "--port", "0", command="explore") as server:
        visit = visits.beside(server)
        page = visit.open(1280, 800, address="from=a&to=c")
        said = "Half of the trips cost at most 2 min, nine in ten at most 5 min."
        settled(page, lambda: page.inner_text("#quantiles"), said)
        page.click("#views [data-tool=reach]")
        settled(page, page.locator("#quantiles").is_hidden, True)
        visit.close()


@needs_browser
def test_long_names_are_cut_in_the_middle_and_steps_keep_one_line(tmp_path, visits):
    names = [f"hall-of-the-very-long-names-number-{k:03d}-at-the-end" for k in range(4)]
    fwrl.fit(list(itertools.pairwise(names))).save(tmp_path / "long.fwrl")
    with running(str(tmp_path / "long.fwrl"), "--port", "0", command="explore") as server:
        visit = visits.beside(server)
        page = visit.open(1280, 800, address=f"from={names[0]}&to={names[3]}")
        says(page, "3 steps")
        button = page.locator("#steps tbody button").first
        text = button.inner_text()
        assert text.startswith("hall-of")
        assert text.endswith("the-end")
        assert "…" in text
        assert names[1] in (button.get_attribute("title") or "")
        headline = page.inner_text("#headline")
        assert headline.endswith("3 steps")
        assert len(headline) < 65  # names are cut here, too
        boxes = [row.bounding_box() for row in page.locator("#steps tbody tr").all()]
        assert max(box["height"] for box in boxes) < 34
        visit.close()


@needs_browser
def test_one_way_arrows_are_drawn_at_every_zoom_and_stitches_are_ringed_only_when_near(opened):
    page = opened(1440, 900)
    says(page, "Click where to start")
    for _ in range(4):
        settled(page, lambda: pixels(page, [colour(page, "state")], selector=MAP) > 60, True)
        page.click("#zoom-out")
    for sight, ringed in (("0.5,0.14,1", False), ("0.43,0.14,2.4", True)):
        page.evaluate(f"location.hash = 'from=home&to=shop&at={sight}'")
        says(page, "4 steps")
        settled(page, lambda: page.get_attribute(MAP, "data-at"), sight)
        x, y = place(page, "square")  # where trips are stitched
        assert (ink_near(page, x, y) > 10) == ringed


def ink_near(page, x, y):
    """Pixels of the colour of rings within ten pixels of a point, except above it, where its name is."""
    return page.evaluate(
        """([x, y]) => {
            const { data } = document.getElementById("map").getContext("2d").getImageData(x - 10, y, 20, 10);
            let found = 0;
            for (let k = 0; k < data.length; k += 4) found += data[k] < 60 && data[k + 1] < 60 && data[k + 2] < 60;
            return found;
        }""",
        [x, y],
    )
