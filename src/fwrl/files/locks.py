"""Locks between processes.

A file stays locked while it's read, changed and written back, by a lock file next to it. The operating system holds the
lock, so a killed process holds none. The holder's name in its lock file is then out of date, and the next holder
overwrites it.

Windows can't remove or rename an open file, so there we release a lock just before removing its file.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from fwrl.errors import FileError

if sys.platform == "win32":
    import msvcrt

    LOCKED = OSError  # the exact error depends on the version
else:
    import fcntl

    LOCKED = BlockingIOError

POLL = 0.1  # seconds between two tries
LOCKED_BYTE = 2**30  # Windows doesn't let others read locked bytes, so lock one far behind the holder's name


class LockedError(FileError):
    """A file that another process is changing.

    Attributes:
        path: the file.
        holder: the process that's changing it, and since when.
    """

    def __init__(self, path: str | Path, holder: str) -> None:
        super().__init__(f"{str(path)!r} is in use by {holder}; try again when it has finished")
        self.path, self.holder = path, holder


def try_lock(file: IO[bytes]) -> bool:
    """Try to lock an open, unbuffered file; the lock lasts until the file is closed."""
    try:
        if sys.platform == "win32":
            file.seek(LOCKED_BYTE)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except LOCKED:
        return False
    return True


def release(file: IO[bytes], remove: Callable[[], object]) -> None:
    """Remove a locked file, or the folder it locks, and close it.

    Removing it first keeps other processes from locking something that's about to go. Windows needs the other order; if
    another process locks it in between, it can't be removed there, and stays.
    """
    if sys.platform == "win32":
        file.close()
        with contextlib.suppress(PermissionError):
            remove()
    else:
        with file:
            remove()


@contextlib.contextmanager
def locked(path: str | Path, wait: bool = False, waiting: Callable[[str], None] | None = None) -> Iterator[None]:
    """Lock the file `path` for the length of the block, against other processes that use this function.

    Args:
        path: the file doesn't need to exist, but its folder does.
        wait: wait for another holder to finish, instead of raising `LockedError`.
        waiting: called once with the holder when waiting starts.

    >>> from fwrl.files import scratch_folder
    >>> with scratch_folder() as folder, locked(folder / "x.fwrl"):
    ...     with locked(folder / "x.fwrl"):  # doctest: +ELLIPSIS
    ...         pass
    Traceback (most recent call last):
    fwrl.files.locks.LockedError: '...x.fwrl' is in use by ...; try again when it has finished
    """
    target = Path(os.path.realpath(path))
    lock = target.with_name(f".{target.name}.lock")
    try:
        file = _acquired(path, lock, wait, waiting)
    except OSError as error:
        raise FileError(f"cannot lock {str(path)!r}: {error.strerror or error}") from error
    try:
        yield
    finally:
        release(file, lambda: lock.unlink(missing_ok=True))  # a waiting process makes a new one


def _acquired(path: str | Path, lock: Path, wait: bool, waiting: Callable[[str], None] | None) -> IO[bytes]:
    """Return the lock file, locked."""
    while True:
        file = lock.open("a+b", buffering=0)
        try:
            while not try_lock(file):
                file.seek(0)
                holder = file.read(1000).decode(errors="replace").strip() or "another process"
                if not wait:
                    raise LockedError(path, holder)
                if waiting is not None:
                    waiting(holder)
                    waiting = None
                time.sleep(POLL)
            if _is_same(file, lock):
                file.truncate(0)
                file.write(_signature().encode())
                return file
        except BaseException:
            file.close()
            raise
        file.close()  # its holder finished and removed it


def _is_same(file: IO[bytes], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _signature() -> str:
    return f"process {os.getpid()} on {socket.gethostname()} since {time.strftime('%Y-%m-%d %H:%M:%S')}\n"
