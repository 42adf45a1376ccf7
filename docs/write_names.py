"""Write docs/reference/names.md: every agent with its options, every world and every environment, from the program.

python docs/write_names.py
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from fwrl.agents import agent_classes
from fwrl.envs.registration import IDS, MAX_EPISODE_STEPS
from fwrl.worlds import describe_worlds

PAGE = Path(__file__).with_name("reference") / "names.md"
HEAD = """# Agents, worlds and environments by name

What `fwrl.make_agent`, `fwrl.load_world` and `gymnasium.make` take. This page is written by `make docs-numbers` from
the program itself; `fwrl agents` and `fwrl worlds` list the same, with what other packages have added.
"""
AGENTS = """## Agents

`fwrl.make_agent("ql", n_states, n_actions, learning_rate=0.5)` in Python; on the command line
`fwrl train --agent ql --option learning_rate=0.5` and `fwrl compare --agents "fwrl ql:learning_rate=0.5"`.
"""
WORLDS = """## Worlds

`fwrl.load_world("four-rooms")` in Python, the name alone on the command line. Replace the words in capitals. The
path of a text map (`.txt`) or of a MovingAI map (`.map`) also names a world.
"""
ENVIRONMENTS = f"""## Environments

`gymnasium.make("fwrl/FourRooms-v0")`, after `import fwrl`. Episodes are truncated after {MAX_EPISODE_STEPS} steps.
"""


def reference() -> str:
    """The page."""
    agents = [line for name, kind in agent_classes().items() for line in agent_section(name, kind)]
    worlds = [(f"`{each.name}`", f"{each.states or ''}", each.description) for each in describe_worlds()]
    ids = [(f"`{name}`", f"`{given['world']}`" if given else "any: pass `map=`") for name, given in IDS.items()]
    parts = [HEAD, AGENTS, *agents, WORLDS, *table(("name", "states", "what it is"), worlds)]
    return "\n".join([*parts, ENVIRONMENTS, *table(("id", "world"), ids)])


def agent_section(name: str, kind: Any) -> Iterator[str]:
    """An agent: what it is, and its options."""
    yield f"### {name}\n"
    yield f"{kind.description[0].upper()}{sentence(kind.description[1:])}\n"
    meanings = described(kind.Config)
    rows = [(f"`{each.name}`", f"`{each.default!r}`", sentence(meanings[each.name])) for each in fields(kind.Config)]
    yield from table(("option", "default", "meaning"), rows)


def described(config: type) -> dict[str, str]:
    """The description of each option, from the class of an agent's options and those it is derived from.

    >>> from fwrl.agents import agent_class
    >>> described(agent_class("rmax").Config)["known_after"]
    'm, the number of tries after which an action counts as known.'
    """
    found: dict[str, str] = {}
    for kind in reversed(config.__mro__):
        _, _, attributes = (inspect.cleandoc(kind.__doc__ or "")).partition("Attributes:\n")
        for name, text in re.findall(r"^ {4}(\w+): (.*(?:\n {5,}.*)*)", attributes, re.MULTILINE):
            found[name] = " ".join(text.split())
    return found


def sentence(text: str) -> str:
    """A description with a full stop."""
    return f"{text.removesuffix('.')}."


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    """The lines of a table; nothing without rows."""
    lines = [head, tuple("---" for _ in head), *rows]
    return [*(f"| {' | '.join(cells)} |" for cells in lines), ""] if rows else []


def main() -> None:
    """Write the page."""
    PAGE.write_text(reference(), encoding="utf-8")


if __name__ == "__main__":
    main()
