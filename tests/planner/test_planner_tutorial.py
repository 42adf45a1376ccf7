"""Every command of the tutorials in docs/ prints what the page shows."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ("warehouse.md", "city.md")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def shell(call, tmp_path):
    """What a command prints, errors included; fwrl is called in this process, which is faster."""

    def run(command):
        head, *rest = command.split(" | ")
        words = shlex.split(head)
        if words[0] == "fwrl":
            answer = call(*words[1:])
            said = answer.out + answer.err
        else:
            words[0] = sys.executable if words[0] == "python" else words[0]
            said = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        for piped in rest:
            said = subprocess.run(shlex.split(piped), input=said, capture_output=True, text=True, check=True).stdout
        return "".join(f"{line.rstrip()}\n" for line in said.splitlines())

    return run


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_tutorial_prints_what_the_page_shows(shell, tmp_path, capsys, page):
    if page == "city.md":
        pytest.importorskip("h3")
        pytest.importorskip("bokeh_sampledata")
    blocks = BLOCK.findall((DOCS / page).read_text())
    consoles = [body for kind, body in blocks if kind == "console"]
    assert len(consoles) >= 6
    for body in consoles:
        shown = "".join(f"$ {command}\n{shell(command)}" for command in re.findall(r"^\$ (.*)$", body, re.MULTILINE))
        assert shown == body
    assert (tmp_path / "way.png").read_bytes().startswith(b"\x89PNG")
    (code,), (printed,) = ([body for kind, body in blocks if kind == wanted] for wanted in ("python", "text"))
    exec(compile(code, page, "exec"), {})
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize("page", PAGES)
def test_every_picture_of_a_tutorial_is_there(page):
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", (DOCS / page).read_text())
    assert pictures
    assert all((DOCS / name).is_file() for name in pictures)
