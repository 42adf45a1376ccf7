"""The Python program that repeats what a page has done."""

from __future__ import annotations

from fwrl.web.play.board_world import drawable, floor_cells
from fwrl.web.play.roster import AgentChoice
from fwrl.web.play.scenario import Scenario
from fwrl.web.play.scenario_text import to_toml
from fwrl.web.play.training import BEGIN
from fwrl.web.play.world_menu import DRAWN

STEPS = 400  # of an episode

SIMPLE = """import fwrl

world = {world}
for name, options in {agents}:
    agent = fwrl.agent_for(world, name, seed={seed}, **options)
    result = fwrl.run(world, agent, episodes={episodes}, steps={steps}, seed={seed}, goal={goal}{start})
    print(name, result.reward.tolist())
"""

GENERAL = """from fwrl.web.play.scenario import from_toml

scenario = from_toml({toml})
match = scenario.trained()
for choice, runner in zip(match.choices, match.runners):
    points = [point for segment in runner.curve.segments for point in segment.points]
    print(choice.title, [point.mean_reward for point in points])
    agent = runner.agent  # its states are the cells of the map, row by row
"""


def python_code(scenario: Scenario) -> str:
    """A program that repeats the training of a scenario and prints the rewards of its episodes.

    If every agent did nothing but whole episodes with one goal, that is a call of `fwrl.run`.
    """
    left, right = scenario.training
    simple = left == right and len(left) == 1 and left[0].how == BEGIN and left[0].steps % STEPS == 0
    if not simple or left[0].rows != drawable(scenario.world).rows:
        return GENERAL.format(toml="r" + _quoted(to_toml(scenario)))
    leg = left[0]
    number = {cell: state for state, cell in enumerate(floor_cells(scenario.world).tolist())}
    return SIMPLE.format(
        world=_world_code(scenario),
        agents=_agents_code(scenario.agents),
        seed=scenario.seed,
        episodes=leg.steps // STEPS,
        steps=STEPS,
        goal=number[leg.goal],
        start="" if leg.start is None else f", start={number[leg.start]}",
    )


def _world_code(scenario: Scenario) -> str:
    if scenario.world.name != DRAWN:
        return f"fwrl.load_world({scenario.world.name!r})"
    rows = "\\n".join(drawable(scenario.world).rows)
    return f'fwrl.worlds.grid.from_map("{rows}")'


def _agents_code(agents: tuple[AgentChoice, AgentChoice]) -> str:
    return repr([choice.constructor for choice in agents])


def _quoted(text: str) -> str:
    return f'"""\n{text}"""'
