"""Locks between processes.

A file that is read, changed and written again is locked for as long as that takes, by a lock file beside it. The
operating system holds the lock (flock), so a killed process holds none; what its lock file says is then out of date,
and the next holder writes its own.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from fwrl.errors import FileError

POLL = 0.1  # seconds between two tries


class LockedError(FileError):
    """A file that another process is changing.

    Attributes:
        path: The file.
        holder: Which process changes it, and since when.

    """

    def __init__(self, path: str | Path, holder: str) -> None:
        super().__init__(f"{str(path)!r} is in use by {holder}; try again when it has finished")
        self.path, self.holder = path, holder


def try_lock(handle: int) -> bool:
    """Whether an open file could be locked; it is until it is closed."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


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
        handle = _acquired(path, lock, wait, waiting)
    except OSError as error:
        raise FileError(f"cannot lock {str(path)!r}: {error.strerror or error}") from error
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)  # before it is unlocked: a process that waits for it then makes a new one
        os.close(handle)


def _acquired(path: str | Path, lock: Path, wait: bool, waiting: Callable[[str], None] | None) -> int:
    """The handle of the lock file, locked."""
    while True:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            while not try_lock(handle):
                holder = os.pread(handle, 1000, 0).decode(errors="replace").strip() or "another process"
                if not wait:
                    raise LockedError(path, holder)
                if waiting is not None:
                    waiting(holder)
                    waiting = None
                time.sleep(POLL)
            if _is_same(handle, lock):
                os.ftruncate(handle, 0)
                os.pwrite(handle, _signature().encode(), 0)
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # its holder removed it when it had finished


def _is_same(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _signature() -> str:
    return f"process {os.getpid()} on {socket.gethostname()} since {time.strftime('%Y-%m-%d %H:%M:%S')}\n"
