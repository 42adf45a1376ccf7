"""The Python of docs/continuous.md prints what the page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "continuous.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(("code", "shown"), PYTHON, ids=range(len(PYTHON)))
def test_the_python_prints_what_the_page_shows(code, shown, capsys):
    exec(compile(code, "continuous.md", "exec"), {})
    assert capsys.readouterr().out == shown


def test_every_program_has_its_output():
    assert len(PYTHON) == PAGE.count("```python") > 0
