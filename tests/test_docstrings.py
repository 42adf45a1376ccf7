"""The lint rule for public names: every argument and every result is documented."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

REFERENCE = Path(__file__).resolve().parents[1] / "docs" / "reference"
PUBLIC = [
    package
    for page in sorted(REFERENCE.glob("*.md"))
    for package in re.findall(r"automodule:: (\S+)", page.read_text(encoding="utf-8"))
]
NOTHING = {None, "None", "NoReturn", "Iterator[None]", inspect.Signature.empty}


def public_callables() -> Iterator[tuple[str, object]]:
    """Every function, class and public method on the reference pages, with its name; each once."""
    seen = set()
    for module in PUBLIC:
        loaded = importlib.import_module(module)
        for name in loaded.__all__:
            thing = getattr(loaded, name)
            if not callable(thing) or not is_ours(thing):
                continue
            for suffix, each in [("", thing), *methods(thing)]:
                if id(each) not in seen:
                    seen.add(id(each))
                    yield f"{module}.{name}{suffix}", each


def is_ours(thing: object) -> bool:
    """Whether a thing is defined in this package, and so documented here."""
    return str(getattr(thing, "__module__", "")).split(".")[0] == "fwrl"


def methods(thing: object) -> list[tuple[str, Callable[..., Any]]]:
    """The public methods of a class that this package defines, inherited ones included; of other things none."""
    bases = [base for base in thing.__mro__ if is_ours(base)] if inspect.isclass(thing) else []
    attributes = {name: defined for base in reversed(bases) for name, defined in vars(base).items()}
    functions = [(name, function_of(defined)) for name, defined in attributes.items() if not name.startswith("_")]
    return [(f".{name}", function) for name, function in functions if function is not None and is_ours(function)]


def function_of(defined: object) -> Callable[..., Any] | None:
    """The function behind an attribute of a class, through decorators; None where there is none."""
    method = defined.__func__ if isinstance(defined, classmethod | staticmethod) else defined
    function = inspect.unwrap(method) if callable(method) else None
    return function if inspect.isfunction(function) else None


CALLABLES = dict(public_callables())


def section(text: str, title: str) -> str:
    """The indented lines under `title:` in a docstring, "" where there are none."""
    found = re.search(rf"^{title}:\n((?:[ \t]+\S.*\n?|\s*\n)+)", text, re.MULTILINE)
    return found[1] if found else ""


def arguments(thing: object) -> list[str]:
    """The names that a caller may pass; none where Python makes them up, for protocols and errors."""
    made_up = inspect.isclass(thing) and (
        getattr(thing, "_is_protocol", False) or (issubclass(thing, BaseException) and not is_ours(thing.__init__))
    )
    if made_up:
        return []
    try:
        signature = inspect.signature(thing)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return []
    return [name for name in signature.parameters if name not in ("self", "cls") and not name.startswith("_")]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("fwrl.Planner.save", id="plain"),
        pytest.param("fwrl.Planner.load", id="class method"),
        pytest.param("fwrl.cells.SquareCells.names", id="static method"),
        pytest.param("fwrl.report.StoredResults.reward", id="cached"),
        pytest.param("fwrl.agents.Agent.best_actions", id="inherited"),
    ],
)
def test_methods_of_every_kind_are_checked(name: str) -> None:
    assert name in CALLABLES


@pytest.mark.parametrize("name", CALLABLES)
def test_public_names_document_arguments_and_results(name: str) -> None:
    thing = CALLABLES[name]
    text = inspect.getdoc(thing) or ""
    assert text, f"{name} has no docstring"
    described = section(text, "Args") + section(text, "Attributes")
    missing = [
        argument for argument in arguments(thing) if not re.search(rf"^\s+\**{argument}\b", described, re.MULTILINE)
    ]
    assert not missing, f"{name}: 'Args:' (for fields 'Attributes:') lacks {', '.join(missing)}"
    if inspect.isfunction(thing):
        returned = inspect.signature(thing).return_annotation
        if returned not in NOTHING:
            assert section(text, "Returns") or section(text, "Yields"), f"{name} lacks 'Returns:'"
