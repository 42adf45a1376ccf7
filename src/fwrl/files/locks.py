"""Locks between processes.

A file that is read, changed and written again is locked for as long as that takes, by a lock file beside it. The
operating system holds the lock, so a killed process holds none; what its lock file says is then out of date, and the
next holder writes its own.

Windows neither removes nor renames a file that is open, so there a lock is given up just before its file is removed.
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

    LOCKED = OSError  # which error it is depends on the version
else:
    import fcntl

    LOCKED = BlockingIOError

POLL = 0.1  # seconds between two tries
LOCKED_BYTE = 2**30  # on Windows others cannot read what is locked, so it is a byte far behind the holder's name


class LockedError(FileError):
    """A file that another process is changing.

    Attributes:
        path: The file.
        holder: Which process changes it, and since when.

    """

    def __init__(self, path: str | Path, holder: str) -> None:
        super().__init__(f"{str(path)!r} is in use by {holder}; try again when it has finished")
        self.path, self.holder = path, holder


def try_lock(file: IO[bytes]) -> bool:
    """Whether an open, unbuffered file could be locked; it is until it is closed."""
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
    """Remove what a locked file stands for, and close it.

    It is removed first, so that no other process locks what is about to go. Windows needs the other order; what was
    locked again in between is in use there, cannot be removed, and stays.

    Args:
        file: The locked file.
        remove: Removes it, or the folder that it locks.

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
    """Lock the file `path` against other processes that use this function, for the length of the block.

    Args:
        path: The file, which need not exist; its folder must.
        wait: Wait until another holder has finished; otherwise that is a `LockedError`.
        waiting: Called once with the holder when the wait begins.

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
        release(file, lambda: lock.unlink(missing_ok=True))  # a process that waits for it makes a new one


def _acquired(path: str | Path, lock: Path, wait: bool, waiting: Callable[[str], None] | None) -> IO[bytes]:
    """The lock file, locked."""
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
        file.close()  # its holder removed it when it had finished


def _is_same(file: IO[bytes], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _signature() -> str:
    return f"process {os.getpid()} on {socket.gethostname()} since {time.strftime('%Y-%m-%d %H:%M:%S')}\n"
