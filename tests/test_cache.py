"""The cache folder of compiled code, and that fwrl works without one."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fwrl.kernels.jit import STALE, cache_folder, digest, drop_stale

TRAIN = [sys.executable, "-m", "fwrl", "train", "h-maze", "--agent", "random", "--episodes", "2", "--json"]


@pytest.fixture(autouse=True)
def _no_remembered_folder():
    cache_folder.cache_clear()
    yield
    cache_folder.cache_clear()


def test_fwrl_works_where_nothing_can_be_written(tmp_path):
    blocked = tmp_path / "a file, not a folder"
    blocked.write_text("")
    places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"), str(blocked / "cache"))
    done = subprocess.run(TRAIN, capture_output=True, text=True, env={**os.environ, **places}, check=False)
    assert done.returncode == 0, done.stderr
    assert '"agent": "random"' in done.stdout
    assert list(tmp_path.iterdir()) == [blocked]


def test_without_a_writable_folder_there_is_no_cache(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert cache_folder() is None


@pytest.mark.parametrize("variable", ["NUMBA_CACHE_DIR", "XDG_CACHE_HOME"])
def test_the_folder_of_the_environment_variable_is_used(monkeypatch, tmp_path, variable):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv(variable, str(tmp_path / "here"))
    folder = cache_folder()
    assert folder == tmp_path / "here" / "fwrl" / digest()
    assert folder is not None
    assert folder.is_dir()


def test_numbas_variable_precedes_the_general_one(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    folder = cache_folder()
    assert folder is not None
    assert (tmp_path / "numba") in folder.parents


def test_without_variables_it_is_in_the_home_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert cache_folder() == tmp_path / ".cache" / "fwrl" / digest()


def test_without_a_home_folder_there_is_no_cache(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert cache_folder() is None


def test_an_edited_source_has_another_folder(tmp_path):
    source = tmp_path / "verbs.py"
    source.write_text("one = 1\n")
    before = digest((source,))
    assert before == digest((source,)) != digest()
    source.write_text("one = 2\n")
    assert digest((source,)) != before


def test_stale_code_of_other_versions_is_removed_and_nothing_else(tmp_path):
    names = ("0123456789abcdef", "fedcba9876543210", "aaaabbbbccccdddd", "my-own-folder---")
    ours, old, recent, foreign = (tmp_path / name for name in names)
    for folder in (ours, old, recent, foreign):
        folder.mkdir()
        (folder / "kernel.nbc").write_bytes(b"x")
    long_ago = time.time() - STALE - 60
    for folder in (ours, old, foreign):
        os.utime(folder, (long_ago, long_ago))
    drop_stale(ours)
    assert sorted(folder.name for folder in tmp_path.iterdir()) == sorted([ours.name, recent.name, foreign.name])
