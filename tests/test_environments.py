"""The Python and the commands of the pages on environments and notebooks run; the notebooks give what they show."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from run_notebooks import notebooks, texts
from traitlets.config import Config

from fwrl.agents import registry as agent_registry
from fwrl.worlds import catalogue as world_catalogue

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = (DOCS / "environments.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?:<!-- needs: (\w+) -->\n)?```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
COMMANDS = re.findall(r"^\$ fwrl (.*)$", PAGE, re.MULTILINE)
NEEDS = [(need, code) for need, code, _ in BLOCK.findall(PAGE) if need]


def test_the_blocks_of_the_page_print_what_it_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = [(code, shown) for need, code, shown in BLOCK.findall(PAGE) if not need]
    assert len(blocks) >= 4
    for code, shown in blocks:
        exec(compile(code, "environments.md", "exec"), names)
        assert capsys.readouterr().out == shown


@pytest.mark.parametrize(("need", "code"), NEEDS, ids=[need for need, _ in NEEDS])
def test_blocks_that_need_a_package_run_where_it_is(need, code, tmp_path, monkeypatch, capsys):
    pytest.importorskip(need)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    exec(compile(code, "environments.md", "exec"), {})
    assert capsys.readouterr().out


def test_the_commands_of_the_page_run_one_after_the_other(call, tmp_path):
    assert len(COMMANDS) == 4
    for line in COMMANDS:
        code, out, err = call(*shlex.split(line))
        assert code == 0, (line, err)
        assert out
    assert (tmp_path / "route.png").is_file()


def test_every_notebook_is_on_the_page():
    assert len(notebooks()) == 4
    page = (DOCS / "tutorials" / "first-steps.md").read_text(encoding="utf-8")
    assert re.findall(r"\(\.\./notebooks/(\d-[\w-]+\.ipynb)\)", page) == [path.name for path in notebooks()]


@pytest.fixture
def shell(monkeypatch, tmp_path):
    """What runs the cells of a notebook, here without the kernel process around it."""
    for registry in (agent_registry, world_catalogue):  # what a notebook registers is forgotten afterwards
        monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    monkeypatch.chdir(tmp_path)
    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    yield shell
    shell.restore_sys_module_state()
    InteractiveShell.clear_instance()


@pytest.mark.parametrize("path", notebooks(), ids=[path.stem for path in notebooks()])
def test_a_notebook_prints_what_it_shows(path, shell):
    committed, again = (nbformat.read(path, as_version=4) for _ in range(2))
    for cell in again.cells:
        if cell.cell_type == "code":
            shell.run_cell(f"%%capture captured\n{cell.source}").raise_error()
            captured = shell.user_ns.pop("captured")
            shown = [{"data": output.data} for output in captured.outputs]
            cell.outputs = [nbformat.from_dict(part) for part in ({"name": "stdout", "text": captured.stdout}, *shown)]
    assert texts(again) == texts(committed)
    assert any(printed for printed, *_ in texts(committed))
    assert path.stat().st_size < 400_000
