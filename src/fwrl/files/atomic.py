"""Replacing a file all or nothing."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from fwrl.errors import FileError


@contextlib.contextmanager
def replaced(path: str | Path) -> Iterator[Path]:
    """A temporary file beside `path` that replaces it when the block ends without an error.

    After an error, or a crash at any moment, `path` is unchanged.
    """
    target = Path(path)
    if target.is_dir():
        raise FileError(f"cannot write: {str(target)!r} is a folder")
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    except OSError as error:
        raise FileError(f"cannot write {str(target)!r}: {error.strerror or error}") from error
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        _flush(draft)
        draft.chmod(0o666 & ~_umask())
        draft.replace(target)
        _flush(target.parent)
    except OSError as error:
        raise FileError(f"cannot write {str(target)!r}: {error.strerror or error}") from error
    finally:
        draft.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
