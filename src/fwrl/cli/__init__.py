"""The command line. Each command is one file and imports heavy packages only when it runs."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

import typer

from fwrl import __version__
from fwrl.cli.agents import agents
from fwrl.cli.check import check
from fwrl.cli.compare import compare
from fwrl.cli.evaluate import evaluate
from fwrl.cli.explain import explain
from fwrl.cli.explore import explore
from fwrl.cli.export import export
from fwrl.cli.fit import fit
from fwrl.cli.merge import merge
from fwrl.cli.plan import plan
from fwrl.cli.play import play
from fwrl.cli.questions import matrix, quantiles, reachable, within
from fwrl.cli.reproduce import reproduce
from fwrl.cli.show import show
from fwrl.cli.states import states
from fwrl.cli.train import train
from fwrl.cli.worlds import worlds
from fwrl.errors import FwrlError

STOPPED = 130  # the exit code for Ctrl-C
TERMINATED = 143  # the exit code for SIGTERM

app = typer.Typer(
    name="fwrl",
    invoke_without_command=True,
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
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Floyd-Warshall Reinforcement Learning: learn from every trip, reach any goal."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command(epilog="Example: fwrl reproduce --seeds 5 --out quick")(reproduce)
app.command(epilog="Example: fwrl compare four-rooms windy-four-rooms --seeds 10")(compare)
app.command(epilog="Example: fwrl export results")(export)
app.command(epilog="Example: fwrl worlds windy-four-rooms")(worlds)
app.command(epilog="Example: fwrl agents --json")(agents)
app.command(epilog="Example: fwrl train four-rooms --agent fwrl --episodes 20 --out rooms.fwrl")(train)
app.command(epilog="Example: fwrl evaluate rooms.fwrl four-rooms")(evaluate)
app.command(epilog="Example: fwrl show rooms.fwrl four-rooms --goal 9,9 --start 1,1 --picture way.png")(show)
app.command(epilog="Example: fwrl fit trips.csv -o trips.fwrl")(fit)
app.command(epilog="Example: fwrl merge monday.fwrl tuesday.fwrl -o week.fwrl")(merge)
app.command(epilog="Example: fwrl states trips.fwrl 'dock-*'")(states)
app.command(epilog="Example: fwrl plan trips.fwrl dock-1 shelf-7")(plan)
app.command(epilog="Example: fwrl explain trips.fwrl dock-1 shelf-7")(explain)
app.command(epilog="Example: fwrl matrix trips.fwrl --from 'dock-*' --to shelf-7 --to @shelves.txt")(matrix)
app.command(epilog="Example: fwrl reachable trips.fwrl dock-1 60")(reachable)
app.command(epilog="Example: fwrl within trips.fwrl shelf-7 60")(within)
app.command(epilog="Example: fwrl quantiles trips.fwrl dock-1 shelf-7 --log trips.csv -q 0.9")(quantiles)
app.command(epilog="Example: fwrl explore trips.fwrl --positions places.csv")(explore)
app.command(epilog="Example: fwrl check rooms.fwrl")(check)
app.command(epilog="Example: fwrl play --lesson my-lesson.toml")(play)


# The parent of all errors about unknown commands and options; Typer exports only this child of it.
USAGE_ERROR: Any = typer.BadParameter.__base__


def main() -> None:
    """Run the command line. Bad input gives exit code 2 and one sentence, never a traceback."""
    _write_every_character()
    try:
        with _ended_in_order():
            code = app(prog_name="fwrl", standalone_mode=False)
    except FwrlError as error:
        code = _print_error(str(error))
    except USAGE_ERROR as error:
        message = error.format_message()
        where = error.ctx.command_path if error.ctx else "fwrl"
        code = _print_error(f"{message[:1].lower()}{message[1:].rstrip('.')}; see {where} --help")
    except (KeyboardInterrupt, typer.Abort):
        code = STOPPED
    except BrokenPipeError:
        # The reader closed the pipe; at exit the interpreter must not flush the rest to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except MemoryError:
        code = _print_error("there is not enough memory; choose a smaller world, fewer steps or smaller tables")
    except OSError as error:
        code = _print_error(f"cannot use {str(error.filename)!r}: {error.strerror}" if error.filename else str(error))
    if code == STOPPED:
        typer.echo("fwrl: stopped", err=True)
    sys.exit(code)


def _write_every_character() -> None:
    r"""Write characters that the encoding of the output lacks as `\uXXXX`; files and pipes of Windows get UTF-8."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            redirected = sys.platform == "win32" and not stream.isatty() and "PYTHONIOENCODING" not in os.environ
            stream.reconfigure(encoding="utf-8" if redirected else None, errors="backslashreplace")


@contextlib.contextmanager
def _ended_in_order() -> Iterator[None]:
    """Let SIGTERM end the command like an error, so that temporary files are removed."""
    asked = False

    def end(*_: object) -> None:
        nonlocal asked
        asked = True
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one would interrupt the removal
        sys.exit(TERMINATED)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except (KeyboardInterrupt, typer.Abort):  # what DuckDB makes of any exception in a handler, and Typer of that
        if not asked:
            raise
    finally:
        signal.signal(signal.SIGTERM, before)
    if asked:  # Typer may also end with a code of its own
        sys.exit(TERMINATED)


def _print_error(message: str) -> int:
    """Print one line to standard error and return the exit code for bad input."""
    typer.echo(f"fwrl: {message}", err=True)
    return 2
