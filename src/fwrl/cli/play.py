"""`fwrl play`: open the play page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Host = Annotated[str, typer.Option(help="Listen on this address; 0.0.0.0 lets others on your network open the page.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Listen on this port, or the next free one.")]
Browser = Annotated[bool, typer.Option(help="Open the page in the browser.")]


def play(
    host: Host = "127.0.0.1",
    port: Port = 8765,
    browser: Browser = True,
    lesson: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Open the lesson or scenario in this file (see docs/class.md)."),
    ] = None,
) -> None:
    """Watch two agents learn side by side in the browser; click any cell to move the goal there."""
    from fwrl.web import Limits, serve
    from fwrl.web.play import play_page, read_lesson

    page = play_page(None if lesson is None else read_lesson(lesson))
    serve(page, host, port, browser=browser, limits=Limits(seconds=60), say=typer.echo)
