"""The play page: two agents side by side in one world, learning while you watch.

From the bottom up: `likely_route` follows a greedy policy along the likeliest outcomes, `value_field` is what an agent
knows about one goal, `stitches` records which trip first made each step, and `curve` how episodes went. `roster` lists
the agents, `world_menu` the worlds. A `runner` is one agent in the loop of the paper's protocol, a `match` is a world
with two runners, `judge` compares them with the oracle, and a `session` is a match that plays at some speed. `frame`
encodes what moves, `messages` is what the page may send, `tour` the guided tour. The `controller` connects all of it
to one open page.
"""

from pathlib import Path

from fwrl.web.page import PageKind
from fwrl.web.play.controller import PlayController
from fwrl.web.play.messages import TYPES

PLAY = PageKind("play", Path(__file__).with_name("static"), TYPES, PlayController)

__all__ = ["PLAY"]
