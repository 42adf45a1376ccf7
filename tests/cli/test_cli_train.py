"""`fwrl train` and `fwrl check`: what is learned is told and kept, and what was kept is looked over."""

from __future__ import annotations

import hashlib
import json
import shutil
import struct

import numpy as np
import pytest

import fwrl
from fwrl.agents import Agent, agent_names
from fwrl.files import write_archive

SHORT = ("--episodes", 3, "--steps", 100)


@pytest.mark.parametrize("name", agent_names())
def test_every_agent_trains_and_is_saved(call, tmp_path, name):
    code, out, _ = call("train", "h-maze", "--agent", name, *SHORT, "--out", "a.fwrl")
    assert code == 0
    for part in (f"{name} in h-maze", "steps taken", "goal visits", "distance-inefficiency", "saved to a.fwrl"):
        assert part in out
    loaded = fwrl.load(tmp_path / "a.fwrl")
    assert isinstance(loaded, Agent)
    assert (loaded.name, loaded.n_states, loaded.n_actions) == (name, 7, 4)
    code, out, err = call("check", "a.fwrl")
    assert (code, err) == (0, "")
    assert "a.fwrl is intact:" in out


def test_training_is_the_papers_run(call, tmp_path):
    told = json.loads(call("train", "four-rooms", *SHORT, "--seed", 7, "--json", "--out", "a.fwrl").out)
    world = fwrl.load_world("four-rooms")
    agent = fwrl.make_agent("fwrl", 68, 4, seed=7)
    result = fwrl.run(world, agent, episodes=3, steps=100, seed=7)
    assert told["reward"] == result.reward.tolist()
    assert (told["world"], told["agent"], told["episodes"], told["steps"]) == ("four-rooms", "fwrl", 3, 300)
    assert told["visits"] == result.visits.sum()
    assert told["distance_inefficiency"] == pytest.approx(result.distance.sum() / result.shortest.sum())
    agent.save(tmp_path / "b.fwrl")
    assert (tmp_path / "a.fwrl").read_bytes() == (tmp_path / "b.fwrl").read_bytes()


def test_same_seed_same_bytes_and_another_seed_others(call, tmp_path):
    for out, seed in (("a", 1), ("b", 1), ("c", 2)):
        call("train", "windy-four-rooms", *SHORT, "--seed", seed, "--out", f"{out}.fwrl")
    a, b, c = ((tmp_path / f"{name}.fwrl").read_bytes() for name in "abc")
    assert a == b != c


def test_options_reach_the_agent(call):
    told = json.loads(call("train", "h-maze", *SHORT, "--option", "relaxation=paper", "--json").out)
    assert told["options"]["relaxation"] == "paper"
    told = json.loads(call("train", "h-maze", "--agent", "ql", *SHORT, "--option", "learning_rate=0.5", "--json").out)
    assert told["options"] == {"learning_rate": 0.5, "initial_value": 1.0}


def test_first_and_last_episodes_are_told_apart_where_there_are_enough(call):
    assert "mean reward per episode" in call("train", "h-maze", "--episodes", 5, "--steps", 20).out
    out = call("train", "h-maze", "--episodes", 6, "--steps", 20).out
    assert "mean reward, first 5 episodes" in out
    assert "mean reward, last 5 episodes" in out


def test_a_run_without_a_visit_says_so(call):
    out = call("train", "four-rooms-32", "--agent", "random", "--episodes", 1, "--steps", 2).out
    assert "never arrived" in out
    told = json.loads(call("train", "four-rooms-32", "--agent", "random", "--episodes", 1, "--steps", 2, "--json").out)
    assert told["distance_inefficiency"] is None


def test_without_out_nothing_is_written(call, tmp_path):
    assert call("train", "h-maze", *SHORT).code == 0
    assert list(tmp_path.iterdir()) == []


def test_a_map_file_is_trained_on(call, tmp_path):
    (tmp_path / "my.txt").write_text("; Mine\n...\n.#.\n")
    told = json.loads(call("train", "my.txt", *SHORT, "--json").out)
    assert (told["world"], told["visits"] > 0) == ("my", True)


