"""Navigators on a continuous maze with known geometry."""

from __future__ import annotations

import re

import numpy as np
import pytest
from continuous_maze import ROOMS, SPEED, TWO_ROOMS, Maze, pursue

import fwrl
from fwrl.navigator.from_episodes import fit_navigator
from fwrl.navigator.navigator import Navigator

# Three ways out of the portal: to the goal's side, back to the start's side, and a closed chamber.
PORTAL = Maze(
    (
        "#############",
        "#.....#.....#",
        "#.....#.....#",
        "#.....#.....#",
        "#############",
        "#...#########",
        "#############",
    ),
    portals=(((4.5, 2.5), 0.6),),
    exits=((10.5, 2.5), (1.5, 2.5), (2.5, 5.5)),
)
RING = Maze(
    (
        "#############",
        "#...........#",
        "#.....#####.#",
        "#.....#.....#",
        "#############",
        "#...#########",
        "#############",
    ),
    portals=(((4.5, 2.5), 0.6),),
    exits=((10.5, 3.5), (1.5, 2.5), (2.5, 5.5)),
)


@pytest.fixture(scope="module")
def rooms() -> Navigator:
    return fit_navigator(ROOMS.walks(150, 150, seed=0))


def pairs(n, seed):
    rng = np.random.default_rng(seed)
    cells = np.array(ROOMS.cells())
    points = cells[rng.integers(len(cells), size=(n, 2))] + rng.uniform(0.2, 0.8, (n, 2, 2))
    return [(start, goal) for start, goal in points if np.hypot(*(start - goal)) > 2.0]


def test_every_goal_is_reached_in_about_the_geodesic_number_of_steps(rooms):
    ratios = []
    for start, goal in pairs(40, seed=1):
        steps = pursue(rooms, ROOMS, start, goal)
        assert steps is not None, (start, goal)
        # An action moves at most SPEED in each coordinate, so the shortest way of steps may beat the geodesic / SPEED.
        ratios.append(steps * SPEED / (ROOMS.geodesic(start, goal) - 0.5))
    assert np.median(ratios) < 1.2
    assert max(ratios) < 2.5


def test_values_order_goals_by_their_geodesic_distance(rooms):
    start = np.array([1.5, 1.5])
    goals = [goal for _, goal in pairs(30, seed=2)]
    lengths = [ROOMS.geodesic(start, goal) for goal in goals]
    values = [rooms.value(start, goal) for goal in goals]
    assert np.corrcoef(lengths, values)[0, 1] < -0.95


def test_a_navigator_reaches_goals_that_no_episode_went_to():
    # No walk crosses x = 4: left and right were only ever walked apart, and meet at the door.
    walks = []
    for points, actions in ROOMS.walks(300, 60, seed=3):
        side = points[:, 0] < 5.0
        same = np.flatnonzero(side != side[0])
        end = int(same[0]) if len(same) else len(points)
        if end > 6:
            walks.append((points[:end], actions[: end - 1]))
    walks += [(points, actions) for points, actions in ROOMS.walks(200, 40, seed=4) if abs(points[0, 0] - 5) < 1.5]
    navigator = fit_navigator(walks)
    start, goal = np.array([1.5, 1.5]), np.array([11.0, 5.5])
    longest = max(np.ptp(points, axis=0)[0] for points, _ in walks)
    assert longest < abs(goal - start)[0]
    assert pursue(navigator, ROOMS, start, goal) is not None


def test_unconnected_rooms_have_no_arrival():
    navigator = fit_navigator(TWO_ROOMS.walks(40, 100, seed=0))
    inside, across = np.array([2.0, 1.5]), np.array([6.5, 2.5])
    assert navigator.arrival(inside, [1.5, 3.5]) == pytest.approx(1.0)
    assert navigator.arrival(inside, across) == 0.0
    assert navigator.value(inside, across) == -navigator.penalty
    navigator.aim(across)
    assert navigator.act(inside)[0] > 0  # straight at the goal, for want of anything better


def test_the_arrival_through_a_portal_is_that_of_its_exits():
    navigator = fit_navigator(PORTAL.walks(200, 150, seed=0))
    # The portal is the only way. One exit arrives, one leads back for another try, one is closed: p = 1/3 + p/3.
    assert navigator.arrival([1.5, 1.5], [10.5, 1.5]) == pytest.approx(0.5, abs=0.08)
    tries = [pursue(navigator, PORTAL, np.array([1.5, 1.5]), np.array([10.5, 1.5]), 300, seed) for seed in range(40)]
    assert np.mean([t is not None for t in tries]) == pytest.approx(0.5, abs=0.2)


