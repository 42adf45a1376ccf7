"""The commands and the Python of the README run."""

import re
import shlex
from pathlib import Path

import pytest

from fwrl.samples import warehouse

README = Path(__file__).resolve().parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
CONSOLE = [
    shlex.split(line[2:], comments=True)
    for block in re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("$ ")
]


@pytest.mark.parametrize("code", PYTHON, ids=range(len(PYTHON)))
def test_the_python_runs(code, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out


def test_the_commands_run_one_after_the_other(call, tmp_path):
    warehouse.write(tmp_path / "trips.csv", tmp_path / "places.csv")  # the log that the commands read
    commands = [words[1:] for words in CONSOLE if words[0] == "fwrl"]
    assert commands
    for words in commands:
        answer = call(*words)
        assert answer.code == 0, (words, answer.err)
        assert answer.out


def test_every_command_installs_or_is_fwrl_or_a_make_target():
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    for words in CONSOLE:
        target = words[0] == "make" and re.search(rf"^{words[1]}:", makefile, re.MULTILINE)
        assert words[0] == "fwrl" or target or words == ["pip", "install", "fwrl"]


def test_every_file_it_points_to_exists():
    for target in re.findall(r"(?:src=\"|\]\()((?!http)[^)\"#]+)", TEXT):
        assert (README.parent / target).is_file(), target