def test_the_script_trains_and_checks(script, tmp_path):
    assert script("train", "h-maze", "--agent", "ql", *SHORT, "--out", "a.fwrl").code == 0
    code, out, err = script("check", "a.fwrl", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told["kind"] == "agent"
    assert "ql agent, 7 states" in told["holds"]
    assert {section["name"]: section["shape"] for section in told["sections"]}["Q"] == [7, 4]


@pytest.fixture
def saved(call, tmp_path):
    call("train", "h-maze", *SHORT, "--out", "a.fwrl")
    return tmp_path / "a.fwrl"


def flipped(whole, position):
    damaged = bytearray(whole)
    damaged[position] ^= 1
    return bytes(damaged)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda whole: flipped(whole, -1), "damaged"),
        (lambda whole: flipped(whole, 60), "damaged"),
        (lambda whole: whole[:-100], "truncated"),
        (lambda whole: whole[:50], "truncated"),
        (lambda whole: b"", "not a file saved by fwrl"),
        (lambda whole: b"PK\x03\x04 something else", "not a file saved by fwrl"),
        (lambda whole: whole[:8] + struct.pack("<I", 7) + whole[12:], "version 7, but this fwrl reads version 1"),
    ],
    ids=["last bit", "header", "cut", "cut header", "empty", "foreign", "another version"],
)
def test_a_file_that_is_not_sound_is_refused(call, saved, change, said):
    saved.write_bytes(change(saved.read_bytes()))
    code, out, err = call("check", "a.fwrl")
    assert (code, out) == (2, "")
    assert err.startswith("fwrl: 'a.fwrl'")
    assert said in err
    assert err.count("\n") == 1


def test_damage_that_loading_would_miss_is_found(call, tmp_path):
    write_archive(tmp_path / "x.fwrl", "agent", {"name": "nobody's"}, {"Q": np.zeros(3)})
    code, _, err = call("check", "x.fwrl")
    assert code == 2
    assert "holds an agent that isn't installed" in err
    write_archive(tmp_path / "x.fwrl", "song", {}, {})
    assert "'x.fwrl' holds a 'song', not an agent" in call("check", "x.fwrl").err


@pytest.mark.parametrize("shape", [[0, 2**47, 2**47], [2**47, 2**47, 0], [0, 2**47, 2**13]])
def test_a_forged_empty_section_of_impossible_size_is_refused(call, tmp_path, shape):
    empty = {"name": "Q", "dtype": "<f8", "shape": shape, "offset": 0, "sha256": hashlib.sha256(b"").hexdigest()}
    text = json.dumps({"version": 1, "kind": "agent", "details": {"name": "ql"}, "sections": [empty]}).encode()
    prefix = b"\x89fwrl\r\n\x1a" + struct.pack("<II", 1, len(text)) + hashlib.sha256(text).digest()
    (tmp_path / "x.fwrl").write_bytes((prefix + text).ljust(1024, b"\0"))
    assert call("check", "x.fwrl") == (2, "", "fwrl: 'x.fwrl' is damaged: its header is not valid\n")


def test_a_failed_save_leaves_the_old_file(call, saved, monkeypatch):
    before = saved.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    code, _, err = call("train", "h-maze", *SHORT, "--seed", 5, "--out", "a.fwrl")
    assert code == 2
    assert "No space left on device" in err
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == ["a.fwrl"]


def test_a_copy_is_as_sound_as_the_original(call, saved, tmp_path):
    shutil.copy(saved, tmp_path / "b c.fwrl")
    assert "b c.fwrl is intact:" in call("check", "b c.fwrl").out


def test_names_in_brackets_are_printed_as_they_are(call, tmp_path):
    (tmp_path / "rooms[old].txt").write_text("...\n")
    assert "fwrl in rooms[old]\n" in call("train", "rooms[old].txt", *SHORT).out
    comparison = ("--agents", "fwrl random", "--seeds", 1, "--episodes", 5, "--steps", 20, "--workers", 1)
    code, out, err = call("compare", "rooms[old].txt", *comparison)
    assert code == 0, err
    assert "rooms[old]" in out
