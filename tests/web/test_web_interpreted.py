"""Agents that begin interpreted: nothing is compiled before the first boards, and nothing changes once it is."""

import sys
import threading

import numpy as np
import pytest
from numba.core import event

from fwrl.web.play import interpreted
from fwrl.web.play.match import Match
from fwrl.web.play.menus import AgentChoice, board_world, menu_world
from fwrl.web.play.scenario import first_scenario

pytestmark = pytest.mark.skipif(not interpreted.AGAIN, reason="everything is interpreted anyway")


class Compiled(event.Listener):
    """The functions compiled on this thread."""

    def __init__(self):
        self.names, self.thread = [], threading.get_ident()

    def on_start(self, started):
        if threading.get_ident() == self.thread:
            self.names.append(started.data["dispatcher"].py_func.__qualname__)

    def on_end(self, ended):
        pass


def test_the_first_boards_are_trained_moved_and_judged_without_compiling():
    with event.install_listener("numba:compile", Compiled()) as compiled:
        match = first_scenario().trained()
        match.move_goal(match.start + 1)
        match.value_fields()
        match.promises()
        match.inspect(match.start)
    assert match.total_steps == 8000
    assert compiled.names == []


@pytest.mark.parametrize("name", ["fwrl", "fwrl-beyond", "fwrl-expected", "qlcat", "ql", "mbrl", "sweeping", "rmax"])
def test_an_agent_that_is_compiled_on_the_way_knows_the_same(name):
    world = board_world(menu_world("windy-four-rooms"))
    match = Match(world, [AgentChoice(name)] * 2, seed=3)
    left, right = match.runners
    right.agent = interpreted._moved(right.agent, sys.modules)  # compiled from the beginning
    assert type(left.agent) is not type(right.agent)
    match.advance(700)
    interpreted._compiled[type(right.agent)] = True
    match.advance(500)
    assert type(left.agent) is type(right.agent)
    assert left.state == right.state
    assert left.agent.rng.bit_generator.state == right.agent.rng.bit_generator.state
    for goal in (match.goal, match.start):
        np.testing.assert_array_equal(left.agent.action_table(goal), right.agent.action_table(goal))
