"""The menu of agents: every registered one, in a group, by the name that people know, with one sentence."""

from dataclasses import asdict

import pytest

from fwrl.agents import agent_names
from fwrl.errors import UnknownNameError
from fwrl.web.play.menus import AgentChoice, agent_menu, never_forgets, option_choices


def test_every_registered_agent_is_in_the_agent_menu():
    assert set(agent_names()) <= set(agent_menu())
    assert all(agent_menu().values())


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


@pytest.mark.parametrize("name", agent_menu())
def test_every_option_of_every_agent_is_on_the_form_and_can_be_given(name):
    agent = AgentChoice(name).make(3, 2, 0)
    assert {option["name"]: option["value"] for option in option_choices(name)} == asdict(agent.config)
    for option in option_choices(name):
        for value in option["choices"] or []:
            assert AgentChoice.of(name, {option["name"]: value}).name == name


def test_options_that_are_usual_are_left_out():
    assert AgentChoice.of("fwrl-expected", {"backup": "expected", "storage": "auto"}) == AgentChoice("fwrl-expected")
    assert asdict(AgentChoice.of("fwrl-expected", {"backup": "best"}).make(3, 2, 0).config)["backup"] == "best"


def test_only_agents_that_keep_the_best_never_forget():
    forever = {name for name in agent_menu() if never_forgets(AgentChoice(name))}
    # Transitive RL learns for goals that a trip reached: a try that ends elsewhere doesn't count against the goal.
    assert forever == {"fwrl", "fwrl-optimistic", "trl"}
