"""The page that compares methods shows what its program measures."""

from __future__ import annotations

from pathlib import Path

import draw_lucky_portal as lucky

PAGE = Path(lucky.__file__).with_name("where-this-stands.md")


def test_the_page_has_the_table_and_the_counts_of_its_program():
    trips = lucky.recorded_trips(lucky.lucky_world())
    tries = [after for trip in trips for s, _, _, after in trip if s == lucky.PORTAL]
    page = PAGE.read_text(encoding="utf-8")
    assert lucky.table(lucky.methods(trips)) in page, "run docs/draw_lucky_portal.py"
    counted = f"{len(trips)} random walks of up to {lucky.LONGEST} steps, {sum(map(len, trips)):,} in total"
    assert f"{counted}; {len(tries)} went" in page
    assert f"{tries.count(lucky.GOAL)} of these were lucky" in " ".join(page.split())


def test_no_trip_goes_through_the_door():
    for trip in lucky.recorded_trips(lucky.lucky_world()):
        entered = [s for s, _, _, after in trip if after == lucky.DOOR]
        left = [after for s, _, _, after in trip if s == lucky.DOOR]
        assert not (set(entered) & set(lucky.LEFT) and set(left) & set(lucky.RIGHT))
        assert not (set(entered) & set(lucky.RIGHT) and set(left) & set(lucky.LEFT))
