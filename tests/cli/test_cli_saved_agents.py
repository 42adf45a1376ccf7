"""A saved agent at the shell: resumed, evaluated exactly, shown."""

from __future__ import annotations

import json

import numpy as np
import pytest

import fwrl
from fwrl.agents import load
from fwrl.oracle import evaluate, optimum
from fwrl.task import Task, run_episodes

MAZE = "h-maze"


@pytest.fixture
def trained(call):
    answer = call("train", MAZE, "--episodes", 6, "--steps", 200, "--out", "maze.fwrl")
    assert answer.code == 0, answer.err
    return "maze.fwrl"


def test_resuming_goes_on_where_the_agent_stopped(call, trained, tmp_path):
    answer = call("train", MAZE, "--resume", trained, "--seed", 1, "--episodes", 3, "--steps", 50, "--out", "more.fwrl")
    assert answer.code == 0, answer.err
    agent = fwrl.make_agent("fwrl", 7, 4, seed=0)
    task = Task(fwrl.load_world(MAZE))
    list(run_episodes(task, agent, episodes=6, steps=200, seed=0))
    list(run_episodes(task, agent, episodes=3, steps=50, seed=1))
    agent.save(tmp_path / "expected.fwrl")
    assert (tmp_path / "more.fwrl").read_bytes() == (tmp_path / "expected.fwrl").read_bytes()


def test_a_file_may_be_resumed_into_itself(call, trained, tmp_path):
    before = (tmp_path / trained).read_bytes()
    assert call("train", MAZE, "--resume", trained, "--seed", 1, "--episodes", 1, "--out", trained).code == 0
    assert (tmp_path / trained).read_bytes() != before


def test_evaluation_is_that_of_the_oracle(call, trained, tmp_path):
    found = json.loads(call("evaluate", trained, MAZE, "--json").out)
    agent, world = load(tmp_path / trained), fwrl.load_world(MAZE)
    assert [row["goal"] for row in found["goals"]] == list(range(7))
    for row in found["goals"]:
        starts = [s for s in range(7) if s != row["goal"]]
        best = agent.best_actions(row["goal"]) / agent.best_actions(row["goal"]).sum(axis=1, keepdims=True)
        truth = evaluate(world, best, row["goal"])
        assert row["arrival"] == pytest.approx(truth.arrival[starts].mean())
        assert row["steps"] == pytest.approx(truth.steps[starts].mean())
        assert row["best_path_reward"] == pytest.approx(optimum(world, row["goal"]).value[starts].mean())
        assert row["reward"] <= row["best_reward"] + 1e-9
        # An episode of 400 steps is a rate: one visit every (mean steps + 1) steps, up to its last trip.
        visits = 400 / (row["steps"] + 1)
        assert row["reward"] == pytest.approx(10 * visits, rel=0.05)


def test_the_table_says_what_is_best(call, trained):
    code, out, _ = call("evaluate", trained, MAZE, "--goal", "2,2", "--start", "0,0")
    assert code == 0
    assert "fwrl in h-maze, greedy, exact, mean of one goal" in out
    lines = {line.split("  ")[0]: line.split()[-2:] for line in out.splitlines()}
    assert lines["steps to the goal, given arrival"] == ["4", "4"]
    assert lines["probability of arriving"] == ["1", "1"]


def test_a_policy_that_never_arrives_is_said_to(call):
    agent = fwrl.make_agent("fwrl", 7, 4)
    agent.observe(0, 0, -1.0, 1)  # it believes that up leads from corner to corner, so it stays there
    agent.save("wrong.fwrl")
    code, out, _ = call("evaluate", "wrong.fwrl", MAZE, "--goal", "2,0", "--start", "0,0")
    assert code == 0
    assert "never arrives" in out


def test_showing_draws_arrows_and_the_way(call, trained):
    code, out, _ = call("show", trained, MAZE, "--goal", "2,2", "--start", "0,0")
    assert code == 0
    assert "from (0, 0) to (2, 2): 4 steps for -0.001" in out
    assert "down right right down" in out
    lines = out.splitlines()
    assert lines[0] == "fwrl in h-maze, goal (2, 2)"
    assert lines[1].startswith("S•█")
    assert lines[2] == "→•→•↓•"
    assert lines[3].endswith("G•")
    assert "7 of 7 states have a value, path reward" in out


def test_showing_as_json_and_as_a_picture(call, trained, tmp_path):
    found = json.loads(call("show", trained, MAZE, "--goal", 6, "--start", 0, "--picture", "way.png", "--json").out)
    assert found["route"]["states"] == [0, 2, 3, 4, 6]
    assert found["route"]["arrives"] is True
    agent = load(tmp_path / trained)
    np.testing.assert_allclose(found["values"], agent.values(6))
    assert found["greedy"][0] == ["down"]
    assert (tmp_path / "way.png").read_bytes()[:4] == b"\x89PNG"


def test_what_is_unknown_is_shown_as_such(call):
    fwrl.make_agent("fwrl", 7, 4).save("new.fwrl")
    code, out, _ = call("show", "new.fwrl", MAZE, "--goal", 6, "--start", 0)
    assert code == 0
    assert "stuck after" in out
    assert "1 of 7 states have a value" in out


def test_worlds_without_a_map_are_listed(call):
    name = "gymnasium:CliffWalking-v1"
    world = fwrl.load_world(name)
    agent = fwrl.make_agent("fwrl", world.n_states, world.n_actions)
    s = np.repeat(np.arange(world.n_states), 4)
    a = np.tile(np.arange(4), world.n_states)
    outcomes = [world.outcomes(i, j)[0] for i, j in zip(s.tolist(), a.tolist(), strict=True)]
    agent.observe_many(s, a, [o.reward for o in outcomes], [o.next_state for o in outcomes])
    agent.save("cliff.fwrl")
    code, out, _ = call("show", "cliff.fwrl", name, "--goal", 47, "--start", 36, "--picture", "cliff.png")
    assert code == 0
    assert "13 steps" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("evaluate", "maze.fwrl", "four-rooms"),
            "has 7 states and 4 actions, but the world 'four-rooms' has 68 and 4",
        ),
        (("train", "four-rooms", "--resume", "maze.fwrl"), "name the world it was trained in"),
        (("show", "maze.fwrl", MAZE, "--goal", "1,0"), "(1, 0) isn't a floor cell of 'h-maze'"),
        (("show", "maze.fwrl", MAZE, "--goal", "7"), "expected a goal as a state from 0 to 6 or as x,y, got '7'"),
        (("show", "maze.fwrl", MAZE, "--goal", "x,y"), "expected a goal as a state from 0 to 6"),
        (("show", "maze.fwrl", MAZE, "--goal", "0", "--start", "-1"), "expected a start"),
    ],
)
def test_what_does_not_fit_is_refused(call, trained, words, said):
    code, out, err = call(*words)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_trip_from_the_goal_to_itself_is_refused(call, trained):
    code, out, err = call("evaluate", trained, MAZE, "--goal", 1, "--start", 1)
    assert (code, out) == (2, "")
    assert "nothing to evaluate" in err
    assert call("evaluate", trained, MAZE, "--goal", 1, "--start", 1, "--json").code == 2


@pytest.mark.parametrize("goal", ["²", "9" * 5000], ids=["power", "long"])
def test_what_looks_like_a_number_and_is_no_state_is_refused(call, trained, goal):
    code, out, err = call("show", trained, MAZE, "--goal", goal)
    assert (code, out) == (2, "")
    assert "expected a goal as a state from 0 to 6" in err
