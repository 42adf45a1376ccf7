"""Output replaces regular files only, through links, with their permissions; several processes lose nothing."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fwrl.errors import FileError
from fwrl.files import LockedError, locked, output_file, replaced, scratch_folder
from fwrl.files.atomic import SCRATCH
from systems import unix


def write(path):
    with replaced(path) as draft:
        draft.write_text("new")


@unix
def test_a_device_a_pipe_a_socket_and_a_folder_are_refused_and_stay(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        for path, kind in (
            ("/dev/null", "a device"),
            ("pipe", "a named pipe"),
            ("socket", "a socket"),
            (".", "a folder"),
        ):
            before = stat.S_IFMT((tmp_path / path).stat().st_mode)
            with pytest.raises(FileError, match=rf"is {kind}; choose the name of a file"):
                write(tmp_path / path)
            assert stat.S_IFMT((tmp_path / path).stat().st_mode) == before


@unix
def test_a_link_is_followed_also_to_a_file_that_is_not_there_yet(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "far" / "file")
    for _ in range(2):
        write(tmp_path / "link")
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "far" / "file").read_text() == "new"
    (tmp_path / "to-device").symlink_to("/dev/null")
    with pytest.raises(FileError, match="is a device"):
        write(tmp_path / "to-device")


@unix
def test_a_link_to_itself_is_refused_and_stays(tmp_path):
    (tmp_path / "link").symlink_to("link")
    with pytest.raises(FileError, match="Too many levels of symbolic links"):
        write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()


@unix
def test_what_is_open_as_a_pipe_is_told_so():
    reading, writing = os.pipe()
    try:
        with pytest.raises(FileError, match=r"/dev/fd/.* is a named pipe"):
            write(f"/dev/fd/{writing}")
    finally:
        os.close(reading)
        os.close(writing)


@unix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_permissions_stay(tmp_path, mode):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(mode)
    write(path)
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", mode)


def test_a_folder_that_cannot_be_written_is_noticed_beforehand(tmp_path, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "TemporaryFile", denied)  # the superuser may write anywhere
    with pytest.raises(FileError, match=r"cannot write into the folder .*: Permission denied"):
        output_file(tmp_path / "file")


def ended(script, *arguments):
    """A process that was killed while it ran `script`."""
    process = subprocess.Popen([sys.executable, "-c", script, *map(str, arguments)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == b"ready"
    process.kill()
    process.wait()
    process.stdout.close()


def test_drafts_and_folders_of_killed_processes_are_removed_by_the_next(tmp_path, monkeypatch):
    for name in ("TMPDIR", "TEMP", "TMP"):  # Windows reads the last two
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    script = (
        "import sys, time\nfrom fwrl.files import replaced, scratch_folder\n"
        "with scratch_folder(), replaced(sys.argv[1]):\n    print('ready', flush=True); time.sleep(60)"
    )
    ended(script, tmp_path / "file")
    left = sorted(path.name for path in tmp_path.iterdir())
    assert len(left) == 2
    with scratch_folder() as mine, replaced(tmp_path / "file") as draft:
        draft.write_text("new")
        assert sorted(tmp_path.iterdir()) == sorted([mine, draft])
        with scratch_folder(), replaced(tmp_path / "file") as other:  # what is in use stays
            other.write_text("newer")
            assert draft.exists()
            assert mine.name.startswith(SCRATCH)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_lock_is_exclusive_names_its_holder_and_ends_with_its_process(tmp_path):
    path = tmp_path / "file"
    with locked(path):
        with pytest.raises(LockedError, match=rf"is in use by process {os.getpid()} on .* since \d{{4}}-") as error:
            locked(path).__enter__()
        assert error.value.path == path
    assert list(tmp_path.iterdir()) == []
    script = (
        "import sys, time\nfrom fwrl.files import locked\n"
        "with locked(sys.argv[1]):\n    print('ready', flush=True); time.sleep(60)"
    )
    ended(script, path)
    with locked(path):
        pass
    assert list(tmp_path.iterdir()) == []


COUNTING = """
import sys
from pathlib import Path
from fwrl.files import locked, replaced
path = Path(sys.argv[1])
for _ in range(20):
    with locked(path, wait=True):
        number = int(path.read_text())
        with replaced(path) as draft:
            draft.write_text(str(number + 1))
"""


def test_processes_that_wait_for_each_other_lose_nothing(tmp_path):
    path = tmp_path / "number"
    path.write_text("0")
    running = [subprocess.Popen([sys.executable, "-c", COUNTING, str(path)]) for _ in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert path.read_text() == "60"
    assert [file.name for file in tmp_path.iterdir()] == ["number"]


def test_one_who_waits_is_told_for_whom(tmp_path):
    told: list[str] = []
    held = locked(tmp_path / "file")
    held.__enter__()

    def release(holder: str) -> None:
        told.append(holder)
        held.__exit__(None, None, None)

    with locked(tmp_path / "file", wait=True, waiting=release):
        assert told[0].startswith(f"process {os.getpid()} ")


@unix
def test_the_lock_of_a_linked_file_is_that_of_the_file(tmp_path):
    Path(tmp_path / "link").symlink_to(tmp_path / "file")
    with locked(tmp_path / "link"), pytest.raises(LockedError):
        locked(tmp_path / "file").__enter__()
