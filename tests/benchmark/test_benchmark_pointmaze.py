"""The point-maze benchmark: geometry and tables everywhere, the simulator where OGBench is installed."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import asdict

import numpy as np
import pytest

from fwrl.benchmark.maze_geometry import MazeGeometry
from fwrl.benchmark.online import STEPS, OnlineRun, online_table, run_online, write_online_page
from fwrl.benchmark.page import table
from fwrl.benchmark.pointmaze import CASES, DATASETS, Case, Run, cases_of
from fwrl.benchmark.published import METHODS, SUCCESS
from fwrl.benchmark.versions import digest
from fwrl.errors import FwrlError

HAS_OGBENCH = importlib.util.find_spec("ogbench") is not None
needs_ogbench = pytest.mark.skipif(not HAS_OGBENCH, reason="OGBench is not installed")

BEND = np.array([[c == "." for c in row] for row in ("#####", "#...#", "###.#", "###.#", "#####")])


def test_straight_ways_take_the_larger_coordinate():
    geometry = MazeGeometry(BEND)
    assert geometry.least_steps(np.array([0.0, 0.0]), np.array([8.0, 0.5])) == pytest.approx((8.0 - 1.0) / 0.2)


def test_ways_bend_around_corners_at_the_radius_of_the_body():
    # From the left end to the lower end, around the corner at (6, 2): by x to the corner's arc, then by y.
    steps = MazeGeometry(BEND).least_steps(np.array([0.0, 0.0]), np.array([8.0, 8.0]))
    corner = np.array([6.0, 2.0]) + 0.7 * np.array([np.cos(np.pi / 4), -np.sin(np.pi / 4)])
    by_corner = max(abs(corner[0]), abs(corner[1])) + max(8.0 - corner[0], 8.0 - corner[1])
    assert steps == pytest.approx((by_corner - 1.0) / 0.2, rel=0.03)
    assert steps > (8.0 - 1.0) / 0.2


def test_no_way_leads_into_a_wall():
    closed = np.array([[c == "." for c in row] for row in ("#####", "#.#.#", "#####")])
    assert MazeGeometry(closed).least_steps(np.array([0.0, 0.0]), np.array([8.0, 0.0])) == np.inf


def test_every_published_number_has_a_dataset_and_a_method():
    assert set(SUCCESS) <= set(DATASETS)
    assert all(len(row) == len(METHODS) for row in SUCCESS.values())


def test_the_table_has_published_numbers_beside_ours():
    run = Run(0, [1.0, 0.5, 1.0, 1.0, 1.0], [1.1, 1.2, 1.3], 100, 2.0, 0.5, 5e-5, 2.5e-5)
    text = table({Case("giant-stitch"): [run, run], Case("giant-stitch", share=0.1): [run]})
    first, second = text.splitlines()[2:]
    assert "**90.0** [90.0, 90.0] | 1.20 | 100 | 2.0 (4.0) | 50 (2.0) | 0 | 0 | 0 | 50 | 0 | 0 |" in first
    assert second.startswith("| giant-stitch, 10% of the data | **90.0** |")


def test_cases_are_chosen_by_dataset():
    assert cases_of(None) == list(CASES)
    assert {case.dataset for case in cases_of(["giant-stitch"])} == {"giant-stitch"}
    with pytest.raises(FwrlError, match="did you mean 'giant-stitch'"):
        cases_of(["giant-stich"])


def test_kept_online_runs_are_read_and_not_run_again(tmp_path):
    (tmp_path / "runs").mkdir()
    for name in STEPS:
        run = OnlineRun(name, "navigator", 0, 0.75, 3.0)
        key = f"{name}-navigator-0-4-{digest('cells', 'benchmark')}"
        (tmp_path / "runs" / f"{key}.json").write_text(json.dumps(asdict(run)))
    runs = run_online(["MountainCar-v0"], 1, tmp_path, 4, lambda step, part: None)
    assert [run.success for run in runs] == [0.75]
    assert "| MountainCar-v0 | 20,000 | navigator | **0.75** | 1 | 3 |" in online_table(runs)
    assert online_table(runs) in write_online_page(runs, tmp_path, 4).read_text()
    with pytest.raises(FwrlError, match="unknown environment"):
        run_online(["MountainCar"], 1, tmp_path, 4, lambda step, part: None)


def test_an_unknown_benchmark_is_refused(call, tmp_path):
    answer = call("benchmark", "pointmase", "--out", str(tmp_path))
    assert answer.code == 2
    assert "did you mean 'pointmaze'" in answer.err


@pytest.mark.skipif(HAS_OGBENCH, reason="OGBench is installed")
def test_without_ogbench_the_extra_is_named(call, tmp_path):
    answer = call("benchmark", "pointmaze", "--only", "medium-stitch", "--out", str(tmp_path / "out"))
    assert answer.code == 2
    assert "pip install 'fwrl[ogbench]'" in answer.err
    assert not (tmp_path / "out").exists()


@needs_ogbench
@pytest.mark.parametrize("maze", ["medium", "teleport"])
def test_the_simulator_equals_the_environment_to_the_last_bit(maze):
    from fwrl.benchmark.point_simulator import PointSimulator, make_maze

    env, other = (make_maze(maze, terminate_at_goal=False, max_episode_steps=10**6).unwrapped for _ in range(2))
    simulator = PointSimulator(other)
    rng = np.random.default_rng(0)
    for task in (1, 2, 3):
        env.reset(options={"task_id": task})
        other.reset(options={"task_id": task})
        for each in (env, other):
            each.set_state(env.data.qpos.copy(), np.zeros(2))
        for t in range(150):
            if t % 15 == 0:
                heading = rng.normal(size=2)
            action = np.clip(heading + rng.normal(0.0, 0.5, 2), -1.0, 1.0)
            np.random.seed(t)  # noqa: NPY002 (portals draw from the global generator)
            expected = env.step(action)[0]
            np.random.seed(t)  # noqa: NPY002
            assert simulator.step(action) == tuple(expected)


@needs_ogbench
def test_the_same_seed_collects_the_same_data():
    from fwrl.benchmark.collector import collect

    one, two, other = (collect("teleport-stitch", seed, episodes=3) for seed in (0, 0, 1))
    assert all((one[name] == two[name]).all() for name in one)
    assert (one["observations"] != other["observations"]).any()
    assert one["terminals"].sum() == 3
