"""Reward curves: bounded, and no episode is lost or counted twice."""

from hypothesis import given
from hypothesis import strategies as st

from fwrl.web.play.runner import LARGEST_CURVE, LearningCurve


@given(goals=st.lists(st.integers(0, 3000), min_size=1, max_size=4))
def test_every_episode_of_the_goals_kept_is_in_exactly_one_point(goals):
    curve = LearningCurve()
    for goal, episodes in enumerate(goals):
        curve.begin(goal)
        for episode in range(episodes):
            curve.add(float(episode), 2.0, 1.0)
    assert sum(len(segment.points) for segment in curve.segments) <= LARGEST_CURVE
    for segment in curve.segments:
        n = goals[segment.goal]
        assert sum(point.episodes for point in segment.points) == n
        assert sum(point.reward for point in segment.points) == n * (n - 1) / 2
        assert all(point.inefficiency == 2.0 for point in segment.points)


def test_the_first_episodes_after_a_goal_are_single_whatever_came_before():
    curve = LearningCurve()
    for goal in (1, 2):
        curve.begin(goal)
        for episode in range(5000):
            curve.add(float(episode), 0.0, 0.0)
    last = curve.to_json()[-1]
    assert last["reward"][:16] == list(range(16))
    assert last["inefficiency"][:16] == [None] * 16
    assert len(last["reward"]) < 90


def test_a_goal_without_a_finished_episode_leaves_no_part():
    curve = LearningCurve()
    for goal in (1, 2, 3):
        curve.begin(goal)
    assert [segment.goal for segment in curve.segments] == [3]
