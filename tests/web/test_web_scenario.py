"""Scenarios: what a link or a file carries comes back as it was; lessons say what is so."""

import contextlib
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from web_match import match_of

from fwrl.errors import FwrlError
from fwrl.web.play.menus import AgentChoice, drawable, drawn_world
from fwrl.web.play.scenario import (
    PRACTICE,
    from_address,
    from_plain,
    from_toml,
    front_door_address,
    own_lessons,
    read_lesson,
    to_address,
    to_plain,
    to_toml,
)
from fwrl.web.play.view import judge, verdict

MAPS = ["....\n.>9.\n....", "....\n.#9.\n....", "...#\n.>9.\n...."]


changes = st.lists(
    st.one_of(
        st.tuples(st.just("advance"), st.integers(0, 450)),
        st.tuples(st.just("goal"), st.sampled_from([0, 3, 4, 8, 10])),
        st.tuples(st.just("start"), st.sampled_from([1, 2, 9])),
        st.tuples(st.just("anywhere"), st.booleans()),
        st.tuples(st.just("edit"), st.sampled_from(MAPS)),
        st.tuples(st.just("forget"), st.integers(0, 1)),
        st.tuples(st.just("agent"), st.integers(0, 1)),
    ),
    max_size=8,
)


def apply(current, kind, value):
    with contextlib.suppress(FwrlError):  # such as a start on the goal
        match kind:
            case "advance":
                current.advance(value)
            case "goal":
                current.move_goal(value)
            case "start":
                current.move_start(value)
            case "anywhere":
                current.begin_anywhere(value)
            case "edit":
                current.edit(drawn_world(value))
            case "forget":
                current.forget(value)
            case "agent":
                choice = AgentChoice("qlcat")
                current.replace_agent(value, choice, current.new_runner(choice))


@settings(max_examples=15)
@given(changes=changes, seed=st.integers(0, 5))
@example(changes=[("goal", 0)], seed=0)  # where the start was
@example(changes=[("advance", 1), ("agent", 0), ("edit", MAPS[0]), ("anywhere", False)], seed=0)
def test_whatever_was_done_a_link_and_a_file_carry_world_agents_seed_start_and_goal(changes, seed):
    match = match_of(drawn_world(MAPS[0]), "fwrl", "fwrl-expected", seed=seed, goal=11, start=0)
    for change in changes:
        apply(match, *change)
    plain = to_plain(match, 60.0)
    for scenario in (from_address(to_address(plain)), from_toml(to_toml(plain)), from_plain(plain)):
        again = scenario.match()
        assert again.marks == match.marks
        assert (again.seed, again.choices, scenario.speed) == (seed, match.choices, 60.0)
        assert drawable(again.world).rows == drawable(match.world).rows
        assert [leg.steps for legs in scenario.training for leg in legs] == [PRACTICE] * 2 * bool(match.total_steps)


def test_a_link_with_a_moved_goal_opens_on_agents_that_practised_before_it_moved():
    match = from_address("world=four-rooms&goal=7,2").trained()
    left, right = verdicts(match)
    assert (left["grade"], right["promise"], match.total_steps) == ("best", None, PRACTICE)
    again = from_address("world=four-rooms&goal=7,2").trained()
    for mine, theirs in zip(match.runners, again.runners, strict=True):
        np.testing.assert_array_equal(mine.agent.action_table(match.goal), theirs.agent.action_table(match.goal))


