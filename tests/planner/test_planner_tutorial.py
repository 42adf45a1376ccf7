"""The tutorial in docs/ does what it says: every command is run, and prints what is printed there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "warehouse.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(command, folder):
    """What a command prints, errors included, as in a terminal of 80 columns."""
    shell = f'fwrl() {{ "{sys.executable}" -m fwrl "$@"; }}; python() {{ "{sys.executable}" "$@"; }}; {command}'
    environment = {**os.environ, "COLUMNS": "80", "TERM": "dumb"}
    done = subprocess.run(
        ["bash", "-c", shell], cwd=folder, capture_output=True, text=True, env=environment, check=False
    )
    return "".join(f"{line.rstrip()}\n" for line in (done.stdout + done.stderr).splitlines())


def test_every_command_of_the_tutorial_prints_what_the_page_shows(tmp_path):
    blocks = BLOCK.findall(PAGE.read_text())
    consoles = [body for kind, body in blocks if kind == "console"]
    assert len(consoles) >= 9
    for body in consoles:
        shown = "".join(
            f"$ {command}\n{run(command, tmp_path)}" for command in re.findall(r"^\$ (.*)$", body, re.MULTILINE)
        )
        assert shown == body
    assert (tmp_path / "way.png").read_bytes().startswith(b"\x89PNG")
    (code,), (printed,) = ([body for kind, body in blocks if kind == wanted] for wanted in ("python", "text"))
    (tmp_path / "code.py").write_text(code)
    assert run("python code.py", tmp_path) == printed
