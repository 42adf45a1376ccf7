"""Labels: the names of states, actions and trips, as integers or text.

The code of a label is its index in the sorted list of labels. Integers are kept as one array. Text is kept as the
concatenated UTF-8 bytes of all labels and the offset where each begins, so that a million names can be mapped from a
file without decoding them.
"""

from __future__ import annotations

import bisect
import difflib
import fnmatch
import itertools
import operator
import re
import unicodedata
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwrl.arguments import shown
from fwrl.arrays import Ints
from fwrl.errors import FileError, UnknownNameError
from fwrl.files import Archive

Label = int | str
Bytes = NDArray[np.uint8]
Codes = NDArray[np.int32]

ALL_NAMES = "planner.states has all names"  # the remedy for an unknown name
AT_ONCE = 100_000  # labels decoded in one go in a search
ALL_COMPARED = 20_000  # with more labels, only those near in order are compared with an unknown one
CLOSE = 3  # matches shown
LONGEST = 20  # characters of an integer of 64 bits

# Names of a file's sections, after the name of what is labelled and a dot.
NUMBER, TEXT, OFFSET = "number", "text", "offset"


class Labels(Sequence[Label]):
    """Distinct labels in ascending order; `labels[code]` is a label, `labels.find(label)` its code.

    >>> docks = labels_of(["north", "south", "east"])
    >>> docks[0], docks.find("south"), len(docks)
    ('east', 2, 3)
    >>> labels_of([30, 4]).find("30")
    1
    """

    @abstractmethod
    def decode(self, codes: list[int]) -> list[Label]:
        """The labels of several codes; much faster than one by one."""

    def texts(self, codes: NDArray[Any]) -> NDArray[Any]:
        """(n,) the labels of `codes` as text, in an array that DuckDB reads."""
        wanted, place = np.unique(codes, return_inverse=True)
        labels: NDArray[Any] = np.array([str(label) for label in self.decode(wanted.tolist())], object)[place]
        return labels

    @abstractmethod
    def subset(self, codes: NDArray[Any]) -> Labels:
        """The labels of `codes`, which ascend."""

    @abstractmethod
    def code(self, label: object) -> int | None:
        """Return the code of `label`, or None if it is unknown."""

    @abstractmethod
    def insertion_code(self, label: object) -> int:
        """The code before which an unknown `label` would be inserted."""

    @abstractmethod
    def sections(self, name: str) -> dict[str, NDArray[Any]]:
        """The sections of a file that hold these labels of `name`."""

    def find(self, label: object, what: str = "state") -> int:
        """The code of `label`; the error for an unknown one carries close matches."""
        code = self.code(label)
        if code is None:
            close = self._close(label)
            meant = f"did you mean {' or '.join(repr(c) for c in close)}?"
            hint = meant if close else f"no known name is similar; {ALL_NAMES}"
            raise UnknownNameError(f"unknown {what} {shown(label)} among {len(self):,}; {hint}")
        return code

    def search(self, pattern: str) -> Codes:
        """The codes of the labels that contain `pattern` or, with `*` or `?` in it, match it; case is ignored."""
        folded = _folded(pattern)
        matches = (
            re.compile(fnmatch.translate(folded)).match
            if "*" in pattern or "?" in pattern
            else lambda name: folded in name
        )
        codes: list[int] = []
        for begin in range(0, len(self), AT_ONCE):
            names = self[begin : begin + AT_ONCE]
            codes += [code for code, name in enumerate(names, begin) if matches(_folded(str(name)))]
        return np.array(codes, np.int32)

    def _close(self, label: object) -> list[Label]:
        """Labels like an unknown one: in other case, then those that begin with it, contain it, or are similar."""
        wanted = str(label)
        containing = self.decode(self.search(_literal(wanted)).tolist()) if wanted else []
        folded = [known for known in containing if str(known).casefold() == wanted.casefold()]
        if folded:
            return folded[:CLOSE]
        containing.sort(key=lambda known: (not str(known).casefold().startswith(wanted.casefold()), len(str(known))))
        close = containing[:CLOSE]
        begin, end = 0, len(self)
        if end > ALL_COMPARED:
            begin = max(0, self.insertion_code(label) - ALL_COMPARED // 2)
            end = min(end, begin + ALL_COMPARED)
        near = {str(known): known for known in self[begin:end]}
        similar = (near[text] for text in difflib.get_close_matches(wanted, near, n=CLOSE))
        return [*close, *(known for known in similar if known not in close)][:CLOSE]

    def __getitem__(self, code: Any) -> Any:
        if isinstance(code, slice):
            return self.decode(list(range(*code.indices(len(self)))))
        if not -len(self) <= code < len(self):
            raise IndexError(code)
        return self.decode([code % len(self)])[0]

    def __iter__(self) -> Iterator[Label]:
        return iter(self.decode(list(range(len(self)))))


class IntegerLabels(Labels):
    """Integers of 64 bits."""

    def __init__(self, numbers: Ints) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def decode(self, codes: list[int]) -> list[Label]:
        numbers: list[Label] = self.numbers[codes].tolist()
        return numbers

    def subset(self, codes: NDArray[Any]) -> Labels:
        return IntegerLabels(np.asarray(self.numbers)[codes])

    def code(self, label: object) -> int | None:
        """The code of `label`, which may be an integer or the usual text of one."""
        number = integer(label)
        code = -1 if number is None else int(np.searchsorted(self.numbers, number))
        return code if 0 <= code < len(self) and self.numbers[code] == number else None

    def insertion_code(self, label: object) -> int:
        number = integer(label)
        return 0 if number is None else int(np.searchsorted(self.numbers, number))

    def sections(self, name: str) -> dict[str, NDArray[Any]]:
        return {f"{name}.{NUMBER}": self.numbers}

    def __repr__(self) -> str:
        return f"<{len(self):,} labels, integer>"


class TextLabels(Labels):
    """Strings, in the order of their UTF-8 bytes."""

    def __init__(self, text: Bytes, offsets: Ints) -> None:
        self.text, self.offsets = text, offsets

    @classmethod
    def of(cls, ordered: Sequence[str]) -> TextLabels:
        """Labels from distinct strings in the order of their UTF-8 bytes."""
        encoded = [label.encode() for label in ordered]
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def decode(self, codes: list[int]) -> list[Label]:
        wanted = np.array(codes, np.int64)
        begins, ends = self.offsets[wanted].tolist(), self.offsets[wanted + 1].tolist()
        text = memoryview(self.text)  # type: ignore[arg-type]
        return [str(text[begin:end], "utf-8") for begin, end in zip(begins, ends, strict=True)]

    def subset(self, codes: NDArray[Any]) -> Labels:
        sizes, offsets = np.diff(self.offsets)[codes], np.zeros(len(codes) + 1, np.int64)
        np.cumsum(sizes, out=offsets[1:])
        places = np.repeat(self.offsets[:-1][codes] - offsets[:-1], sizes) + np.arange(offsets[-1])
        return TextLabels(np.asarray(self.text)[places], offsets)

    def code(self, label: object) -> int | None:
        """The code of `label`, also where its accents are composed in the other way (Unicode NFC and NFD)."""
        for text in dict.fromkeys((str(label), *(unicodedata.normalize(form, str(label)) for form in ("NFC", "NFD")))):
            code = self.insertion_code(text)
            if code < len(self) and self._bytes(code) == _encoded(text):
                return code
        return None

    def insertion_code(self, label: object) -> int:
        return bisect.bisect_left(range(len(self)), _encoded(label), key=self._bytes)

    def sections(self, name: str) -> dict[str, NDArray[Any]]:
        return {f"{name}.{TEXT}": self.text, f"{name}.{OFFSET}": self.offsets}

    def check_order(self) -> None:
        """Raise FileError if labels are not in ascending order; reads every label, unlike `read_labels`."""
        if not all(a < b for a, b in itertools.pairwise(map(self._bytes, range(len(self))))):
            raise FileError("expected labels in order; the file is damaged")

    def _bytes(self, code: int) -> bytes:
        return self.text[self.offsets[code] : self.offsets[code + 1]].tobytes()

    def __repr__(self) -> str:
        return f"<{len(self):,} labels, text>"


def labels_of(names: Iterable[Label]) -> Labels:
    """Labels from distinct names: integers if all of them are, otherwise text."""
    ordered = sorted(names)
    if all(isinstance(name, int) for name in ordered):
        return IntegerLabels(np.array(ordered, np.int64))
    return TextLabels.of([str(name) for name in ordered])


def read_labels(archive: Archive, name: str) -> Labels:
    """The labels of `name` in a file; FileError unless they are distinct labels in order.

    That text is in ascending order is checked by `check_order` only.
    """
    if f"{name}.{NUMBER}" in archive:
        numbers = archive[f"{name}.{NUMBER}"]
        sound = numbers.dtype == np.int64 and numbers.ndim == 1 and bool(np.all(numbers[1:] > numbers[:-1]))
        labels: Labels = IntegerLabels(numbers)
    else:
        text, offsets = archive[f"{name}.{TEXT}"], archive[f"{name}.{OFFSET}"]
        sound = text.dtype == np.uint8 and offsets.dtype == np.int64 and text.ndim == offsets.ndim == 1
        sound = sound and len(offsets) > 0 and bool(offsets[0] == 0 and offsets[-1] == len(text))
        sound = sound and bool(np.all(np.diff(offsets) > 0)) and _is_utf8(text, offsets)
        labels = TextLabels(text, offsets)
    if not sound:
        raise FileError(f"expected the labels {name!r} as distinct names in order; the file is damaged")
    return labels


def _literal(text: str) -> str:
    """A pattern of `search` for labels that contain `text`, with any characters."""
    if "*" not in text and "?" not in text:
        return text
    return "*" + "".join(f"[{c}]" if c in "*?[" else c for c in text) + "*"


def integer(label: object) -> int | None:
    """The 64-bit integer that `label` is, or is the usual text of; None otherwise."""
    given = label
    if isinstance(label, str) and len(label) > LONGEST:
        return None
    try:
        if isinstance(label, float | np.floating):
            given = int(label) if label.is_integer() else None
        number = int(label) if isinstance(label, str) else operator.index(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    as_given = not isinstance(label, str) or str(number) == label
    return number if as_given and -(2**63) <= number < 2**63 else None


def _folded(text: str) -> str:
    """A text without differences of case and of how accents are composed."""
    return unicodedata.normalize("NFC", text).casefold()


def _encoded(label: object) -> bytes:
    """The bytes of a label. Those from a command line may be invalid UTF-8, which no label has."""
    return str(label).encode(errors="surrogatepass")


def _is_utf8(text: Bytes, offsets: Ints) -> bool:
    """Whether all of it is UTF-8 and no label begins inside a character."""
    try:
        str(memoryview(text), "utf-8")  # type: ignore[arg-type]
    except UnicodeDecodeError:
        return False
    return not bool(np.any(text[offsets[:-1]] & 0xC0 == 0x80))
