"""The explore page under load: fifty pages for a minute, and a map of 100,000 states in Chromium."""

import csv
import threading
import time
from typing import Any

import numpy as np
import pytest
from web_browser import needs_browser, visiting
from web_server import TIMEOUT, running
from web_town import write_town

import fwrl

PAGES = 50
ALLOWED = 24 * 2**20  # bytes that allocators may keep
SIDE = 320  # crossings of a city in each direction


def use(server, seconds, number, failures):
    """One page: asks for routes, what-ifs, names, searches and weak spots, each of them once at least."""
    try:
        with server.page(address="from=home&to=shop") as page:
            assert page.receive("answer")["sentence"].startswith("4 steps")
            until = time.monotonic() + seconds
            k = number
            while time.monotonic() < until or k < number + 3:
                k += 1
                question: dict[str, Any] = {
                    "via": [],
                    "roads": [],
                    "backup": ("expected", "best")[k % 2],
                    "view": "route",
                }
                page.send("ask", start=k % 11, goal=(k * 7) % 11, avoid=[(k * 3 + 1) % 11], **question)
                assert page.receive("answer")["type"] == "answer"
                page.send("search", text="o")
                assert page.receive("found")["total"] == 4
                page.send("names", states=list(range(11)))
                assert len(page.receive("names")["names"]) == 11
                page.send("coverage")
                assert page.receive("coverage")["counts"]["dead ends"] == 2
    except Exception as error:
        failures.append(error)


def crowd(server, seconds):
    failures: list[Exception] = []
    threads = [threading.Thread(target=use, args=(server, seconds, k, failures)) for k in range(PAGES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.stress
def test_fifty_pages_for_a_minute_without_error_and_without_growth(tmp_path):
    town = write_town(tmp_path)
    with running(str(town.planner), "--positions", str(town.positions), "--port", "0", command="explore") as server:
        crowd(server, 10)
        time.sleep(2)
        before = server.memory
        crowd(server, 60)
        until = time.monotonic() + TIMEOUT
        while server.memory > before + ALLOWED and time.monotonic() < until:
            time.sleep(0.1)
        assert server.memory <= before + ALLOWED
        with server.page() as page:
            page.receive("answer")


def write_city(folder):
    """A city of 102,400 crossings: 40,000 trips of 60 visits that mostly go straight on."""
    rng = np.random.default_rng(0)
    trips, length = 40_000, 60
    place, heading = rng.integers(0, SIDE, (trips, 2)), rng.integers(0, 4, trips)
    moves = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
    visits = np.empty((length, trips, 2), np.int64)
    for t in range(length):
        visits[t] = place
        heading = np.where(rng.random(trips) < 0.25, rng.integers(0, 4, trips), heading)
        place = np.clip(place + moves[heading], 0, SIDE - 1)
    flat = visits.transpose(1, 0, 2).reshape(-1, 2)
    states = [f"c{x}-{y}" for x, y in flat.tolist()]
    trip = np.repeat(np.arange(trips), length)
    when = np.arange(trips * length)
    planner = fwrl.fit({"trip": trip, "time": when, "state": states, "reward": -1.0 - when % 5}, connections=False)
    planner.save(folder / "city.fwrl")
    with (folder / "places.csv").open("w", newline="") as file:
        names = [(f"c{x}-{y}", x, y) for x in range(SIDE) for y in range(SIDE)]
        csv.writer(file).writerows([("state", "x", "y"), *names])


@needs_browser
@pytest.mark.stress
def test_a_map_of_100_000_states_is_drawn_searched_and_asked(tmp_path, capsys):
    write_city(tmp_path)
    arguments = (str(tmp_path / "city.fwrl"), "--positions", str(tmp_path / "places.csv"))
    with visiting(*arguments, command="explore") as visits:
        page = visits.open(1440, 900)
        first = page.get_attribute("#map", "data-drawn")
        assert "102,400 places" in page.inner_text("#about")
        assert "zoom in for all" in page.inner_text("#detail")
        box = page.locator("#map").bounding_box()

        def click(x, y):
            page.evaluate("delete document.getElementById('map').dataset.answered")
            page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])
            page.wait_for_selector("#map[data-answered]")
            return page.get_attribute("#map", "data-answered")

        click(0.5, 0.3)
        new_goal = click(0.7, 0.7)
        assert page.locator("#sentence[data-found=route]").count() == 1
        known = []
        for k in range(7):
            page.click("[data-tool=from]")
            known.append(click(0.45 + 0.03 * k, 0.35))
        page.fill("#search", "c100-20")
        page.wait_for_selector("#found li")
        visits.close()
    with capsys.disabled():
        print(f"\nfirst picture {first} ms, new goal {new_goal} ms, known goal {', '.join(known)} ms")
