"""Cast: every agent there is, and FWRL's options beyond the paper."""

import pytest

from fwrl.agents import agent_names
from fwrl.errors import UnknownNameError
from fwrl.web.play.roster import bytes_needed, cast, cast_agent, table_bytes
from fwrl.web.limits import Limits
from fwrl.web.play.world_menu import drawn_world
from fwrl.web.play.tour import AGENTS

ROOM = Limits().page_bytes


def test_every_agent_there_is_may_take_a_side():
    assert set(agent_names()) <= set(cast())
    assert all(cast().values())


@pytest.mark.parametrize(
    ("name", "backup", "explorer"),
    [
        ("fwrl", "best", "epsilon-greedy"),
        ("fwrl-expected", "expected", "epsilon-greedy"),
        ("fwrl-optimistic", "best", "optimistic"),
        ("fwrl-beyond", "expected", "optimistic"),
    ],
)
def test_fwrl_comes_with_its_options_beyond_the_paper(name, backup, explorer):
    config = cast_agent(name, 3, 2, seed=0).config
    assert (config.backup, config.explorer) == (backup, explorer)


def test_others_are_refused_with_close_matches():
    with pytest.raises(UnknownNameError, match="did you mean 'fwrl-expected'"):
        cast_agent("fwrl-expcted", 3, 2, seed=0)


@pytest.mark.parametrize(("width", "height"), [(15, 10), (25, 20), (50, 50)])  # FWRL's storage changes at 2,000 states
@pytest.mark.parametrize("name", cast())
def test_the_room_foretold_is_the_room_taken(name, width, height):
    world = floor(width, height)
    taken = table_bytes(cast_agent(name, world.n_states, world.n_actions, seed=0))
    assert bytes_needed(world, [name], ROOM) - by_goal(world) == taken


def test_100_by_100_fit_with_the_agents_that_a_page_begins_with():
    world = floor(100, 100)
    taken = sum(table_bytes(cast_agent(name, world.n_states, world.n_actions, seed=0)) for name in AGENTS)
    assert bytes_needed(world, AGENTS, ROOM) == taken + 2 * by_goal(world) <= ROOM


@pytest.mark.parametrize(("width", "height"), [(40, 25), (100, 100)])
def test_what_does_not_fit_is_foretold_without_taking_more_room_than_there_is(monkeypatch, width, height):
    world, room = floor(width, height), 20 * 2**20
    made = []

    def made_agent(*args, **options):
        agent = cast_agent(*args, **options)
        made.append(table_bytes(agent))
        return agent

    monkeypatch.setattr("fwrl.web.play.roster.cast_agent", made_agent)
    needed = bytes_needed(world, ["dg"], room) - by_goal(world)
    assert needed == pytest.approx(world.n_states * world.n_actions * world.n_states * 8, rel=0.01)
    assert 0 < max(made) <= room < needed


def floor(width, height):
    return drawn_world("\n".join(["." * width] * height))


def by_goal(world):
    """Room for the goals that a page may click."""
    return 64 * world.n_states * world.n_actions * 8
