"""Plugins that do not work are named, and nothing else stops working."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from typing import Any

import pytest

import fwrl
from fwrl.agents import agent_classes, registry
from fwrl.errors import FwrlError, FwrlWarning
from fwrl.experiment.compared_agents import default_agents
from fwrl.web.play.menus import agent_menu
from fwrl.worlds import catalogue

BROKEN = {
    "absent": ("no_such_package:Agent", "no_such_package:Agent': ModuleNotFoundError"),
    "text": ("fwrl:__version__", "isn't a subclass of fwrl.Agent"),
    "alias": ("fwrl.agents.baselines.random:RandomWalk", "but named 'random'"),
    "missing": ("fwrl.agents.baselines.random:Nothing", "random:Nothing': AttributeError"),
}


@pytest.fixture
def plugins(monkeypatch):
    points = [importlib.metadata.EntryPoint(name, value, registry.GROUP) for name, (value, _) in BROKEN.items()]

    def entry_points(group, name=None):
        return [point for point in points if group == registry.GROUP and name in (None, point.name)]

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_agent_is_refused_by_name_with_the_reason(plugins, name):
    with pytest.raises(FwrlError, match=BROKEN[name][1]) as caught:
        fwrl.make_agent(name, 7, 4)
    assert f"'{name}'" in str(caught.value)
    assert "repair or uninstall the package" in str(caught.value)


def test_the_others_still_work(plugins):
    with pytest.warns(FwrlWarning) as warned:
        found = agent_classes()
    assert set(found) == set(registry.OURS)
    assert len(warned) == len(BROKEN)
    with pytest.warns(FwrlWarning):
        assert set(registry.OURS) <= set(agent_menu())
    with pytest.warns(FwrlWarning):
        assert not set(BROKEN) & set(default_agents())


def test_the_list_of_agents_names_the_broken_ones_on_standard_error(plugins, call):
    code, out, err = call("agents")
    assert code == 0
    assert "qlcat" in out
    assert err.count("\n") == len(BROKEN)
    assert all(line.startswith("fwrl: ") for line in err.splitlines())
    code, out, err = call("train", "h-maze", "--agent", "absent")
    assert (code, out) == (2, "")
    assert "can't import the agent" in err


def test_a_world_whose_function_returns_text_is_refused(call, monkeypatch):
    poem: Any = lambda: "roses"  # noqa: E731
    monkeypatch.setitem(catalogue._registered, "poem", catalogue._Registered(poem, "A poem"))
    with pytest.raises(FwrlError, match="returned str, not a World"):
        fwrl.load_world("poem")
    code, _, err = call("worlds", "poem")
    assert code == 2
    assert "'poem'" in err
    with pytest.warns(FwrlWarning, match="can't build the world 'poem'"):
        assert call("worlds").code == 0


def test_too_little_memory_is_said(call, monkeypatch):
    def exhausted(*_, **__):
        raise MemoryError

    monkeypatch.setattr("fwrl.task.agent_for_world.agent_for", exhausted)
    code, out, err = call("train", "h-maze")
    assert (code, out) == (2, "")
    assert err == "fwrl: out of memory; choose a smaller world, fewer steps or smaller tables\n"


LEFTMOST = """
import fwrl

class Leftmost(fwrl.PythonAgent):
    name, description = "leftmost", "always the first action"

    def act(self, state):
        return 0

    def observe(self, state, action, reward, next_state, arrived=False, terminated=False):
        pass

    def action_values(self, state, goal):
        return [1.0] + [0.0] * (self.n_actions - 1)
"""


def test_an_installed_agent_in_plain_python_is_compared_in_worker_processes(tmp_path):
    """The package is on the path of the command alone: worker processes find it by its entry point."""
    (tmp_path / "leftmost_agent.py").write_text(LEFTMOST)
    installed = tmp_path / "leftmost-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: leftmost\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text(f"[{registry.GROUP}]\nleftmost = leftmost_agent:Leftmost\n")
    words = ["h-maze", "--agents", "leftmost random", "--seeds", "3", "--episodes", "5", "--steps", "40", "--json"]
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "fwrl", "compare", *words, "--workers", "2", "--out", str(tmp_path / "comparison")],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    assert {standing["label"] for standing in json.loads(done.stdout)["h-maze"]} >= {"leftmost", "random"}
