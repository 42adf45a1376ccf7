"""`fwrl worlds` and `fwrl agents`: what there is, for people and for programs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from fwrl.agents import agent_names
from fwrl.cli.worlds import _drawn
from fwrl.worlds import from_outcomes, load_world, world_names

FOUR_ROOMS = """\
███████████
█····█····█
█·········█
█····█····█
█····█····█
██·█████·██
█····█····█
█····█····█
█·········█
█····█····█
███████████
"""


def test_worlds_are_listed_with_what_they_are(call):
    code, out, err = call("worlds")
    assert (code, err) == (0, "")
    assert all(name in out for name in world_names())
    assert "maze-WxH-SEED" in out
    assert "None" not in out
    assert max(map(len, out.splitlines())) <= 80


def test_worlds_as_json(call):
    listed = json.loads(call("worlds", "--json").out)
    by_name = {row["name"]: row for row in listed}
    assert set(world_names()) < set(by_name)
    assert (by_name["four-rooms"]["states"], by_name["h-maze"]["states"]) == (68, 7)
    assert all(row["description"] for row in listed)


@pytest.mark.parametrize("name", world_names())
def test_a_world_is_drawn_and_described(call, name):
    world = load_world(name)
    code, out, err = call("worlds", name)
    assert (code, err) == (0, "")
    assert f"{name}: {world.n_states} states, 4 actions (up, down, left, right)" in out
    assert world.description in " ".join(out.split())
    assert "reach each other" in out


def test_four_rooms_look_like_four_rooms(call):
    assert FOUR_ROOMS in call("worlds", "four-rooms").out


def test_a_terminal_that_knows_only_ascii_gets_the_maps_own_characters(script):
    code, out, err = script("worlds", "h-maze", PYTHONIOENCODING="ascii")
    assert (code, err) == (0, "")
    assert "\n.#.\n...\n.#.\n" in out


def test_a_label_that_the_output_cannot_encode_is_escaped(script, tmp_path):
    (tmp_path / "log.csv").write_text("state,next_state\ndock,東\n", encoding="utf-8")
    assert script("fit", "log.csv", "-o", "log.fwrl", PYTHONIOENCODING="cp1252").code == 0
    code, out, err = script("states", "log.fwrl", PYTHONIOENCODING="cp1252")
    assert (code, err) == (0, "")
    assert "\\u6771" in out
    code, out, err = script("plan", "log.fwrl", "dock", "京", PYTHONIOENCODING="cp1252")
    assert (code, out) == (2, "")
    assert "\\u4eac" in err


@pytest.mark.parametrize("name", ["windy-four-rooms", "maze-11x9-3", "four-rooms-16"])
def test_a_world_as_json(call, name):
    world = load_world(name)
    facts = json.loads(call("worlds", name, "--json").out)
    assert (facts["name"], facts["states"], facts["regions"]) == (name, world.n_states, 1)
    assert facts["actions"] == ["up", "down", "left", "right"]
    assert facts["deterministic"] is (name != "windy-four-rooms")
    assert facts["step_reward"] == -2.5e-4


def test_map_files_are_worlds(call, tmp_path):
    (tmp_path / "two.txt").write_text("..#.\n")
    out = call("worlds", "two.txt").out
    assert "··█·" in out
    assert "2 regions that don't all reach each other" in out
    (tmp_path / "two.map").write_text("type octile\nheight 2\nwidth 3\nmap\n..@\n...\n")
    facts = json.loads(call("worlds", "two.map", "--json").out)
    assert facts["states"] == 5


def test_agents_are_listed_with_their_options(call):
    code, out, err = call("agents")
    assert (code, err) == (0, "")
    assert all(name in out for name in agent_names())
    assert "relaxation=exact" in out
    assert max(map(len, out.splitlines())) <= 80
    listed = {row["name"]: row for row in json.loads(call("agents", "--json").out)}
    assert set(listed) == set(agent_names())
    assert listed["ql"]["options"] == {"learning_rate": 1.0, "initial_value": 1.0}
    assert all(row["description"] for row in listed.values())


@pytest.mark.parametrize("arguments", ["worlds", "worlds --json", "agents", "worlds four-rooms-200"])
def test_a_reader_who_has_seen_enough_is_no_error(tmp_path, arguments):
    done = subprocess.run(
        f"{sys.executable} -m fwrl {arguments} | head -1",
        shell=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    assert (len(done.stdout.splitlines()), done.stderr) == (1, "")


def test_a_world_without_a_map_is_drawn_in_any_encoding():
    world = from_outcomes("cafés", [[[(1.0, 1, -1.0)]], [[(1.0, 0, -1.0)]]], labels=("café", "東"))
    drawn = _drawn(world, "latin-1")
    assert "from café:" in drawn
    assert "to \\u6771 for -1" in drawn
