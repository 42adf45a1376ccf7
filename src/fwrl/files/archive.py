"""Named arrays and JSON in one file that can be memory-mapped.

    magic (8) | version (4) | header length (4) | sha-256 of the header (32) | header: JSON | sections

The header has the `kind` of the file, `details` from its writer, and a list of sections with name, dtype, shape, offset
and sha-256. Sections start at multiples of 64 bytes. Opening a file checks the header, its checksum, and that every
section lies within the file; a section's own checksum is checked on first use. Nothing in a file is executed: it has no
pickles and no names of functions.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from fwrl.arguments import check_path
from fwrl.errors import FileError, FwrlError, missing_file
from fwrl.files.atomic import replaced

MAGIC = b"\x89fwrl\r\n\x1a"
VERSION = 1
ALIGNMENT = 64
# Bytes. Labels are sections, so a header takes a few thousand bytes for any number of states, plus about 170 for each
# log that a planner was fitted from: this is enough for about 100,000 logs. Parsed JSON takes about twenty times its
# length in memory.
LONGEST_HEADER = 16 * 2**20
MOST_BYTES = 2**63 - 1  # of an array, counting a dimension of length 0 as 1: NumPy's limit, even for empty arrays
PREFIX = struct.Struct("<8sII32s")
DTYPES = ("<f8", "<f4", "<i8", "<i4", "<u4", "|i1", "|u1", "|b1")


class Archive:
    """An open file: read-only arrays mapped from disk, by name, and details as JSON values.

    `open_archive` makes one. `archive[name]` is an array; its checksum is checked on first use.

    Args:
        path: for messages.
        header: with offsets from the start of the file.
        data: the whole file.
    """

    def __init__(self, path: Path, header: dict[str, Any], data: mmap.mmap | bytes) -> None:
        self.path = path
        self.kind: str = header["kind"]
        self.details: dict[str, Any] = header["details"]
        self._sections: dict[str, dict[str, Any]] = {s["name"]: s for s in header["sections"]}
        self._data = data
        self._sound: set[str] = set()

    @property
    def names(self) -> list[str]:
        """The names of the arrays, in the order written."""
        return list(self._sections)

    def __contains__(self, name: str) -> bool:
        return name in self._sections

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return an array; its checksum is checked on first use."""
        if name not in self._sections:
            raise FileError(f"{str(self.path)!r} has no section {name!r}, only {self.names}")
        section = self._sections[name]
        dtype, offset = np.dtype(section["dtype"]), section["offset"]
        count = math.prod(section["shape"])
        if name not in self._sound:
            raw = memoryview(self._data)[offset : offset + count * dtype.itemsize]
            found = hashlib.sha256(raw).hexdigest()
            raw.release()
            if found != section["sha256"]:
                raise FileError(f"{str(self.path)!r} is damaged: the checksum of {name!r} doesn't match")
            self._sound.add(name)
        if count == 0:
            return np.zeros(section["shape"], dtype)
        flat = np.frombuffer(self._data, dtype, count, offset)
        return flat.reshape(section["shape"])


def write_archive(path: str | Path, kind: str, details: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write named arrays and details to a file, all or nothing.

    Args:
        path: the file to write.
        kind: tells readers what the file holds.
        details: JSON values.
        arrays: arrays by name: float64, float32, int64, int32, uint32, int8, uint8 or bool.

    Raises:
        FwrlError: an array has another dtype.
        FileError: the file can't be written, or its header would be too long.

    >>> from fwrl.files import open_archive, scratch_folder
    >>> with scratch_folder() as folder:
    ...     write_archive(folder / "x.fwrl", "numbers", {"unit": "s"}, {"times": np.array([1.5, 2.0])})
    ...     archive = open_archive(folder / "x.fwrl")
    ...     print(archive.kind, archive.details, archive["times"])
    numbers {'unit': 's'} [1.5 2. ]
    """
    sections: list[dict[str, Any]] = []
    offset = 0
    stored = {name: _stored(name, array) for name, array in arrays.items()}
    for name, array in stored.items():
        offset = _aligned(offset)
        sections.append(
            {
                "name": name,
                "dtype": array.dtype.str,
                "shape": list(array.shape),
                "offset": offset,
                "sha256": hashlib.sha256(array.reshape(-1).view(np.uint8).data).hexdigest(),
            }
        )
        offset += array.nbytes
    # Offsets count from the end of the header, because writing them changes its length.
    header = {"version": VERSION, "kind": kind, "details": dict(details), "sections": sections}
    text = json.dumps(header).encode()
    if len(text) > LONGEST_HEADER:
        raise FileError(
            f"{str(path)!r} would have a header of {len(text):,} bytes, more than {LONGEST_HEADER:,}; a planner lists "
            "its logs there, so join small logs into fewer files first"
        )
    begin = _aligned(PREFIX.size + len(text))
    with replaced(path) as draft, draft.open("wb") as file:
        file.write(PREFIX.pack(MAGIC, VERSION, len(text), hashlib.sha256(text).digest()))
        file.write(text)
        for section, array in zip(sections, stored.values(), strict=True):
            file.seek(begin + section["offset"])
            file.write(array.reshape(-1).view(np.uint8).data)
        file.truncate(max(begin + offset, file.tell()))


def open_archive(path: str | Path) -> Archive:
    """Open a saved file and check its header and sizes, but not yet its arrays.

    Raises:
        FileError: the file can't be read, isn't fwrl's, is damaged, or has a different format version.

    >>> from fwrl.files import scratch_folder, write_archive
    >>> with scratch_folder() as folder:
    ...     write_archive(folder / "x.fwrl", "numbers", {}, {"times": np.array([1.5, 2.0])})
    ...     open_archive(folder / "x.fwrl").names
    ['times']
    """
    path = check_path(path, "a saved file")
    try:
        with path.open("rb") as file:
            prefix = file.read(PREFIX.size)
            header = _header(path, prefix, file.read(_header_length(path, prefix)))
            data = _content(file)
    except OSError as error:
        raise _unreadable(path, error) from error
    begin = _aligned(PREFIX.size + _header_length(path, prefix))
    for section in header["sections"]:
        section["offset"] += begin
        if section["offset"] + _nbytes(section) > len(data):
            raise FileError(f"{str(path)!r} is truncated: section {section['name']!r} is cut off")
    return Archive(path, header, data)


def _content(file: IO[bytes]) -> mmap.mmap | bytes:
    """Map the whole file; on Windows read it, because a mapped file couldn't be replaced there."""
    if sys.platform == "win32":
        file.seek(0)
        return file.read()
    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def is_archive(path: str | Path) -> bool:
    """Check whether a file starts like fwrl's files, without reading the rest; FileError if it can't be read.

    >>> is_archive(__file__)
    False
    """
    try:
        with Path(path).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: str | Path, error: OSError) -> FileError:
    if isinstance(error, FileNotFoundError):
        return missing_file(path)
    remedy = "; choose a file in it" if isinstance(error, IsADirectoryError) else ""
    return FileError(f"cannot read {str(path)!r}: {error.strerror or error}{remedy}")


