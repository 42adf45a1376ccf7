"""The architecture page names only what exists, and all of it where it lists."""

from __future__ import annotations

import configparser
import importlib
import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
MODULES = sorted(set(re.findall(r"`(fwrl(?:\.\w+)+)`", PAGE)))
MEMBERS = sorted(set(re.findall(r"`(\w+)` of `(fwrl(?:\.\w+)+)`", PAGE)))
FILES = sorted(
    set(re.findall(r"`((?:benchmarks|tests|docs|src)/[\w./-]+)`", PAGE)) | set(re.findall(r"\]\(([^)]+)\)", PAGE))
)


def rows(title: str) -> list[list[str]]:
    """The cells of the first table under a heading, without its head."""
    section = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.parametrize("module", MODULES)
def test_every_module_it_names_exists(module):
    assert importlib.util.find_spec(module) is not None


@pytest.mark.parametrize(("name", "module"), MEMBERS)
def test_every_member_it_names_exists(name, module):
    assert hasattr(importlib.import_module(module), name)


@pytest.mark.parametrize("file", FILES)
def test_every_file_it_names_exists(file):
    assert (ROOT / file).is_file() or (ROOT / "docs" / file).is_file()


def test_its_layers_are_those_that_imports_are_checked_by():
    parser = configparser.ConfigParser()
    parser.read(ROOT / ".importlinter")
    listed = re.findall(r"\w+", parser["importlinter:contract:layers"]["layers"])
    assert [row[0] for row in rows("Layers")] == [f"`fwrl.{name}`" for name in listed if name != "__main__"]


def test_it_gives_a_reason_for_every_dependency():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = [re.split(r"[><=]", text)[0] for text in project["dependencies"]]
    tools = {"docs", "lint", "release", "test"}
    extra = [
        f"{re.split(r'[><=]', text)[0]} (extra `{name}`)"
        for name, listed in project["optional-dependencies"].items()
        for text in listed
        if name not in tools
    ]
    assert [row[0] for row in rows("Why each dependency")] == required + extra


def test_no_question_or_word_is_listed_twice():
    for title in ("Layers", "Words", "Where do I find ...?"):
        first = [row[0] for row in rows(title)]
        assert len(set(first)) == len(first)


def test_its_glossary_is_sorted():
    words = [row[0].lower() for row in rows("Words")]
    assert words == sorted(words)
