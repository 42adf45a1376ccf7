"""The play page: two agents side by side on one board, learning while you watch.

From the bottom up: `menus` lists worlds as boards, and agents; `protocol` has the frames
that a page is sent. A `runner` is one agent in the loop of the paper's protocol, with its history, `interpreted`
until it is compiled; `view` is what agents know as the page draws it, compared with the oracle, and a `match` is a
world with two runners. `update` is what one step changed. A `scenario` is what a page shows, in a few lines; with a
card it is a lesson. A `session` is a match that plays at some speed, with its undo history and the guided tour; the
`driver` sends what changes with time, and the `controller` does what one open page asks for.
"""

from functools import partial
from pathlib import Path

from fwrl.web.page import PageKind
from fwrl.web.play.controller import HANDLERS, PlayController
from fwrl.web.play.scenario import Lesson, read_lesson

PLAY = PageKind("play", Path(__file__).with_name("static"), HANDLERS, PlayController)


def play_page(lesson: Lesson | None = None) -> PageKind:
    """The page for `fwrl.web.serve`; it begins with a lesson from `read_lesson`, or with the first world."""
    return PLAY._replace(controller=partial(PlayController, lesson=lesson))


__all__ = ["PLAY", "play_page", "read_lesson"]
