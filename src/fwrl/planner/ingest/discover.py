"""The files of a log: which ones are meant, what format they have, and copies of those that DuckDB can't open.

You can name files by a pattern, a folder or an address. The format follows from the file's name or its first bytes.
DuckDB opens files itself, including .csv.gz. Standard input, pipes, and text in other encodings than UTF-8
are first written to the reader's temporary folder. Each copy has its own folder and the name of its original, so
DuckDB's messages name that; the reader leaves the folder out of them (see `without_folder`).
"""

from __future__ import annotations

import codecs
import contextlib
import glob
import gzip
import re
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from fwrl.arguments import check_path
from fwrl.errors import FileError, FwrlError, missing_file
from fwrl.planner.ingest.read_options import LogError, ReadOptions

ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
PIECE = 1 << 20  # bytes copied in one go
PACKED = {".gz": "gunzip", ".zst": "zstd -d", ".bz2": "bunzip2", ".xz": "unxz", ".zip": "unzip"}  # and what unpacks it
# Byte order marks, and the encodings that begin with them.
MARKS = (
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)


class FoundFile(NamedTuple):
    """A file that DuckDB can open."""

    path: str  # or address
    format: str  # a key of `FORMATS`
    shown: str  # its name in messages

    @property
    def is_address(self) -> bool:
        """Whether it is not on this computer."""
        return ADDRESS.match(self.path) is not None


def folder_keys(path: str) -> tuple[str, ...]:
    """The columns that the folders of a file name.

    >>> folder_keys("logs/day=2024-05-01/line=S%201/log.csv")
    ('day', 'line')
    """
    return tuple(part.partition("=")[0] for part in Path(path).parts[:-1] if not part.startswith("=") and "=" in part)


def opened(path: str) -> IO[bytes]:
    """A file, packed with gzip or not."""
    return gzip.open(path, "rb") if path.lower().endswith(".gz") else Path(path).open("rb")  # type: ignore[return-value]


def new_copy(shown: str, suffix: str, folder: str) -> Path:
    """A path in a new folder in `folder` for an unpacked copy of the file that messages call `shown`."""
    Path(folder).mkdir(exist_ok=True)
    name = Path(shown).name.removesuffix(suffix).removesuffix(".gz")
    return Path(tempfile.mkdtemp(dir=folder)) / (name.removesuffix(suffix) + suffix)


def without_folder(message: str, folder: str) -> str:
    """A message that names copies in `folder` by their names alone."""
    return re.sub(re.escape(folder) + r"[/\\][^/\\\s]+[/\\]", "", message)


@contextlib.contextmanager
def readable(shown: str) -> Iterator[None]:
    """Say of errors that `shown` can't be read."""
    try:
        yield
    except FwrlError:
        raise
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise FileError(f"cannot read {shown!r}: {getattr(error, 'strerror', None) or error}") from error


def as_utf8(file: FoundFile, options: ReadOptions, folder: str) -> FoundFile:
    """A text file in UTF-8: itself, or a copy if it is in another encoding.

    A byte order mark tells the encoding; that of UTF-8 stays in CSV files, which DuckDB reads with it.
    """
    if file.is_address:
        if not options.is_utf8:
            raise FileError(f"{file.shown!r} can only be read in UTF-8; copy it here unpacked first")
        return file
    with readable(file.shown):
        with opened(file.path) as text:
            head = text.read(4)
        encoding = next((name for mark, name in MARKS if head.startswith(mark)), options.encoding)
        if codecs.lookup(encoding).name in ("utf-8", "ascii") or (encoding == "utf-8-sig" and file.format == "csv"):
            return file
        copy = new_copy(file.shown, f".{file.format}", folder)
        with opened(file.path) as text, copy.open("wb") as written:
            try:
                for piece in codecs.iterdecode(pieces_of(text), encoding):
                    written.write(piece.encode())
            except UnicodeError as error:
                raise LogError(f"{file.shown!r} is not text in {encoding} ({error})", "encoding") from error
    return file._replace(path=str(copy))


def written_copy(stream: IO[bytes] | IO[str] | gzip.GzipFile, shown: str, suffix: str, folder: str) -> str:
    """The path of a copy of what can be read from `stream`; text is written in UTF-8."""
    copy = new_copy(shown, suffix, folder)
    with readable(shown), copy.open("wb") as written:
        while piece := stream.read(PIECE):
            written.write(piece.encode() if isinstance(piece, str) else piece)
    return str(copy)


def pieces_of(stream: IO[bytes]) -> Iterator[bytes]:
    """The rest of `stream`, in pieces of `PIECE` bytes."""
    while piece := stream.read(PIECE):
        yield piece


