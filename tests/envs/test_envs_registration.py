"""The ids exist whichever of fwrl and Gymnasium comes first; fwrl alone imports no Gymnasium."""

import subprocess
import sys
from typing import Any

import gymnasium
import pytest

from fwrl.envs import register
from fwrl.envs.registration import IDS


def python(code):
    result = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


ASK = "print(*[i for i in gymnasium.registry if i.startswith('fwrl')])"


@pytest.mark.parametrize(
    "code",
    [
        f"import fwrl, gymnasium; {ASK}",
        f"import gymnasium, fwrl; {ASK}",
        f"import fwrl; from gymnasium.envs import registration; import gymnasium; {ASK}",
        f"import fwrl, gymnasium; from fwrl.envs import register; register(); register(); {ASK}",
        f"import gymnasium; gymnasium.make('fwrl:fwrl/FourRooms-v0'); {ASK}",
    ],
)
def test_importing_fwrl_registers_every_id_once(code):
    assert python(code) == list(IDS)


def test_importing_fwrl_does_not_import_gymnasium():
    assert python("import sys, fwrl, fwrl.envs; print('gymnasium' in sys.modules)") == ["False"]


def test_looking_for_gymnasium_without_importing_it_keeps_the_finder():
    look = "import importlib.util; importlib.util.find_spec('gymnasium')"
    assert python(f"import fwrl; {look}; import gymnasium; {ASK}") == list(IDS)


def test_gymnasium_keeps_its_own_loader_and_the_finder_leaves():
    code = (
        "import fwrl, sys; before = len(sys.meta_path); import gymnasium, inspect; "
        "source = inspect.getsource(gymnasium.envs.registration); "
        "print('def register(' in source, before - len(sys.meta_path))"
    )
    assert python(code) == ["True", "1"]


def test_every_id_is_limited_to_400_steps():
    register()
    assert {gymnasium.spec(name).max_episode_steps for name in IDS} == {400}


def test_a_made_environment_has_the_goal_methods_and_can_be_made_again_from_its_spec():
    register()
    env = gymnasium.make("fwrl/HMaze-v0")
    assert env.spec is not None
    again = gymnasium.make(env.spec)
    both: list[Any] = [env, again]
    for one in both:
        assert one.compute_reward([[1], [2]], [[1], [1]], {}).tolist() == [9.99975, -0.00025]
        assert one.compute_terminated(1, 1, {}) is True
        assert one.compute_truncated(1, 1, {}) is False
    assert again.spec == env.spec
    assert len(str(again).split("<")) == len(str(env).split("<"))


def test_the_grid_requires_a_map():
    register()
    with pytest.raises(ValueError, match="map='four-rooms'"):
        gymnasium.make("fwrl/Grid-v0")