def test_the_mean_over_outcomes_avoids_a_portal_that_the_maximum_believes_in():
    walks = RING.walks(200, 150, seed=0)
    start, goal = np.array([2.5, 2.5]), np.array([9.5, 3.5])
    expected, best = (fit_navigator(walks, backup=backup) for backup in ("expected", "best"))
    assert expected.arrival(start, goal) > 0.95
    arrived = {
        name: np.mean([pursue(navigator, RING, start, goal, seed=seed) is not None for seed in range(20)])
        for name, navigator in (("expected", expected), ("best", best))
    }
    assert arrived["expected"] == 1.0
    assert arrived["best"] < 0.8


def test_few_data_are_enough():
    navigator = fit_navigator(ROOMS.walks(25, 120, seed=5))
    reached = [pursue(navigator, ROOMS, start, goal) is not None for start, goal in pairs(20, seed=6)]
    assert np.mean(reached) > 0.9


@pytest.mark.parametrize(("shift", "factor"), [((64.0, -32.0), 1.0), ((0.0, 0.0), 8.0), ((16.0, 16.0), 0.25)])
def test_translation_and_scaling_change_nothing(shift, factor):
    # Dyadic coordinates make sums exact, so that no point changes its cell by rounding.
    walks = [(np.rint(points * 2**12) / 2**12, actions) for points, actions in ROOMS.walks(40, 100, seed=7)]
    moved = [((points + shift) * factor, actions) for points, actions in walks]
    one, other = fit_navigator(walks), fit_navigator(moved)
    start, goal = np.array([1.5, 1.5]), np.array([11.0, 5.5])
    start2, goal2 = (start + shift) * factor, (goal + shift) * factor
    np.testing.assert_allclose(other.cells.centres, (one.cells.centres + shift) * factor, rtol=1e-9)
    assert other.value(start2, goal2) == pytest.approx(one.value(start, goal))
    one.aim(goal)
    other.aim(goal2)
    np.testing.assert_allclose(other.act(start2), one.act(start), atol=1e-6)


def test_it_says_what_it_is(rooms):
    assert "windows of 5 steps" in repr(rooms)
    assert "% of the displacement" in repr(rooms)
    assert rooms.explained > 0.8


def test_explain_counts_the_windows_of_the_plan(rooms):
    start, goal = np.array([1.5, 1.5]), np.array([11.0, 5.5])
    rooms.aim(goal)
    said = re.match(r"Go to \(11, 5\.5\): (\d+) windows of 5 steps to go", rooms.explain(start))
    assert said
    assert int(said[1]) * 5 * SPEED == pytest.approx(ROOMS.geodesic(start, goal), rel=0.4)
    assert rooms.explain(goal).startswith("Go to (11, 5.5): 0 windows of 5 steps to go; arrives")
    with pytest.raises(fwrl.FwrlError, match=r"aim\(goal\) before act"):
        fit_navigator(ROOMS.walks(5, 50, seed=0)).explain(start)


def test_plot_draws_the_cells_the_plan_and_where_it_went(rooms):
    start, goal = np.array([1.5, 1.5]), np.array([11.0, 5.5])
    rooms.aim(goal)
    rooms.act(start)
    rooms.act(start + 0.25)
    for picture, points in ((rooms.plot(), 2), (rooms.plot([start, goal, start]), 3)):
        (cells,), lines = picture.axes[0].collections, picture.axes[0].lines
        assert len(cells.get_paths()) == len(rooms.cells)
        assert [len(line.get_xdata()) for line in lines] == [1, points, 1]  # the star, the path, where it began
    rooms.aim(goal)
    assert len(rooms.plot().axes[0].lines) == 1  # no path yet


def test_predict_is_stable_baselines3s_way(rooms):
    start, goal = np.array([1.5, 1.5]), np.array([11.0, 5.5])
    one = {"achieved_goal": start, "desired_goal": goal, "observation": np.zeros(3)}
    action, state = rooms.predict(one)
    rooms.aim(goal)
    assert action.tolist() == rooms.act(start).tolist()
    many = {"achieved_goal": np.stack([start, goal]), "desired_goal": np.stack([goal, start])}
    actions, state = rooms.predict(many, episode_start=np.ones(2, bool))
    assert actions.shape == (2, 2)
    assert actions[0].tolist() == action.tolist()
    again, after = rooms.predict(many, state=state, episode_start=np.array([False, True]))
    assert after[0] is state[0]
    assert after[1] is not state[1]
    assert again.shape == (2, 2)


