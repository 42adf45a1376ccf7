"""The agent in CONTRIBUTING.md works as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = (Path(__file__).resolve().parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
USE = """

world = fwrl.load_world("four-rooms")
agents = [fwrl.make_agent("least-tried", world.n_states, world.n_actions, seed=1, random=0.0) for _ in range(2)]
result = fwrl.run(world, agents[0], episodes=2, steps=500, seed=3, trajectory=True)
walked = list(fwrl.rollout(fwrl.Task(world), agents[1], episodes=2, steps=500, seed=3))
assert [step.action for step in walked] == result.trajectory.action.tolist()
tries = agents[0].tables.tries
assert tries.sum() == (~result.trajectory.arrived).sum()
assert (np.ptp(tries, axis=1) <= 1).all()  # it takes all actions of a state in turn
agents[0].save("agent.fwrl")
loaded = fwrl.load("agent.fwrl")
assert (loaded.tables.tries == tries).all()
assert [loaded.act(s) for s in range(9)] == [agents[0].act(s) for s in range(9)]
assert (agents[0].action_values(5, 0) == -tries[5]).all()
"""


def test_the_example_of_a_new_agent_runs_saves_and_loads(tmp_path):
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "least_tried.py").write_text(block + USE, encoding="utf-8")
    done = subprocess.run([sys.executable, "least_tried.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
