"""The play page: two agents side by side on one board, learning while you watch.

From the bottom up: `board_world` numbers every cell, `likely_route` follows a greedy policy along the likeliest
outcomes, `value_field` is what an agent knows about one goal and `knowledge` what it knows about all, `experience` is
what it has observed, `training` what it has done, `stitches` which trip first made each step, `update` what one step
changed, and `curve` how episodes went. `roster` lists the agents, `world_menu` the worlds. A `runner` is one agent in
the loop of the paper's protocol, a `match` is a world with two runners, `inspection` is what they know about one cell,
and `judge` compares them with the oracle. A
`scenario` is what a page shows, in a few lines (`scenario_text`, `python_code`); with a card it is one of the
`lessons`. A `session` is a match that plays at some speed, with its `history`. `frame` encodes what moves, `opening`
is what a page is sent first, `messages` what it may send, `tour` the guided tour. The `workshop` makes matches, the
`driver` sends what changes with time, and the `controller` does what one open page asks for.
"""

from functools import partial
from pathlib import Path

from fwrl.web.page import PageKind
from fwrl.web.play.controller import PlayController
from fwrl.web.play.lessons import Lesson, read_lesson
from fwrl.web.play.messages import TYPES

PLAY = PageKind("play", Path(__file__).with_name("static"), TYPES, PlayController)


def play_page(lesson: Lesson | None = None) -> PageKind:
    """The page, which begins with this lesson.

    Args:
        lesson: From `read_lesson`; None for the first world.

    Returns:
        A page for `fwrl.web.serve`.
    """
    return PLAY._replace(controller=partial(PlayController, lesson=lesson))


__all__ = ["PLAY", "play_page", "read_lesson"]
