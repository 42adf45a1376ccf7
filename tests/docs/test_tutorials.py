"""Every command and every Python program of the tutorials runs, and prints what the page shows."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fwrl.agents import registry as agent_registry
from fwrl.kernels.jit import NOTICE
from fwrl.worlds import catalogue as world_catalogue

DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDES = ("agents.md", "city.md", "class.md", "how-to.md", "warehouse.md", "worlds.md")
PAGES = (*GUIDES, *sorted(f"tutorials/{path.name}" for path in DOCS.glob("tutorials/*")))
BLOCK = re.compile(r"^(?:<!-- file: (\S+) -->\n)?```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"<!-- file: (\S+\.py) -->")
NEEDED = {"city.md": ("h3", "bokeh_sampledata")}
PICTURE = re.compile(r"!\[[^]]+\]\(([^)]+)\)")


@pytest.fixture
def shell(call, tmp_path):
    """What a command prints, errors included; fwrl is called in this process, which is faster."""

    def run(command):
        head, *rest = command.split(" | ")
        words = shlex.split(head)
        if words[:2] in (["fwrl", "play"], ["fwrl", "explore"]):
            return served(words, tmp_path)
        if words[0] == "fwrl":
            answer = call(*words[1:])
            said = answer.out + answer.err.replace(f"{NOTICE}\n", "")
        else:
            words[0] = sys.executable if words[0] == "python" else words[0]
            said = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        for piped in rest:
            said = subprocess.run(shlex.split(piped), input=said, capture_output=True, text=True, check=True).stdout
        return "".join(f"{line.rstrip()}\n" for line in said.splitlines())

    return run


def served(words: list[str], folder: Path) -> str:
    """Start a page and stop it once it says where it is; what it says instead, if it refuses."""
    command = [sys.executable, "-m", *words, "--no-browser", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        said = next(line for line in iter(process.stdout.readline, "") if line != f"{NOTICE}\n")
        process.terminate()
    return "" if "http://127.0.0.1:" in said else said


def rerun(page: str, shell: Callable[[str], str], folder: Path, printed: Callable[[], str]) -> str:
    """The text of a page with everything that it shows printed anew."""
    names: dict[str, Any] = {}
    output: str | None = None  # of the last Python program, which the next block of text shows

    def replace(found: re.Match[str]) -> str:
        nonlocal output
        file, kind, body = found.groups()
        before, output = output, None
        if file is not None:
            (folder / file).write_text(body, encoding="utf-8")
        elif kind == "console":
            commands = re.findall(r"^\$ (.*)$", body, re.MULTILINE)
            body = "".join(f"$ {command}\n{shell(command)}" for command in commands)
        elif kind == "python":
            exec(compile(body, page, "exec"), names)
            output = printed()
        elif kind == "text":
            assert before is not None, "a block of text shows what the program before it prints"
            body = before
        head = "" if file is None else f"<!-- file: {file} -->\n"
        return f"{head}```{kind}\n{body}```"

    return BLOCK.sub(replace, (DOCS / page).read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_what_its_commands_and_programs_print(page, shell, tmp_path, capsys, monkeypatch):
    for module in NEEDED.get(page, ()):
        pytest.importorskip(module)
    for registry in (agent_registry, world_catalogue):  # what a page registers is forgotten afterwards
        monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    text = (DOCS / page).read_text(encoding="utf-8")
    assert BLOCK.search(text)
    try:
        assert rerun(page, shell, tmp_path, lambda: capsys.readouterr().out) == text
    finally:
        for file in FILE.findall(text):
            sys.modules.pop(Path(file).stem, None)


@pytest.mark.parametrize("page", PAGES)
def test_every_picture_of_a_page_is_there(page):
    pictures = PICTURE.findall((DOCS / page).read_text(encoding="utf-8"))
    assert all(((DOCS / page).parent / name).is_file() for name in pictures)
