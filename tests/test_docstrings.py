"""The lint rule for public names: every argument and every result is documented."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator

import pytest

PUBLIC = ["fwrl", "fwrl.agents", "fwrl.worlds", "fwrl.task", "fwrl.planner", "fwrl.envs", "fwrl.oracle", "fwrl.metrics"]
NOTHING = {None, "None", "NoReturn", inspect.Signature.empty}


def public_callables() -> Iterator[tuple[str, object]]:
    """Every public function, class and public method, with its name; each once."""
    seen = set()
    for module in PUBLIC:
        loaded = importlib.import_module(module)
        for name in loaded.__all__:
            thing = getattr(loaded, name)
            if not callable(thing) or id(thing) in seen:
                continue
            seen.add(id(thing))
            yield f"{module}.{name}", thing
            for method, defined in vars(thing).items() if inspect.isclass(thing) else ():
                if inspect.isfunction(defined) and not method.startswith("_"):
                    yield f"{module}.{name}.{method}", defined


CALLABLES = dict(public_callables())


def section(text: str, title: str) -> str:
    """The indented lines under `title:` in a docstring, "" where there are none."""
    found = re.search(rf"^{title}:\n((?:[ \t]+\S.*\n?|\s*\n)+)", text, re.MULTILINE)
    return found[1] if found else ""


def arguments(thing: object) -> list[str]:
    """The names that a caller may pass."""
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return []
    try:
        signature = inspect.signature(thing)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return []
    return [name for name in signature.parameters if name not in ("self", "cls") and not name.startswith("_")]


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
