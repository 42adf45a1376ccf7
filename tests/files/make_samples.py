"""Write small saved files and what they are known to answer to `samples`: `python tests/files/make_samples.py`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import fwrl
from fwrl.agents import agent_names
from fwrl.worlds import from_outcomes

SAMPLES = Path(__file__).parent / "samples"
ANSWERS = "answers.json"
GOALS = (0, 3)
TRANSITIONS = [
    ("dock", "left", -1.0, "aisle", "first", 5),
    ("aisle", "right", -2.0, "shelf", "first", 6),
    ("aisle", "right", -4.0, "gate", "second", 9),
    ("gate", "left", -1.0, "shelf", "second", 10),
    ("shelf", "left", -1.0, "dock", "third", 1),
]
VISITS: dict[str, Any] = {
    "trip": ["first", "first", "second", "second", "third"],
    "time": [5, 6, 9, 10, 1],
    "state": ["dock", "aisle", "gate", "shelf", "dock"],
    "action": ["left", "right", "left", None, "left"],
    "reward": [-1.0, -2.0, -1.0, None, -3.0],
}
TERMINATED = ([False, True, False, False, False], [False, False, False, True, False])  # of transitions and visits
SHORT = {
    "agql": {"capacity": 40},
    "her": {"capacity": 40},
    "uvfa": {"capacity": 40},
    "tdm": {"horizon": 4, "capacity": 40},
    "trl": {"capacity": 40},
}
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *((name, SHORT.get(name, {})) for name in agent_names()),
    ("fwrl", {"relaxation": "paper"}),
    ("fwrl", {"storage": "columns"}),
    ("fwrl", {"backup": "expected"}),
    ("fwrl", {"explorer": "optimistic"}),
    ("fwrl", {"backup": "expected", "explorer": "optimistic"}),
    ("fwrl", {"objective": "steps"}),
    ("fwrl", {"objective": "steps", "relaxation": "paper"}),
    ("fwrl", {"objective": "steps", "storage": "columns"}),
    ("fwrl", {"objective": "steps", "backup": "expected"}),
    ("fwrl", {"objective": "rate"}),
    ("fwrl", {"objective": "rate", "explorer": "optimistic"}),
    ("fwrl", {"objective": "rate", "backup": "expected", "explorer": "optimistic"}),
    ("mbrl", {"explorer": "optimistic"}),
    ("sweeping", {"explorer": "optimistic"}),
    ("dg", {"relaxation": False, "learning_rate": 0.5}),
]


def slippery_ring() -> fwrl.World:
    """Six states in a ring and two actions, one each way, which fail now and then; rewards differ."""

    def outcomes(s: int, way: int) -> list[tuple[float, int, float]]:
        following = (s + way) % 6
        return [(0.75, following, -1.0 - s), (0.25, s, -0.5)] if s % 2 else [(1.0, following, -1.0)]

    return from_outcomes("slippery-ring", [[outcomes(s, way) for way in (1, -1)] for s in range(6)])


def file_name(name: str, options: dict[str, Any]) -> str:
    """The name of the file of one configuration."""
    return "-".join([name, *(str(value).lower() for value in options.values())]) + ".fwrl"


def agent_answers(agent: Any) -> dict[str, Any]:
    """Action values for two goals, then the actions and values of twelve steps of learning in the ring."""
    known = {str(g): agent.action_table(g).tolist() for g in GOALS}
    if agent.goal is None:
        return {"action_table": known}
    rng, s, taken = np.random.default_rng(0), 2, []
    world = slippery_ring()
    for _ in range(12):
        a = agent.act(s)
        outcomes = world.outcomes(s, a)
        _, following, r = outcomes[rng.integers(len(outcomes))]
        agent.observe(s, a, r, following)
        taken.append(a)
        s = following
    return {"action_table": known, "actions": taken, "values": agent.values(agent.goal).tolist()}


def planner_answers(planner: Any) -> dict[str, Any]:
    """Routes and values between all places; of a log of visits two values, or which states are terminal."""
    if planner.summary.terminated:
        return {"terminated": terminal_states(planner), "values": [planner.value("dock", "aisle")]}
    places = ("dock", "aisle", "shelf", "gate")
    pairs = [(start, goal) for start in places for goal in places if start != goal]
    if planner.value("dock", "gate") == -np.inf:  # visits
        return {"values": [planner.value("gate", "shelf"), planner.value("dock", "aisle")]}
    return {
        "routes": [planner.plan(*pair).states for pair in pairs],
        "values": [planner.value(*pair) for pair in pairs],
        "trips": planner.summary.trips,
    }


def terminal_states(planner: Any) -> list[str]:
    """The names of the states in which trips terminated."""
    return [planner.states[code] for code in np.flatnonzero(planner.experience.terminated)]


def make_samples(folder: Path) -> None:
    """Write every sample and `answers.json` into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    world, answers = slippery_ring(), {}
    for name, options in VARIANTS:
        agent = fwrl.make_agent(name, world.n_states, world.n_actions, seed=1, **options)
        fwrl.run(world, agent, episodes=3, steps=25, seed=2)
        path = folder / file_name(name, options)
        agent.save(path)
        answers[path.name] = agent_answers(agent)
    fresh = fwrl.make_agent("fwrl", 4, 2)
    fresh.observe_many([0, 1], [1, 0], [-1.0, -2.0], [1, 3])
    fresh.save(folder / "fwrl-without-a-goal.fwrl")
    answers["fwrl-without-a-goal.fwrl"] = agent_answers(fresh)
    planner = fwrl.fit(TRANSITIONS)
    planner.save(folder / "planner.fwrl")
    answers["planner.fwrl"] = planner_answers(planner)
    visits = fwrl.fit(VISITS)
    visits.save(folder / "visits.fwrl")
    answers["visits.fwrl"] = planner_answers(visits)
    names = ("state", "action", "reward", "next_state", "trip", "time")
    columns: dict[str, Any] = dict(zip(names, map(list, zip(*TRANSITIONS, strict=True)), strict=True))
    for log, flags in zip((columns, VISITS), TERMINATED, strict=True):
        planner = fwrl.fit({**log, "terminated": flags})
        path = folder / f"{'visits' if log is VISITS else 'planner'}-terminated.fwrl"
        planner.save(path)
        answers[path.name] = planner_answers(planner)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(answer)}" for name, answer in answers.items())
    (folder / ANSWERS).write_text(f"{{\n{lines}\n}}\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    make_samples(SAMPLES)
