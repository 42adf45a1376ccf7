"""MovingAI maps and scenarios: the published lengths, and errors that name the place."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from fwrl.errors import MapError
from fwrl.worlds import load_world, read_scenarios

MAP = "type octile\nheight 2\nwidth 3\nmap\n.G@\nTS.\n"


@pytest.mark.parametrize(("name", "count"), [("arena", 160), ("den312d", 320)])
def test_every_published_scenario_has_its_length(movingai_maps: Path, name: str, count: int) -> None:
    world = load_world(movingai_maps / f"{name}.map", step_reward=-1.0)
    scenarios = read_scenarios(movingai_maps / f"{name}.map.scen")
    assert len(scenarios) == count
    for s in scenarios:
        start = world.state_at(s.start_x, s.start_y)
        distances = world.distances_to(world.state_at(s.goal_x, s.goal_y))
        assert distances[start] == pytest.approx(s.length, abs=1e-3), s


def test_floor_and_blocked_characters(tmp_path: Path) -> None:
    path = tmp_path / "tiny.map"
    path.write_text(MAP)
    world = load_world(path)
    assert world.name == "tiny"
    assert [world.position(s) for s in range(world.n_states)] == [(0, 0), (1, 0), (1, 1), (2, 1)]


def test_octile_steps_pay_their_length_and_four_moves_know_no_diagonal(tmp_path: Path) -> None:
    path = tmp_path / "open.map"
    path.write_text("type octile\nheight 2\nwidth 2\nmap\n..\n..\n")
    octile = load_world(path, step_reward=-1.0)
    assert octile.n_actions == 8
    [(_, there, reward)] = octile.outcomes(0, octile.action_names.index("down-right"))
    assert (there, reward) == (3, -math.sqrt(2))
    assert octile.distance(0, 3) == math.sqrt(2)
    four = load_world(path, moves="four")
    assert four.n_actions == 4
    assert four.distance(0, 3) == 2.0


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("type octile", "type hex", "line 1, column 1: expected 'type octile', got 'type hex'"),
        ("height 2", "height two", "line 2, column 1: expected 'height' and a positive number"),
        ("height 2", "height 0", "line 2, column 1: expected 'height' and a positive number"),
        ("width 3", "height 2", "line 3, column 1: expected 'width' and a positive number"),
        ("map\n", "", "line 4, column 1: expected 'map', got '.G@'"),
        ("height 2", "height 3", "line 7, column 1: the map ends after 2 rows; .* height 3"),
        ("height 2", "height 1", "line 6, column 1: more rows than the header's height 1"),
        ("width 3", "width 4", "line 5, column 4: the line is 3 wide; the header says width 4"),
        ("TS.", "TS", "line 6, column 3: the line is 2 wide"),
        ("TS.", "TX.", "line 6, column 2: unknown character 'X'"),
        (".G@\nTS.", "@@@\n@@@", "line 5, column 1: the map is all blocked"),
        (MAP, "", "line 1, column 1: expected 'type octile', got ''"),
        (MAP, "type octile\nheight 2\n", "line 4, column 1: expected 'map'"),
    ],
)
def test_a_damaged_map_is_refused_at_its_place(tmp_path: Path, old: str, new: str, place: str) -> None:
    path = tmp_path / "bad.map"
    path.write_text(MAP.replace(old, new))
    with pytest.raises(MapError, match=f"bad.map, {place}"):
        load_world(path)


def test_a_scenario_is_read_field_by_field(tmp_path: Path) -> None:
    path = tmp_path / "tiny.scen"
    path.write_text("version 1\r\n3\tmy map.map\t3\t2\t0\t0\t2\t1\t3.41421356\r\n")
    assert read_scenarios(path) == [(3, "my map.map", 3, 2, 0, 0, 2, 1, 3.41421356)]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "line 1, column 1: expected 'version 1'"),
        ("0\ta.map\t3\t2\t0\t0\t2\t1\t3", "line 1, column 1: expected 'version 1'"),
        ("version 1\n0\ta.map\t3\t2\t0\t0\t2\t1", "line 2, column 1: expected 9 columns"),
        ("version 1\n0\ta.map\t3\t2\t0\tx\t2\t1\t3", "line 2, column 15: .* start_y, got 'x'"),
        ("version 1\n\n0\ta.map\t3\t2\t0\t0\t2\t1\tfar", "line 3, column 21: .* length, got 'far'"),
    ],
)
def test_a_damaged_scenario_file_is_refused_at_its_place(tmp_path: Path, text: str, place: str) -> None:
    path = tmp_path / "bad.scen"
    path.write_text(text)
    with pytest.raises(MapError, match=f"bad.scen, {place}"):
        read_scenarios(path)


def test_a_size_of_thousands_of_digits_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.map"
    path.write_text(MAP.replace("height 2", f"height {'9' * 5000}"))
    with pytest.raises(MapError, match="expected 'height' and a positive number"):
        load_world(path)
