"""What several test files look for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest


@pytest.fixture(scope="session")
def movingai_maps() -> Path:
    """The folder of published maps and scenarios that lies beside the project."""
    folder = Path(__file__).resolve().parents[1].parent / "shared" / "maps"
    if not folder.is_dir():
        pytest.skip("no shared/maps folder beside the project")
    return folder


SCRIPT = Path(sys.executable).with_name("fwrl")


class Answer(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    """`call("worlds", "--json")` in an empty folder and a terminal of 80 columns; no process is started."""
    from fwrl.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def answer(*arguments):
        monkeypatch.setattr(sys, "argv", ["fwrl", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            main()
        return Answer(exit_.value.code or 0, *capsys.readouterr())

    return answer


@pytest.fixture
def script(tmp_path):
    """The same with the installed script, in a process of its own."""
    if not SCRIPT.is_file():
        pytest.skip(f"no fwrl script beside {sys.executable}")

    def answer(*arguments, **environment):
        done = subprocess.run(
            [SCRIPT, *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "80", **environment},
            check=False,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    return answer
