"""Writing files so that a kill at any moment loses nothing that was finished.

`replaced` replaces a file all or nothing. It writes the new content to a draft in the same folder and then renames the
draft. It follows symbolic links, so that the file a link names is replaced, and keeps permissions. It refuses anything
that isn't a regular file: renaming a draft over a device or a pipe would replace it by a file.

`partial_results` keeps the finished parts of a long computation in a folder next to its result. A part is a file named
by a digest of everything that determines it, so a part is reused only if it would come out the same. The folder goes
when the block ends without an error; after an error or a kill, the same command finds the finished parts there.

`scratch_folder` is a folder for temporary files, removed when the block ends.

Drafts and scratch folders are locked while their process lives. The next process recognises those of killed processes
by the missing lock and removes them. On Windows an open file can't be removed, which serves as the lock of a draft.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO

from fwrl.errors import FileError
from fwrl.files.locks import release, try_lock

DRAFT = ".part"
PARTS = ".parts"
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


def _remove_abandoned_drafts(target: Path) -> None:
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


class Partials:
    """A folder of finished parts.

    Args:
        folder: Where they are; made when the first part is written.

    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, key: str) -> Path:
        """The file of a part, which may not be there.

        Args:
            key: Everything that determines the part, as text.

        Returns:
            Its path.
        """
        return self.folder / hashlib.sha256(key.encode()).hexdigest()[:32]

    def write(self, key: str, content: bytes) -> None:
        """Keep a part, all or nothing.

        Args:
            key: Everything that determines it, as text.
            content: Its bytes.

        """
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise FileError(f"cannot make the folder {str(self.folder)!r}: {error.strerror}") from error
        with replaced(self.path(key)) as draft:
            draft.write_bytes(content)


@contextlib.contextmanager
def partial_results(out: Path) -> Iterator[Partials]:
    """The finished parts of the file `out`; they stay after an error and are removed otherwise.

    Args:
        out: The file that the whole is to be written to.

    Yields:
        The parts.

    """
    target = output_file(out)
    partials = Partials(target.with_name(target.name + PARTS))
    yield partials
    shutil.rmtree(partials.folder, ignore_errors=True)


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """An empty folder in the system's place for temporary files; removed when the block ends.

    Yields:
        The path of the folder.

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
    """A new scratch folder, and the open file that locks it."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=SCRATCH))
        lock = (folder / SCRATCH_LOCK).open("xb", buffering=0)
        # Another process may have taken it for abandoned before it was locked.
        if try_lock(lock) and (folder / SCRATCH_LOCK).exists():
            return folder, lock
        lock.close()


def _remove_abandoned_folders() -> None:
    """Remove the scratch folders whose processes were killed."""
    for path in Path(tempfile.gettempdir()).glob(f"{SCRATCH}*/{SCRATCH_LOCK}"):
        with contextlib.suppress(OSError), path.open("r+b", buffering=0) as lock:  # others' folders can't be opened
            if try_lock(lock):
                release(lock, partial(shutil.rmtree, path.parent, ignore_errors=True))
