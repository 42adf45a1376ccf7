"""Copies of files in the reader's temporary folder, for what DuckDB does not open or read as it is.

Each copy has a folder of its own and the name of its original, so that DuckDB's messages name that; the reader leaves
the folder out of them (see `without_folder`).
"""

from __future__ import annotations

import codecs
import gzip
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from fwrl.errors import FileError
from fwrl.planner.ingest.errors import LogError

PIECE = 1 << 20  # bytes copied at once
PACKED = (".gz", ".zst", ".bz2", ".xz", ".zip")
# Byte order marks, and the encodings that begin with them; that of UTF-32 begins with that of UTF-16.
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)


class TextFile(NamedTuple):
    """A text file of a log.

    Attributes:
        path: Where it is.
        shown: What messages call it.

    """

    path: str
    shown: str


def opened(path: str) -> IO[bytes]:
    """A file, packed with gzip or not."""
    return gzip.open(path, "rb") if path.lower().endswith(".gz") else Path(path).open("rb")  # type: ignore[return-value]


def new_copy(shown: str, suffix: str, folder: str) -> Path:
    """A path in a new folder in `folder` for an unpacked copy of the file that messages call `shown`."""
    Path(folder).mkdir(exist_ok=True)
    name = Path(shown).name.removesuffix(suffix)
    for packed in PACKED:
        name = name.removesuffix(packed)
    return Path(tempfile.mkdtemp(dir=folder)) / (name.removesuffix(suffix) + suffix)


def without_folder(message: str, folder: str) -> str:
    """A message that names copies in `folder` by their names alone."""
    return re.sub(re.escape(folder) + r"[/\\][^/\\\s]+[/\\]", "", message)


def in_utf8(file: TextFile, encoding: str, folder: str, suffix: str) -> str:
    """The path of a text file in UTF-8: itself, or a copy if it is in another `encoding`.

    A byte order mark tells the encoding; that of UTF-8 stays in CSV files, which DuckDB reads with it.
    """
    with opened(file.path) as text:
        head = text.read(4)
    encoding = next((name for mark, name in MARKS if head.startswith(mark)), encoding)
    if encoding == "utf-8-sig" and suffix == ".csv":
        return file.path
    if codecs.lookup(encoding).name in ("utf-8", "ascii"):
        return file.path
    copy = new_copy(file.shown, suffix, folder)
    with opened(file.path) as text, copy.open("wb") as written:
        try:
            for piece in codecs.iterdecode(_pieces(text), encoding):
                written.write(piece.encode())
        except UnicodeError as error:
            raise LogError(f"{file.shown!r} is not text in {encoding} ({error})", "encoding") from error
    return str(copy)


def with_one_line_ending(file: TextFile, folder: str) -> str:
    """The path of a copy of a CSV file in which every line ends with a line feed."""
    copy = new_copy(file.shown, ".csv", folder)
    with opened(file.path) as lines, copy.open("wb") as written:
        pending = b""
        for piece in _pieces(lines):
            piece = pending + piece
            pending = b"\r" if piece.endswith(b"\r") else b""  # its line feed may be in the next piece
            written.write(piece.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
        written.write(b"\n" if pending else b"")
    return str(copy)


def written_copy(stream: IO[bytes] | IO[str], shown: str, suffix: str, folder: str) -> str:
    """The path of a copy of what can be read from `stream`; text is written in UTF-8."""
    copy = new_copy(shown, suffix, folder)
    try:
        with copy.open("wb") as written:
            while piece := stream.read(PIECE):
                written.write(piece.encode() if isinstance(piece, str) else piece)
    except (OSError, ValueError) as error:
        raise FileError(f"cannot read {shown!r}: {getattr(error, 'strerror', None) or error}") from error
    return str(copy)


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    while piece := stream.read(PIECE):
        yield piece