def check_archive(path: str | Path) -> Archive:
    """Open a saved file and check every section's checksum.

    Raises:
        FileError: the file can't be read, isn't fwrl's, is damaged, or has a different format version.

    >>> from fwrl.files import scratch_folder, write_archive
    >>> with scratch_folder() as folder:
    ...     write_archive(folder / "x.fwrl", "numbers", {}, {"times": np.array([1.5, 2.0])})
    ...     check_archive(folder / "x.fwrl").kind
    'numbers'
    """
    archive = open_archive(path)
    for name in archive.names:
        archive[name]
    return archive


def _header_length(path: Path, prefix: bytes) -> int:
    if len(prefix) < PREFIX.size or prefix[:8] != MAGIC:
        raise FileError(f"{str(path)!r} is not a file saved by fwrl; make one with fwrl fit or fwrl train")
    _, version, length, _ = PREFIX.unpack(prefix)
    if version != VERSION:
        raise FileError(
            f"{str(path)!r} has format version {version}, but this fwrl reads version {VERSION}; "
            "open it with the fwrl that wrote it, or make it again with this one"
        )
    if length > LONGEST_HEADER:
        raise FileError(f"{str(path)!r} is damaged: its header has {length:,} bytes, more than {LONGEST_HEADER:,}")
    return int(length)


def _header(path: Path, prefix: bytes, text: bytes) -> dict[str, Any]:
    _, _, length, checksum = PREFIX.unpack(prefix)
    if len(text) < length:
        raise FileError(f"{str(path)!r} is truncated: the header is cut off")
    if hashlib.sha256(text).digest() != checksum:
        raise FileError(f"{str(path)!r} is damaged: the header's checksum doesn't match")
    try:
        header = json.loads(text)
        sound = header["version"] == VERSION
        sound = sound and isinstance(header["kind"], str) and isinstance(header["details"], dict)
        sound = sound and all(_sound_section(section) for section in header["sections"])
    except (ValueError, TypeError, KeyError, RecursionError):
        sound = False
    if not sound:
        raise FileError(f"{str(path)!r} is damaged: its header is not valid")
    return header  # type: ignore[no-any-return]


def _sound_section(section: dict[str, Any]) -> bool:
    return (
        isinstance(section["name"], str)
        and section["dtype"] in DTYPES
        and isinstance(section["sha256"], str)
        and all(type(n) is int and 0 <= n < 2**48 for n in [section["offset"], *section["shape"]])
        and len(section["shape"]) <= 8
        and math.prod(max(n, 1) for n in section["shape"]) * np.dtype(section["dtype"]).itemsize <= MOST_BYTES
    )


def _nbytes(section: dict[str, Any]) -> int:
    return int(math.prod(section["shape"]) * np.dtype(section["dtype"]).itemsize)


def _stored(name: str, array: NDArray[Any]) -> NDArray[Any]:
    stored = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape)
    if stored.dtype.str not in DTYPES:
        known = ", ".join(np.dtype(dtype).name for dtype in DTYPES)
        raise FwrlError(f"cannot save {name!r} as {array.dtype}; convert it with astype to one of {known}")
    return stored


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT
