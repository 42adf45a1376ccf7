"""`fwrl play`: serve the play page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Host = Annotated[
    str, typer.Option(help="The address to listen on; any but this computer's own opens the page to others.")
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="The port; the next free one is used if it is taken.")]
Browser = Annotated[bool, typer.Option(help="Open the page in the browser.")]


def play(
    host: Host = "127.0.0.1",
    port: Port = 8765,
    browser: Browser = True,
    lesson: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Begin with the lesson or scenario in this file (docs/play.md).")
    ] = None,
) -> None:
    """Open a local page on which two agents learn side by side, and any cell clicked becomes the goal."""
    from fwrl.web import serve
    from fwrl.web.play import play_page, read_lesson

    page = play_page(None if lesson is None else read_lesson(lesson))
    serve([page], host, port, browser=browser, say=typer.echo)
