"""The roster: every registered agent, and FWRL's options beyond the paper."""

from dataclasses import asdict

import pytest

from fwrl.agents import agent_names, make_agent
from fwrl.errors import UnknownNameError
from fwrl.web.limits import Limits
from fwrl.web.play.roster import AgentChoice, bytes_needed, never_forgets, option_choices, roster, table_bytes
from fwrl.web.play.scenario import AGENTS
from fwrl.web.play.world_menu import drawn_world

BUDGET = Limits().page_bytes


def test_every_registered_agent_is_in_the_roster():
    assert set(agent_names()) <= set(roster())
    assert all(roster().values())


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
    options = asdict(AgentChoice(name).make(3, 2, 0).config)
    assert (options["backup"], options["explorer"]) == (backup, explorer)


def test_other_names_are_refused_with_close_matches():
    with pytest.raises(UnknownNameError, match="did you mean 'fwrl-expected'"):
        AgentChoice("fwrl-expcted").make(3, 2, 0)


@pytest.mark.parametrize(("width", "height"), [(15, 10), (25, 20), (45, 45)])  # FWRL's storage changes at 2,000 states
@pytest.mark.parametrize("name", roster())
def test_the_bytes_needed_are_the_bytes_of_the_tables(name, width, height):
    world = floor(width, height)
    taken = table_bytes(AgentChoice(name).make(world.n_states, world.n_actions, 0))
    needed = bytes_needed(world, [AgentChoice(name)], BUDGET) - by_goal(world)
    assert needed == taken if taken <= BUDGET else needed == pytest.approx(taken, rel=0.01)


def test_100_by_100_cells_fit_with_the_agents_that_a_page_begins_with():
    world = floor(100, 100)
    taken = sum(table_bytes(choice.make(world.n_states, world.n_actions, 0)) for choice in AGENTS)
    assert bytes_needed(world, AGENTS, BUDGET) == taken + 2 * by_goal(world) <= BUDGET


@pytest.mark.parametrize(("width", "height"), [(40, 25), (100, 100)])
def test_what_does_not_fit_is_found_without_exceeding_the_budget(monkeypatch, width, height):
    world, budget = floor(width, height), 20 * 2**20
    made = []

    def make(*args, **options):
        agent = make_agent(*args, **options)
        made.append(table_bytes(agent))
        return agent

    monkeypatch.setattr("fwrl.web.play.roster.make_agent", make)
    needed = bytes_needed(world, [AgentChoice("dg")], budget) - by_goal(world)
    assert needed == pytest.approx(world.n_states * world.n_actions * world.n_states * 8, rel=0.01)
    assert 0 < max(made) <= budget < needed


@pytest.mark.parametrize("name", roster())
def test_every_option_of_every_agent_is_on_the_form_and_can_be_given(name):
    agent = AgentChoice(name).make(3, 2, 0)
    assert {option["name"]: option["value"] for option in option_choices(name)} == asdict(agent.config)
    for option in option_choices(name):
        for value in option["choices"] or []:
            assert AgentChoice.of(name, {option["name"]: value}).name == name


def test_options_that_are_usual_are_left_out():
    assert AgentChoice.of("fwrl-expected", {"backup": "expected", "storage": "auto"}) == AgentChoice("fwrl-expected")
    assert asdict(AgentChoice.of("fwrl-expected", {"backup": "best"}).make(3, 2, 0).config)["backup"] == "best"


def test_only_a_backup_that_keeps_the_best_never_forgets():
    forever = {name for name in roster() if never_forgets(AgentChoice(name))}
    assert forever == {"fwrl", "fwrl-optimistic"}


def floor(width, height):
    return drawn_world("\n".join(["." * width] * height))


def by_goal(world):
    """Bytes for the goals that a user may click."""
    return 64 * world.n_states * world.n_actions * 8
