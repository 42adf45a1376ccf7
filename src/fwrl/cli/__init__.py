"""The command line. Each command is one file; what is heavy is imported when a command runs."""

from __future__ import annotations

import sys

import typer

from fwrl import __version__
from fwrl.cli.agents import agents
from fwrl.cli.bench import bench
from fwrl.cli.check import check
from fwrl.cli.train import train
from fwrl.cli.worlds import worlds
from fwrl.errors import FwrlError

app = typer.Typer(
    name="fwrl",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: fwrl train four-rooms --agent fwrl --out rooms.fwrl",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fwrl {__version__}")
        raise typer.Exit


@app.callback()
def fwrl(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Floyd-Warshall Reinforcement Learning: learn from every trip, reach any goal."""


app.command(epilog="Example: fwrl worlds windy-four-rooms")(worlds)
app.command(epilog="Example: fwrl agents --json")(agents)
app.command(epilog="Example: fwrl train four-rooms --agent fwrl --episodes 20 --out rooms.fwrl")(train)
app.command(epilog="Example: fwrl check rooms.fwrl")(check)
app.command(epilog="Example: fwrl bench --only step")(bench)


def main() -> None:
    """Run the command line: bad input ends in exit code 2 and one sentence, never in a traceback."""
    try:
        app()
    except FwrlError as error:
        typer.echo(f"fwrl: {error}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        typer.echo("fwrl: stopped", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of a pipe (head, say) has seen enough.
        sys.stderr.close()
        sys.exit(0)
