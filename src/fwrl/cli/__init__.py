"""The command line. Each command has its own file and imports heavy packages only when it runs."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
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
from fwrl.display import visible
from fwrl.errors import FwrlError

STOPPED = 130  # the exit code for Ctrl-C
TERMINATED = 143  # the exit code for SIGTERM

app = typer.Typer(
    name="fwrl",
    invoke_without_command=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: fwrl play",
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


# The commands by the group that `fwrl --help` shows them in, each with an example.
COMMANDS: dict[str, tuple[tuple[Callable[..., None], str], ...]] = {
    "Learn": (
        (play, "fwrl play --lesson my-lesson.toml"),
        (worlds, "fwrl worlds windy-four-rooms"),
        (agents, "fwrl agents --json"),
        (train, "fwrl train four-rooms --agent fwrl --episodes 20 --out rooms.fwrl"),
        (evaluate, "fwrl evaluate rooms.fwrl four-rooms"),
        (show, "fwrl show rooms.fwrl four-rooms --goal 9,9 --start 1,1 --picture route.png"),
    ),
    "Logs": (
        (fit, "fwrl fit trips.csv -o trips.fwrl"),
        (explore, "fwrl explore trips.fwrl --positions places.csv"),
        (plan, "fwrl plan trips.fwrl dock-1 shelf-7"),
        (explain, "fwrl explain trips.fwrl dock-1 shelf-7"),
        (states, "fwrl states trips.fwrl 'dock-*'"),
        (matrix, "fwrl matrix trips.fwrl --from 'dock-*' --to shelf-7 --to @shelves.txt"),
        (reachable, "fwrl reachable trips.fwrl dock-1 60"),
        (within, "fwrl within trips.fwrl shelf-7 60"),
        (quantiles, "fwrl quantiles trips.fwrl dock-1 shelf-7 --log trips.csv -q 0.9"),
    ),
    "Paper": (
        (reproduce, "fwrl reproduce --seeds 5 --out quick"),
        (compare, "fwrl compare four-rooms windy-four-rooms --seeds 10"),
        (export, "fwrl export results"),
    ),
    "Files": (
        (check, "fwrl check rooms.fwrl"),
        (merge, "fwrl merge monday.fwrl tuesday.fwrl -o week.fwrl"),
    ),
}
for _group, _commands in COMMANDS.items():
    for _command, _example in _commands:
        # Joined lines: typer would keep the line breaks of docstrings in paragraphs.
        _help = re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.getdoc(_command) or "")
        app.command(help=_help, rich_help_panel=_group, epilog=f"Example: {_example}")(_command)


# Typer's words for a value that isn't a number or out of range, and ours.
PARSED = {
    r"Input should be greater than or equal to (\S+)": r"expected at least \1",
    r"Input should be less than or equal to (\S+)": r"expected at most \1",
    "Value error, ": "",
    "Input should be a valid integer, unable to parse string as an integer": "expected a whole number like 1000",
    "Input should be a valid number, unable to parse string as a number": "expected a number like 0.5",
}
# The base class of errors about unknown commands and options. Typer exports only its subclasses.
USAGE_ERROR: Any = typer.BadParameter.__base__


def main() -> None:
    """Run the command line. Bad input gives exit code 2 and one sentence, never a traceback."""
    if sys.stdout is None:
        sys.exit(_print_error("standard output is closed; redirect it to a file or to /dev/null"))
    _write_every_character()
    try:
        with _ended_in_order():
            code = app(prog_name="fwrl", standalone_mode=False)
            sys.stdout.flush()
    except SystemExit as error:  # Typer turns a closed pipe into this, with code 1
        code = _drop_output() if isinstance(error.__context__, BrokenPipeError) else error.code
    except FwrlError as error:
        code = _print_error(str(error))
    except USAGE_ERROR as error:
        code = _print_error(_usage(error))
    except (KeyboardInterrupt, typer.Abort):
        code = STOPPED
    except BrokenPipeError:
        code = _drop_output()
    except MemoryError:
        code = _print_error("out of memory; choose a smaller world, fewer steps or smaller tables")
    except OSError as error:
        reason = error.strerror or str(error)
        what = f"use {str(error.filename)!r}" if error.filename else "write the output"
        code = _print_error(f"cannot {what}: {reason[:1].lower()}{reason[1:]}")
        _drop_output()
    if code == STOPPED:
        typer.echo("fwrl: stopped", err=True)
    sys.exit(code)


def _usage(error: Any) -> str:
    """Say what's wrong with the arguments, with a hint if a place such as -3 was taken for an option."""
    message = error.format_message()
    for parsed, wanted in PARSED.items():
        message = re.sub(parsed, wanted, message)
    where = error.ctx.command_path if error.ctx else "fwrl"
    looks_negative = re.match(r"-[\d.]", getattr(error, "option_name", ""))
    hint = "; put -- before a name that starts with -" if looks_negative else ""
    return f"{message[:1].lower()}{message[1:].rstrip('.')}{hint}; see {where} --help"


def _drop_output() -> int:
    """Discard unwritten output, so that Python doesn't try again at exit; return the exit code of success."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _write_every_character() -> None:
    r"""Write characters the output's encoding lacks as `\uXXXX`; on Windows, write UTF-8 to files and pipes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            redirected = sys.platform == "win32" and not stream.isatty() and "PYTHONIOENCODING" not in os.environ
            stream.reconfigure(encoding="utf-8" if redirected else None, errors="backslashreplace")


@contextlib.contextmanager
def _ended_in_order() -> Iterator[None]:
    """End the command on SIGTERM as on an error, so that temporary files are removed."""
    asked = False

    def end(*_: object) -> None:
        nonlocal asked
        asked = True
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second signal would interrupt the cleanup
        sys.exit(TERMINATED)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except (KeyboardInterrupt, typer.Abort):  # DuckDB turns any exception in a handler into one, Typer into the other
        if not asked:
            raise
    finally:
        signal.signal(signal.SIGTERM, before)
    if asked:  # Typer may have chosen another exit code
        sys.exit(TERMINATED)


def _print_error(message: str) -> int:
    """Print one line to standard error and return the exit code for bad input."""
    with contextlib.suppress(OSError):  # standard error may be full or closed, too
        typer.echo(f"fwrl: {visible(message)}", err=True)
    return 2