FORMATS = {
    "csv": (".csv", ".tsv", ".txt"),
    "parquet": (".parquet", ".pq"),
    "json": (".jsonl", ".ndjson", ".json"),
    "arrow": (".arrow", ".feather", ".ipc"),
}
SNIFFED = 64  # bytes that tell a format
STDIN = "standard input"
STREAMS = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")  # what shells call open files; they are read once
ABOUT = ("readme", "license", "licence", "copying", "notice", "changelog")  # text beside logs that is none
# What files begin with; CSV begins with anything else.
MAGIC = (
    (b"PAR1", ".parquet"),
    (b"ARROW1", ".arrow"),
    (b"\xff\xff\xff\xff", ".arrow"),  # a stream
    (b"FEA1", ".arrow"),  # version 1 of Feather
    (b"\x1f\x8b", ".gz"),
    (b"\x28\xb5\x2f\xfd", ".zst"),
    (b"BZh", ".bz2"),
    (b"\xfd7zXZ\x00", ".xz"),
    (b"PK\x03\x04", ".zip"),
)


def discover(patterns: Iterable[str], folder: str) -> list[FoundFile]:
    """The files that are named, match a pattern or are in a folder; `folder` gets copies of what is read only once."""
    return [_file_at(path, folder) for path in matching(patterns)]


def _file_at(path: str, folder: str) -> FoundFile:
    try:
        path.encode()
    except UnicodeEncodeError:
        raise FileError(f"cannot read {path!r}: its name isn't UTF-8; rename the file, or its folder") from None
    format_, suffix = _format(path), Path(path).suffix.lower()
    if ADDRESS.match(path) or (format_ is not None and Path(path).is_file()):
        if format_ is None:
            raise _no_log(path)
        if suffix in PACKED and not (suffix == ".gz" and format_ in ("csv", "json")):
            raise _packed(path, suffix)
        return FoundFile(path, format_, path)
    if Path(path).is_file() and not path.startswith(STREAMS):
        return _sniffed(path, path, folder)
    with readable(path), Path(path).open("rb") as stream:  # a pipe, which can be read only once
        return spooled(stream, folder)


def spooled(stream: IO[bytes] | IO[str], folder: str) -> FoundFile:
    """Copy `stream` to a file in `folder` and tell its format from the first bytes."""
    name = getattr(stream, "name", None)
    shown = name if isinstance(name, str) and not name.startswith("<") else STDIN
    return _sniffed(written_copy(stream, shown, "", folder), shown, folder)


def _sniffed(path: str, shown: str, folder: str) -> FoundFile:
    """The file in the format that its first bytes tell."""
    with readable(shown), Path(path).open("rb") as file:
        head = file.read(SNIFFED)
    suffix = next((suffix for magic, suffix in MAGIC if head.startswith(magic)), None)
    if suffix in (".parquet", ".arrow"):
        return FoundFile(path, suffix[1:], shown)
    if suffix == ".gz":
        with gzip.open(path) as packed:
            return _sniffed(written_copy(packed, shown, "", folder), shown, folder)
    if suffix is not None:
        raise _packed(shown, suffix)
    if b"\0" in head and not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise _no_log(shown)
    is_json = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")
    return FoundFile(path, "json" if is_json else "csv", shown)


def matching(patterns: Iterable[str]) -> Iterator[str]:
    """The files that are named or match a pattern, and those in folders; addresses as they are."""
    for pattern in patterns:
        if ADDRESS.match(pattern):
            yield pattern
            continue
        if not pattern:
            raise FileError("the name of a log is empty; name a file, or . for all logs in this folder")
        found = [pattern] if check_path(pattern, "a log").exists() else sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 (Path.glob takes no absolute pattern)
        if not found:
            raise missing_file(pattern)
        for path in found:
            yield from _in_folder(path) if Path(path).is_dir() else [path]


def _in_folder(folder: str) -> list[str]:
    """The logs in a folder and its folders."""
    files = [
        str(path)
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file() and _is_log(path.relative_to(folder)) and _format(str(path)) is not None
    ]
    if not files:
        raise FileError(f"the folder {folder!r} holds no log; expected files that end in one of {_known()}")
    return files


def _is_log(path: Path) -> bool:
    """Whether a file in a folder may be a log: hidden ones and such as readme.txt are not."""
    return not any(part.startswith((".", "_")) for part in path.parts) and path.stem.casefold() not in ABOUT


def _format(path: str) -> str | None:
    """The format that the name of a file tells; None for a name that tells none. An archive counts as packed CSV."""
    name = path.lower()
    if name.endswith(".zip"):
        return "csv"
    for suffix in PACKED:
        name = name.removesuffix(suffix)
    return next((format_ for format_, suffixes in FORMATS.items() if name.endswith(suffixes)), None)


def _known() -> str:
    return ", ".join(suffix for suffixes in FORMATS.values() for suffix in suffixes)


def _packed(shown: str, suffix: str) -> FileError:
    return FileError(f"{shown!r} can't be read packed; unpack it first, as with {PACKED[suffix]}")


def _no_log(shown: str) -> FileError:
    return FileError(f"expected a log that ends in one of {_known()} (CSV and JSON also with .gz), got {shown!r}")