def test_what_cannot_be_used_is_refused(rooms):
    fresh = fit_navigator(ROOMS.walks(5, 50, seed=0))
    with pytest.raises(fwrl.FwrlError, match=r"aim\(goal\) before act"):
        fresh.act([0.0, 0.0])
    with pytest.raises(fwrl.FwrlError, match="2 finite coordinates"):
        rooms.aim([1.0])
    with pytest.raises(fwrl.FwrlError, match="2 finite coordinates"):
        rooms.aim([np.nan, 0.0])
    with pytest.raises(fwrl.FwrlError, match="2 coordinates"):
        rooms.value([0.0, 0.0, 0.0], [0.0, 0.0])
    with pytest.raises(fwrl.FwrlError, match="desired_goal"):
        rooms.predict(np.zeros(2))
    with pytest.raises(fwrl.FwrlError, match="a goal as numbers"):
        rooms.aim(["left", "right"])


@pytest.mark.parametrize("far", [[1e160, 0.0], [0.0, -1e300]])
def test_points_too_far_away_to_measure_are_refused(rooms, far):
    for call in (rooms.aim, rooms.plan, rooms.act):
        rooms.aim([1.0, 1.0])
        with pytest.raises(fwrl.FwrlError, match=r"finite coordinates up to 1e\+100 in size, .*check their units"):
            call(far)
    with pytest.raises(fwrl.FwrlError, match="finite coordinates"):
        rooms.act([np.nan, 0.0])
    with pytest.raises(fwrl.FwrlError, match="check their units"):
        rooms.arrival([1.0, 1.0], far)


def test_units_of_coordinates_change_no_action():
    """20 actions an episode, each held for 10 steps that lead a tenth of it; positions in units from micro to tera."""
    actions = np.random.default_rng(0).uniform(-1, 1, (50, 20, 2)).repeat(10, axis=1)
    points = 0.1 * np.cumsum(actions, axis=1) - 0.1 * actions
    taken = []
    for unit in (1.0, 1e-6, 1e7, 1e9, 1e12):
        navigator = fit_navigator(list(zip(points * unit, actions, strict=True)))
        navigator.aim(np.array([2.0, 1.0]) * unit)
        taken.append([navigator.act(np.array(at) * unit) for at in ([0.0, 0.0], [0.5, 0.3], [1.5, 1.0])])
    np.testing.assert_allclose(taken, [taken[0]] * 5, atol=1e-6)
    assert np.abs(taken[0]).max() > 0.1


def test_saved_and_loaded_it_plans_the_same(rooms, tmp_path):
    rooms.save(tmp_path / "rooms.fwrl")
    loaded = fwrl.load(tmp_path / "rooms.fwrl")
    assert isinstance(loaded, Navigator)
    assert repr(loaded) == repr(rooms)
    start, goal = np.array([1.5, 1.5]), np.array([11.0, 5.5])
    assert loaded.plan(goal).value.tolist() == rooms.plan(goal).value.tolist()
    loaded.aim(goal)
    rooms.aim(goal)
    assert loaded.act(start).tolist() == rooms.act(start).tolist()


def test_the_command_line_checks_a_navigator(rooms, tmp_path, call):
    rooms.save(tmp_path / "rooms.fwrl")
    answer = call("check", str(tmp_path / "rooms.fwrl"))
    assert answer.code == 0
    assert "is intact: <Navigator" in answer.out


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("source", -1, "cells from 0"),
        ("target", 10**6, "cells from 0"),
        ("label", 9, "labels from 0"),
        ("times", 0.0, "positive"),
    ],
)
def test_a_forged_file_is_refused(rooms, tmp_path, field, value, problem):
    forged = getattr(rooms.counts, field).copy()
    forged[0] = value
    counts = rooms.counts._replace(**{field: forged})
    original, rooms.counts = rooms.counts, counts
    try:
        rooms.save(tmp_path / "forged.fwrl")
    finally:
        rooms.counts = original
    with pytest.raises(fwrl.FileError, match=problem):
        fwrl.load(tmp_path / "forged.fwrl")


def test_raw_actions_take_cells_of_more_coordinates_than_headings_could():
    def cart(push, n):
        """A cart with friction; eight sensors show its place and speed four times."""
        place = speed = 0.0
        seen, pushes = [[place, speed] * 4], []
        for k in range(n):
            pushes.append([push(k, seen[-1])])
            speed = 0.9 * speed + 0.05 * pushes[-1][0]
            place = float(np.clip(place + speed, -2.0, 2.0))
            seen.append([place, speed] * 4)
        return np.array(seen), np.array(pushes)

    rng = np.random.default_rng(0)
    pushes = rng.uniform(-1.0, 1.0, (100, 13))
    navigator = fwrl.fit_navigator([cart(lambda k, _, row=row: row[k // 8], 100) for row in pushes], actions="raw")
    for goal in (1.0, -1.2):
        navigator.aim([goal, 0.0] * 4)
        seen, _ = cart(lambda _, observation: navigator.act(observation)[0], 120)
        assert np.abs(seen[:, 0] - goal).min() < 0.2
