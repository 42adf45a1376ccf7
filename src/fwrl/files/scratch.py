"""Folders for temporary files, which outlive no run for long.

A folder is removed when its block ends. That of a killed process stays; the next block to begin removes it. A lock on a
file inside tells the folders in use from the others.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO

from fwrl.errors import FileError
from fwrl.files.locks import release, try_lock

PREFIX = "fwrl-scratch-"
LOCK = "lock"


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """An empty folder in the system's place for temporary files; removed when the block ends.

    Yields:
        The path of the folder.

    """
    _remove_abandoned()
    try:
        folder, lock = _made()
    except OSError as error:
        raise FileError(f"cannot make a folder for temporary files: {error.strerror or error}") from error
    try:
        yield folder
    finally:
        release(lock, partial(shutil.rmtree, folder, ignore_errors=True))


def _made() -> tuple[Path, IO[bytes]]:
    """A new folder, and the file that locks it."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        lock = (folder / LOCK).open("xb", buffering=0)
        # Another process may have taken it for abandoned before it was locked.
        if try_lock(lock) and (folder / LOCK).exists():
            return folder, lock
        lock.close()


def _remove_abandoned() -> None:
    """Remove the folders whose processes were killed."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{LOCK}"):
        with contextlib.suppress(OSError), path.open("r+b", buffering=0) as lock:  # others' folders cannot be opened
            if try_lock(lock):
                release(lock, partial(shutil.rmtree, path.parent, ignore_errors=True))
