"""Checks of output paths before a command starts its work."""

from __future__ import annotations

from pathlib import Path

from fwrl.errors import FileError


def check_file(out: Path) -> None:
    """Raise an error if `out` cannot be written as a file."""
    if not out.resolve().parent.is_dir():
        raise FileError(f"expected an existing folder for {str(out)!r}; make it first")
    if out.is_dir():
        raise FileError(f"expected a file to write, {str(out)!r} is a folder")


def check_saved_file(out: Path) -> None:
    """Raise an error if `out` cannot be written, or is a file that fwrl did not save and would overwrite."""
    from fwrl.files import is_archive

    check_file(out)
    if out.is_file() and out.stat().st_size > 0 and not is_archive(out):
        raise FileError(f"{str(out)!r} is there already and was not saved by fwrl; choose another name, or delete it")


def make_folder(out: Path) -> Path:
    """Make the folder `out` if it does not exist, and return it."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {str(out)!r}: {error.strerror}") from error
    return out
