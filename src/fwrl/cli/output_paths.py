"""Check output paths before a command starts work, and lock a file while it changes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import typer

from fwrl.errors import FileError


def check_file(out: Path) -> None:
    """Raise if `out` can't be written as a file."""
    from fwrl.files import output_file

    output_file(out)


def check_saved_file(out: Path) -> None:
    """Raise if `out` can't be written, or if it would overwrite a file that fwrl didn't save."""
    from fwrl.files import is_archive

    check_file(out)
    if out.is_file() and out.stat().st_size > 0 and not is_archive(out):
        raise FileError(f"{str(out)!r} exists and wasn't saved by fwrl; choose another name, or delete it")


@contextlib.contextmanager
def changing(out: Path, wait: bool | None = None) -> Iterator[None]:
    """Lock `out` while a command changes it; `wait` is None for commands without a flag --wait."""
    from fwrl.files import LockedError, locked

    def report(holder: str) -> None:
        typer.echo(f"waiting for {holder} to finish with {out}", err=True)

    try:
        with locked(out, bool(wait), report):
            yield
    except LockedError as error:
        if wait is None:
            raise
        raise FileError(f"{str(error.path)!r} is in use by {error.holder}; wait for it with --wait") from error


def make_folder(out: Path) -> Path:
    """Create the folder `out` if needed, check that it's writable, and return it."""
    from fwrl.files import check_folder

    try:
        out.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise FileError(f"can't create the folder {str(out)!r}: a file has that name; choose another --out") from error
    except OSError as error:
        raise FileError(f"can't create the folder {str(out)!r}: {error.strerror}") from error
    check_folder(out)
    return out
