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


def check_saved_place(out: Path) -> None:
    """The same for what fwrl saves; nothing else is replaced by it."""
    from fwrl.files import is_archive

    check_place(out)
    if out.is_file() and out.stat().st_size > 0 and not is_archive(out):
        raise FileError(f"{str(out)!r} is there already and was not saved by fwrl; choose another name, or remove it")


def make_folder(out: Path) -> Path:
    """The folder `out`, made if need be."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {str(out)!r}: {error.strerror}") from error
    return out