def test_a_text_in_a_file_is_text():
    match = match_of("h-maze")
    plain = {**to_plain(match, 60.0), "world": 'a"\nb = 3', "agents": ["fwrl", {"name": "fwrl", "backup": "expected"}]}
    with pytest.raises(FwrlError, match="unknown world"):
        from_toml(to_toml(plain))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("world = 3", "expected world as a text"),
        ('world = "nowhere"', "unknown world"),
        ('wrold = "h-maze"', "did you mean 'world'"),
        ('map = "..x"', "unknown character 'x'"),
        ('world = "h-maze"\nmap = "..."', "got both"),
        ('agents = ["fwrl"]', "expected two agents"),
        ('agents = ["fwrl", {name = "ql", learning_rat = 1}]', "did you mean 'learning_rate'"),
        ("goal = [99, 0]", r"inside the map of 11 by 11 cells"),
        ("goal = 3", r"expected goal as \[x, y\]"),
        ("[[training]]\nsteps = 10", "no goal"),
        ("goal = [1, 1]\n[[training]]\nsteps = 99999999", "at most 100 legs"),
        ("steps = 99999999", "steps as a number from 0"),
        ('goal = [1, 1]\n[[training]]\nhow = "jump"', "unknown kind of a leg"),
        ('question = "?"', "two answers or more"),
        ("= 3", "this is not a scenario"),
        ("speed = 0", "a number from 1"),
        ('trips = "no"', "unknown kind of trips"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(text, problem, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(FwrlError, match=problem) as raised:
        read_lesson(path)
    assert "mine.toml" in str(raised.value)


@pytest.mark.parametrize(
    "address", ["x", "world", "seed=x", "training=1", "agents=fwrl,backup", "goal=1,1,1", "steps=1e9"]
)
def test_a_link_that_cannot_be_read_is_refused(address):
    with pytest.raises(FwrlError):
        from_address(address)


def verdicts(match):
    optimum = judge(match.task, match.settings)
    return [verdict(match.world, optimum, promise) for promise in match.promises()]


def steps(match, part):
    return [side[part] and round(side[part]["reward"] / match.step_reward, 6) for side in verdicts(match)]


def lesson(number):
    return own_lessons()[number - 1].scenario.trained()


def test_every_lesson_has_three_sentences_and_one_question():
    assert len(own_lessons()) == 6
    for each in own_lessons():
        card = each.scenario.card
        assert card is not None
        assert card.text.count(". ") == 2
        assert card.question.count("?") == 1
        assert 0 <= card.answer < len(card.answers)
        assert card.task


def test_the_goal_moves_and_only_fwrl_has_a_route():
    match = lesson(1)
    left, right = verdicts(match)
    assert (left["grade"], left["promise"]["steps"]) == ("best", pytest.approx(7))
    assert (right["promise"], right["entered"]) == (None, True)


def test_stitching_joins_two_trips():
    match = lesson(2)
    left, right = verdicts(match)
    assert (left["grade"], right["promise"]) == ("best", None)
    route = match.route(match.value_fields()[0], match.start)
    assert len(match.runners[0].stitches.stretches(route)) == 2


def test_the_lucky_gust_is_promised_by_the_best_and_not_by_the_mean():
    match = lesson(3)
    promised, really = steps(match, "promise"), steps(match, "truth")
    assert promised[0] == 10 < steps(match, "optimal")[0] == 12 < really[0]
    assert promised[1] == pytest.approx(12)
    assert really[1] == pytest.approx(12)


def test_mud_is_cheaper_to_walk_round():
    match = lesson(4)
    left, right = verdicts(match)
    assert left["grade"] == "best"
    assert right["grade"] == "worse"
    assert left["truth"]["steps"] > right["truth"]["steps"]
    assert left["truth"]["reward"] > right["truth"]["reward"]


def test_only_the_mean_learns_that_the_corridor_is_blocked_until_the_best_is_made_to_forget():
    match = lesson(5)
    assert [match.outdated(side) > 0 for side in (0, 1)] == [True, False]
    match.advance(2000)
    assert [side["grade"] for side in verdicts(match)] == ["lost", "best"]
    match.forget(0)
    match.advance(4000)
    assert verdicts(match)[0]["grade"] == "best"


def test_without_dice_more_is_known_after_400_steps():
    match = lesson(6)
    match.advance(400)
    known = [np.isfinite(np.stack([r.agent.values(g)[match.floor] for g in match.floor])).sum() for r in match.runners]
    assert known[1] > 1.2 * known[0]


def test_the_lesson_in_the_documentation_can_be_read():
    page = (Path(__file__).resolve().parents[2] / "docs" / "class.md").read_text(encoding="utf-8")
    [text] = re.findall(r"<!-- lesson -->\n```toml\n(.*?)```", page, re.DOTALL)
    scenario = from_toml(text)
    assert scenario.card is not None
    assert scenario.card.answers[scenario.card.answer] == "Only FWRL"


ROOMS = "/".join(["..........."] * 11)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("world=four-rooms&goal=7,2&seed=3", "world=four-rooms&goal=7,2"),
        (f"map={ROOMS}&goal=1,1&agents=fwrl;ql&steps=0", f"map={ROOMS}&goal=1,1&steps=0"),
        ("world=h-maze", None),
        ("world=four-rooms&agents=fwrl;rmax", None),
        ("world=four-rooms&agents=fwrl,backup:expected;ql", None),
        (f"map={ROOMS.replace('.', '2', 1)}", None),
        ("map=.../...", None),
    ],
)
def test_the_front_door_gets_the_boards_that_it_can_show(address, shown):
    scenario = from_address(address)
    plain = to_plain(scenario.match(), scenario.speed)
    if scenario.steps:
        del plain["steps"]  # its agents practise
    assert front_door_address(plain) == shown
