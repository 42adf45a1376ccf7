"""README's commands and programs run as printed, and print what README shows."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", TEXT, re.DOTALL)
COMMANDS = [
    (shlex.split(command, comments=True), printed)
    for block in re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)
    for command, printed in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
]
STAYS_OPEN = (["fwrl", "play"],)


def test_every_program_shows_what_it_prints():
    assert PROGRAMS
    assert len(PROGRAMS) == TEXT.count("```python")


@pytest.mark.parametrize(("code", "printed"), PROGRAMS, ids=range(len(PROGRAMS)))
def test_a_program_prints_what_readme_shows(code, printed, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == printed


def test_the_commands_print_what_readme_shows_one_after_the_other(call, tmp_path):
    shown = 0
    for words, printed in COMMANDS:
        if words[0] == "python":
            subprocess.run([sys.executable, *words[1:]], cwd=tmp_path, check=True)
        elif words[0] == "fwrl" and words not in STAYS_OPEN:
            command, _, cut = " ".join(words).partition(" | head -")
            answer = call(*command.split()[1:])
            assert answer.code == 0, (words, answer.err)
            lines = [line.rstrip() for line in answer.out.splitlines()][: int(cut) if cut else None]
            assert lines == printed.splitlines(), words
            shown += 1
    assert shown > 1


def test_every_command_exists():
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    for words, _ in COMMANDS:
        if words[0] == "make":
            assert re.search(rf"^{words[1]}:", makefile, re.MULTILINE), words
        else:
            assert words[0] in ("fwrl", "python", "pip"), words
            assert words[0] != "pip" or words == ["pip", "install", "."]


def test_every_link_leads_to_a_file():
    for target in re.findall(r"(?:src=\"|\]\()((?!http)[^)\"#]+)", TEXT):
        assert (README.parent / target).is_file(), target
