"""Write files so that a kill at any moment loses nothing that was finished.

`replaced` replaces a file all or nothing: it writes to a draft in the same folder, then renames the draft. It follows
symbolic links, so the linked file is replaced, and keeps permissions. It refuses anything that isn't a regular file:
renaming a draft over a device or a pipe would turn it into a file.

`scratch_folder` is a folder for temporary files, removed when the block ends.

Drafts and scratch folders are locked while their process lives. The next process recognises those of killed processes
by the missing lock and removes them. On Windows an open file can't be removed, which serves as the lock of a draft.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO

from fwrl.arguments import check_path
from fwrl.errors import FileError
from fwrl.files.locks import release, try_lock

DRAFT = ".part"
SCRATCH = "fwrl-scratch-"
SCRATCH_LOCK = "lock"
KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
}


def output_file(path: str | Path) -> Path:
    """Return the absolute path of the regular file that writing to `path` replaces, following links.

    The file doesn't need to exist, but its folder does. FileError if the file can't be written.

    >>> output_file("nowhere/x.fwrl")
    Traceback (most recent call last):
    fwrl.errors.FileError: cannot write 'nowhere/x.fwrl': its folder doesn't exist; make it first
    """
    path = check_path(path, "a file to write")
    target = Path(os.path.realpath(path))
    try:
        mode = Path(path).stat().st_mode  # works for an open /dev/stdout too, which has no real path
    except FileNotFoundError:
        mode = None
    except OSError as error:
        raise FileError(f"cannot write {str(path)!r}: {error.strerror or error}") from error
    if mode is not None and not stat.S_ISREG(mode):
        kind = KINDS.get(stat.S_IFMT(mode), "not a regular file")
        raise FileError(f"cannot write: {str(path)!r} is {kind}; choose the name of a file")
    if not target.parent.is_dir():
        raise FileError(f"cannot write {str(path)!r}: its folder doesn't exist; make it first")
    if mode is not None and not os.access(target, os.W_OK):
        raise FileError(f"cannot write {str(path)!r}: the file is read-only; choose another name, or allow writing")
    check_folder(target.parent)
    return target


def check_folder(folder: Path) -> None:
    """Raise FileError unless files can be created in an existing folder.

    >>> check_folder(Path.cwd() / "nowhere")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    fwrl.errors.FileError: cannot write into the folder '...nowhere': No such file or directory
    """
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise FileError(f"cannot write into the folder {str(folder)!r}: {error.strerror or error}") from error


@contextlib.contextmanager
def replaced(path: str | Path) -> Iterator[Path]:
    """Yield a temporary file next to `path` that replaces it when the block ends without an error.

    After an error, or a crash at any moment, `path` is unchanged. FileError if the file can't be written.

    >>> with scratch_folder() as folder:
    ...     with replaced(folder / "x.txt") as draft:
    ...         _ = draft.write_text("new")
    ...     (folder / "x.txt").read_text()
    'new'
    """
    target = output_file(path)
    _remove_abandoned_drafts(target)
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
    """Make a new draft of `target`, and return it with the open file that locks it."""
    while True:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=DRAFT)
        lock = os.fdopen(handle, "rb", buffering=0)
        # Another process may have removed it as abandoned before we locked it.
        if _try_lock(lock) and Path(name).exists():
            return Path(name), lock
        lock.close()


def _try_lock(draft: IO[bytes]) -> bool:
    return sys.platform == "win32" or try_lock(draft)


def _remove_abandoned_drafts(target: Path) -> None:
    """Remove the drafts of `target` whose processes were killed."""
    for draft in target.parent.glob(f".{_literal(target.name)}.*{DRAFT}"):
        with contextlib.suppress(OSError), draft.open("r+b", buffering=0) as lock:
            if _try_lock(lock):
                release(lock, draft.unlink)


def _literal(name: str) -> str:
    """Return a glob pattern that matches only `name`."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def _keep_owner_and_mode(target: Path, draft: Path) -> None:
    """Give `draft` the permissions of the file it replaces, or those of a new file."""
    if not target.exists():
        draft.chmod(0o666 & ~_umask())
        return
    before, now = target.stat(), draft.stat()
    if sys.platform != "win32" and (before.st_uid, before.st_gid) != (now.st_uid, now.st_gid):
        with contextlib.suppress(PermissionError):  # only the superuser may change owners
            os.chown(draft, before.st_uid, before.st_gid)
    draft.chmod(stat.S_IMODE(before.st_mode))


def _flush(path: Path) -> None:
    with path.open("r+b") as file:
        os.fsync(file)


def _flush_folder(folder: Path) -> None:
    if sys.platform == "win32":
        return  # folders can't be opened there
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield an empty temporary folder, removed when the block ends.

    >>> with scratch_folder() as folder:
    ...     list(folder.glob("*.txt"))
    []
    >>> folder.exists()
    False
    """
    _remove_abandoned_folders()
    try:
        folder, lock = _locked_folder()
    except OSError as error:
        raise FileError(f"cannot make a folder for temporary files: {error.strerror or error}") from error
    try:
        yield folder
    finally:
        release(lock, partial(shutil.rmtree, folder, ignore_errors=True))


def _locked_folder() -> tuple[Path, IO[bytes]]:
    """Make a new scratch folder, and return it with the open file that locks it."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=SCRATCH))
        lock = (folder / SCRATCH_LOCK).open("xb", buffering=0)
        # Another process may have removed it as abandoned before we locked it.
        if try_lock(lock) and (folder / SCRATCH_LOCK).exists():
            return folder, lock
        lock.close()


def _remove_abandoned_folders() -> None:
    """Remove the scratch folders whose processes were killed."""
    for path in Path(tempfile.gettempdir()).glob(f"{SCRATCH}*/{SCRATCH_LOCK}"):
        with contextlib.suppress(OSError), path.open("r+b", buffering=0) as lock:  # others' folders can't be opened
            if try_lock(lock):
                release(lock, partial(shutil.rmtree, path.parent, ignore_errors=True))
