"""Write docs/reference/commands.md: every command with its arguments and options, from the commands themselves.

python docs/write_commands.py
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from typer.models import ArgumentInfo, ParameterInfo

from fwrl.cli import app

PAGE = Path(__file__).with_name("reference") / "commands.md"
HEAD = """# The command line

Every command has `--help`. Commands whose results programs may read have `--json`. Bad input ends with code 2 and one
sentence on standard error, Ctrl-C with 130. This page is written by `make docs-numbers` from the commands themselves.
"""


def reference() -> str:
    """The page."""
    return "\n".join([HEAD, *(section(command) for command in app.registered_commands)])


def section(command: Any) -> str:
    """A command: what it does, its arguments and options, an example."""
    name = command.name or command.callback.__name__.replace("_", "-")
    declared = [parameter_of(each) for each in inspect.signature(command.callback, eval_str=True).parameters.values()]
    rows = {kind: [cells for each, cells in declared if each == kind] for kind in ("argument", "option")}
    text = list(paragraphs(inspect.cleandoc(command.callback.__doc__)))
    example = command.epilog.removeprefix("Example: ")
    tables = [line for kind, cells in rows.items() for line in table(kind, cells)]
    return "\n".join([f"## fwrl {name}\n", *text, *tables, f"```console\n$ {example}\n```\n"])


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a help text; lists and tables of it stay as they are written."""
    for part in re.split(r"\n\s*\n", text.replace("\b", "")):
        if "\n" in part and re.search(r"\S {2,}\S|\n {2,}", part):
            yield f"```text\n{part.strip(chr(10))}\n```\n"
        elif part.strip():
            yield f"{marked(' '.join(part.split()))}\n"


def marked(text: str) -> str:
    r"""A text with options and single marks as code, and no HTML; Sphinx makes a dash of two hyphens in prose.

    >>> marked("With --out, see `--log`: . or , but no <NA>")
    'With `--out`, see `--log`: `.` or `,` but no \\<NA>'
    """
    coded = re.sub(r"(?<![`\w-])--[a-z][a-z-]*|(?<= )[.,](?= |$)", r"`\g<0>`", text)
    return coded.replace("<", r"\<")


def table(what: str, rows: list[tuple[str, str]]) -> list[str]:
    """A table of arguments or options; nothing where there are none."""
    cells = [f"| {left} | {right} |" for left, right in rows]
    return [f"| {what} | meaning |", "|---|---|", *cells, ""] if rows else []


def parameter_of(parameter: inspect.Parameter) -> tuple[str, tuple[str, str]]:
    """Whether it is an argument or an option, how it is written, and what it means."""
    info = parameter.default if isinstance(parameter.default, ParameterInfo) else declared(parameter)
    default = info.default if info is parameter.default else parameter.default
    text = marked(" ".join((info.help or "").split()))
    names = written(parameter, info)
    said = default_of(default, names, kind_of(info))
    return kind_of(info), (f"`{names}`", f"{text.removesuffix('.')}.{said}".replace("|", "\\|"))


def default_of(default: Any, names: str, kind: str) -> str:
    """A sentence on what holds where a parameter is not given; nothing where that follows from its meaning.

    >>> default_of(0, "--seed SEED", "option"), default_of(..., "--out FILE", "option")
    (' Default: `0`.', ' Required.')
    >>> default_of(True, "--browser, --no-browser", "option"), default_of(False, "--json", "option")
    (' Default: `--browser`.', '')
    """
    if default is ... or default is inspect.Parameter.empty:
        return " Required." if kind == "option" else ""
    if isinstance(default, bool):
        choices = names.split(", ")
        return f" Default: `{choices[0 if default else 1]}`." if len(choices) > 1 and "--no-" in names else ""
    return "" if default is None or default == "" else f" Default: `{default}`."


def declared(parameter: inspect.Parameter) -> ParameterInfo:
    """What `Annotated` says of a parameter."""
    return next(each for each in parameter.annotation.__metadata__ if isinstance(each, ParameterInfo))


def kind_of(info: ParameterInfo) -> str:
    """Argument or option."""
    return "argument" if isinstance(info, ArgumentInfo) else "option"


def written(parameter: inspect.Parameter, info: ParameterInfo) -> str:
    """How a parameter is written on the command line."""
    name = parameter.name.replace("_", "-")
    value = info.metavar or name.upper()
    if isinstance(info, ArgumentInfo):
        return value
    kinds = get_args(parameter.annotation)
    flag = any(kind is bool or bool in get_args(kind) for kind in (parameter.annotation, *kinds))
    texts = map(str, (info.default, *(info.param_decls or ())))
    given = [text.replace("/", ", ") for text in texts if text.startswith("-")]
    names = ", ".join(given) or (f"--{name}, --no-{name}" if flag else f"--{name}")
    return names if flag else f"{names} {value}"


def main() -> None:
    """Write the page."""
    PAGE.write_text(reference(), encoding="utf-8")


if __name__ == "__main__":
    main()
