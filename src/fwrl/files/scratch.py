"""Folders for temporary files, which outlive no run for long.

A folder is removed when its block ends. That of a killed process stays; the next block to begin removes it. A lock on a
file inside tells the folders in use from the others.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from fwrl.errors import FileError
from fwrl.files.locks import try_lock

PREFIX = "fwrl-scratch-"
LOCK = "lock"


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """An empty folder in the system's place for temporary files; removed when the block ends."""
    _remove_abandoned()
    try:
        folder, handle = _made()
    except OSError as error:
        raise FileError(f"cannot make a folder for temporary files: {error.strerror or error}") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def _made() -> tuple[Path, int]:
    """A new folder, and the handle that locks it."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        # Another process may have taken it for abandoned before it was locked.
        if try_lock(handle) and (folder / LOCK).exists():
            return folder, handle
        os.close(handle)


def _remove_abandoned() -> None:
    """Remove the folders whose processes were killed."""
    for lock in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{LOCK}"):
        with contextlib.suppress(OSError):  # others' folders cannot be opened
            handle = os.open(lock, os.O_RDWR)
            try:
                if try_lock(handle):
                    shutil.rmtree(lock.parent, ignore_errors=True)
            finally:
                os.close(handle)
