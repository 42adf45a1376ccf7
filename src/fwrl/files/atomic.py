"""Replacing a file all or nothing.

The new content is written to a draft beside the file, which is then renamed. A symbolic link is followed, so that the
file it names is replaced; permissions stay as they were. What is not a regular file is refused: renaming a draft over a
device or a pipe would replace it by a file. A draft is locked while its process lives, so that drafts of killed
processes can be told and removed. On Windows an open file cannot be removed, which serves as the lock.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from fwrl.errors import FileError
from fwrl.files.locks import release, try_lock

DRAFT = ".part"
KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
}


def output_file(path: str | Path) -> Path:
    """The regular file that writing to `path` replaces, links followed; FileError if it cannot be written.

    Args:
        path: Where output is to go. The file need not exist, its folder must.

    Returns:
        The absolute path of the file.

    """
    target = Path(os.path.realpath(path))
    try:
        mode = Path(path).stat().st_mode  # of what is open where the path is /dev/stdout, which has no real path
    except FileNotFoundError:
        mode = None
    except OSError as error:
        raise FileError(f"cannot write {str(path)!r}: {error.strerror or error}") from error
    if mode is not None and not stat.S_ISREG(mode):
        kind = KINDS.get(stat.S_IFMT(mode), "no regular file")
        raise FileError(f"cannot write: {str(path)!r} is {kind}; choose the name of a file")
    if not target.parent.is_dir():
        raise FileError(f"expected an existing folder for {str(path)!r}; make it first")
    if mode is not None and not os.access(target, os.W_OK):
        raise FileError(f"cannot write {str(path)!r}: the file is read-only; choose another name, or allow writing")
    check_folder(target.parent)
    return target


def check_folder(folder: Path) -> None:
    """Check that a file can be made in a folder.

    Args:
        folder: An existing folder.

    Raises:
        FileError: no file can be made there.

    """
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise FileError(f"cannot write into the folder {str(folder)!r}: {error.strerror or error}") from error


@contextlib.contextmanager
def replaced(path: str | Path) -> Iterator[Path]:
    """A temporary file beside `path` that replaces it when the block ends without an error.

    After an error, or a crash at any moment, `path` is unchanged.

    Args:
        path: The file to replace or to make.

    Yields:
        The path of the temporary file.

    Raises:
        FileError: the file cannot be written.

    """
    target = output_file(path)
    _remove_abandoned(target)
    try:
        draft, lock = _draft(target)
    except OSError as error:
        raise FileError(f"cannot write {str(path)!r}: {error.strerror or error}") from error
    try:
        yield draft
        _flush(draft)
        _keep_owner_and_mode(target, draft)
        if sys.platform == "win32":
            lock.close()
        draft.replace(target)
        _flush_folder(target.parent)
    except OSError as error:
        raise FileError(f"cannot write {str(path)!r}: {error.strerror or error}") from error
    finally:
        release(lock, lambda: draft.unlink(missing_ok=True))


def _draft(target: Path) -> tuple[Path, IO[bytes]]:
    """A new draft of `target`, and the open file that locks it."""
    while True:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=DRAFT)
        lock = os.fdopen(handle, "rb", buffering=0)
        # Another process may have taken it for abandoned before it was locked.
        if _try_lock(lock) and Path(name).exists():
            return Path(name), lock
        lock.close()


def _try_lock(draft: IO[bytes]) -> bool:
    return sys.platform == "win32" or try_lock(draft)


def _remove_abandoned(target: Path) -> None:
    """Remove the drafts of `target` whose processes were killed."""
    for draft in target.parent.glob(f".{_literal(target.name)}.*{DRAFT}"):
        with contextlib.suppress(OSError), draft.open("r+b", buffering=0) as lock:
            if _try_lock(lock):
                release(lock, draft.unlink)


def _literal(name: str) -> str:
    """A pattern that matches `name` alone."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def _keep_owner_and_mode(target: Path, draft: Path) -> None:
    """Give `draft` the permissions of the file it replaces, or those of a new file."""
    if not target.exists():
        draft.chmod(0o666 & ~_umask())
        return
    before, now = target.stat(), draft.stat()
    if sys.platform != "win32" and (before.st_uid, before.st_gid) != (now.st_uid, now.st_gid):
        with contextlib.suppress(PermissionError):  # only the superuser may give files away
            os.chown(draft, before.st_uid, before.st_gid)
    draft.chmod(stat.S_IMODE(before.st_mode))


def _flush(path: Path) -> None:
    with path.open("r+b") as file:
        os.fsync(file)


def _flush_folder(folder: Path) -> None:
    if sys.platform == "win32":
        return  # folders cannot be opened there
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
