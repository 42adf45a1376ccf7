"""Where commands write: found wanting before the work, not after it."""

from __future__ import annotations

from pathlib import Path

from fwrl.errors import FileError


def check_place(out: Path) -> None:
    """Refuse a file that could not be written."""
    if not out.resolve().parent.is_dir():
        raise FileError(f"expected an existing folder for {str(out)!r}; make it first")
    if out.is_dir():
        raise FileError(f"expected a file to write, {str(out)!r} is a folder")


def make_folder(out: Path) -> Path:
    """The folder `out`, made if need be."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {str(out)!r}: {error.strerror}") from error
    return out
