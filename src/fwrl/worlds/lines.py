"""The lines of a text file, and errors that name a place in it.

Both line endings and trailing blank lines are accepted, because maps and scenarios are written by hand and by many
programs. Any other mistake is an error that names source, line and column, counted from 1.
"""

from __future__ import annotations

from pathlib import Path

from fwrl.errors import FwrlError, MapError, missing_file


def fault(source: str, line: int, column: int, problem: str) -> MapError:
    """Make the error for a `problem` at a place in `source`.

    >>> print(fault("maze.txt", 3, 7, "unknown character 'x'"))
    maze.txt, line 3, column 7: unknown character 'x'
    """
    return MapError(f"{source}, line {line}, column {column}: {problem}")


def split_lines(text: str) -> list[str]:
    r"""Split `text` into lines without endings, and without trailing blank lines.

    >>> split_lines("a\r\nb\n\n")
    ['a', 'b']
    """
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def read_lines(path: Path) -> list[str]:
    """Read the lines of a UTF-8 text file."""
    if path.is_dir():
        raise FwrlError(f"{path} is a folder; choose a file in it")
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise missing_file(path) from None
    except OSError as error:
        raise FwrlError(f"cannot read {path}: {error.strerror}") from error
    try:
        return split_lines(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        before = raw[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        problem = f"byte {raw[error.start]:#04x} is not UTF-8 text; expected a text file"
        raise fault(str(path), line, column, problem) from error
