"""Load an agent for a world, and parse states of that world."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fwrl.errors import FwrlError

if TYPE_CHECKING:
    from fwrl.agents.agent import Agent
    from fwrl.worlds import World


def world_after(file: Path, world: str) -> World:
    """Load the world; raise if the user swapped agent and world."""
    from fwrl.files import is_archive
    from fwrl.worlds import load_world

    if Path(world).is_file() and is_archive(world):
        raise FwrlError(f"{world!r} is a saved agent, not a world; the agent comes first: {world} {file}")
    return load_world(world)


def agent_in(file: Path, world: World) -> Agent:
    """Load the agent; raise if it was trained in a world of another size."""
    from fwrl.agents import load

    agent = load(file)
    if (agent.n_states, agent.n_actions) != (world.n_states, world.n_actions):
        raise FwrlError(
            f"the agent in {str(file)!r} has {agent.n_states:,} states and {agent.n_actions} actions, but the world "
            f"{world.name!r} has {world.n_states:,} and {world.n_actions}; name the world it was trained in"
        )
    return agent


def state_named(world: World, text: str, what: str) -> int:
    """Parse a state given as x,y, as a label or as a number."""
    from fwrl.worlds.sizes import MOST_DIGITS

    x, comma, y = text.partition(",")
    if comma and world.positions is not None:
        try:
            return world.state_at(float(x), float(y))
        except FwrlError as error:
            raise FwrlError(f"{error}; fwrl worlds WORLD shows its map") from error
        except ValueError:
            pass
    if world.labels is not None and text in world.labels:
        return world.labels.index(text)
    if text.isdecimal() and len(text) <= MOST_DIGITS and int(text) < world.n_states:
        return int(text)
    place = " or as x,y" if world.positions is not None else ""
    raise FwrlError(f"expected a {what} as a state from 0 to {world.n_states - 1:,}{place}, got {text!r}")
