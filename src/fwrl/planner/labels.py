"""Names of states, actions and trips: strings or integers, kept as given, in order.

Inside, a label is its place in the sorted list. Integers are kept as one array, strings as the bytes of all of them
on end with the offsets where each begins, so that a million names are mapped from a file without being read.
"""

from __future__ import annotations

import bisect
import difflib
import itertools
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FileError, UnknownNameError
from fwrl.files import Archive

Label = int | str
Ints = NDArray[np.int64]

ALL_COMPARED = 20_000  # with more names, only those near in order are compared with an unknown one
CLOSE = 3  # matches shown
LONGEST = 20  # characters of an integer of 64 bits


class Labels(Sequence[Label]):
    """Distinct labels in order; `labels[i]` is the i-th, `labels.find(name)` its place.

    >>> docks = Labels.of(["north", "south", "east"])
    >>> docks[0], docks.find("south"), len(docks)
    ('east', 2, 3)
    >>> Labels.of([30, 4]).find("30")
    1
    """

    def __init__(self, numbers: Ints | None, text: NDArray[np.uint8] | None = None, offsets: Ints | None = None):
        self.numbers = numbers
        self._text, self._offsets = text, offsets

    @classmethod
    def of(cls, names: Iterable[Label]) -> Labels:
        """Labels from distinct names, all integers or all strings."""
        ordered = sorted(names)
        if all(isinstance(name, int) for name in ordered):
            return cls(np.array(ordered, np.int64))
        return cls.of_text([str(name) for name in ordered])

    @classmethod
    def of_text(cls, ordered: Sequence[str]) -> Labels:
        """Labels from distinct strings in the order of their UTF-8 bytes."""
        encoded = [name.encode() for name in ordered]
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
        return cls(None, np.frombuffer(b"".join(encoded), np.uint8), offsets)

    @property
    def kind(self) -> str:
        """`integer` or `text`."""
        return "text" if self.numbers is None else "integer"

    def __len__(self) -> int:
        if self.numbers is not None:
            return len(self.numbers)
        assert self._offsets is not None
        return len(self._offsets) - 1

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[k] for k in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        place = place % len(self)
        return int(self.numbers[place]) if self.numbers is not None else self._bytes(place).decode()

    def many(self, places: list[int]) -> list[Label]:
        """The labels at several places: much faster than one by one."""
        if self.numbers is not None:
            numbers: list[Label] = self.numbers[places].tolist()
            return numbers
        assert self._text is not None
        assert self._offsets is not None
        wanted = np.array(places, np.int64)
        begins, ends = self._offsets[wanted].tolist(), self._offsets[wanted + 1].tolist()
        text = memoryview(self._text)  # type: ignore[arg-type]
        return [str(text[begin:end], "utf-8") for begin, end in zip(begins, ends, strict=True)]

    def taken(self, places: NDArray[Any], as_text: bool) -> NDArray[Any]:
        """(n,) the labels at `places`, as text where they are to be."""
        if self.numbers is not None:
            numbers: NDArray[Any] = np.ascontiguousarray(self.numbers)[places]
            return numbers.astype(str).astype(object) if as_text else numbers
        names: NDArray[Any] = np.array(self.many(list(range(len(self)))), object)[places]
        return names

    def _bytes(self, place: int) -> bytes:
        assert self._text is not None
        assert self._offsets is not None
        return self._text[self._offsets[place] : self._offsets[place + 1]].tobytes()

    def place(self, name: object) -> int | None:
        """Where `name` is, None if it is not there; integers may come as text, from a command line."""
        if self.numbers is not None:
            number = _integer(name)
            k = -1 if number is None else int(np.searchsorted(self.numbers, number))
            return k if 0 <= k < len(self) and self.numbers[k] == number else None
        wanted = _encoded(name)
        k = bisect.bisect_left(range(len(self)), wanted, key=self._bytes)
        return k if k < len(self) and self._bytes(k) == wanted else None

    def find(self, name: object, what: str = "state") -> int:
        """Where `name` is; an unknown one is an error that carries close matches."""
        place = self.place(name)
        if place is None:
            close = self._close(name)
            hint = f"did you mean {' or '.join(repr(c) for c in close)}?" if close else "nothing known is like it."
            raise UnknownNameError(f"unknown {what} {name!r} among {len(self):,}; {hint}")
        return place

    def _close(self, name: object) -> list[Label]:
        begin, end = 0, len(self)
        if end > ALL_COMPARED:
            if self.numbers is not None:
                number = _integer(name)
                middle = 0 if number is None else int(np.searchsorted(self.numbers, number))
            else:
                middle = bisect.bisect_left(range(end), _encoded(name), key=self._bytes)
            begin = max(0, middle - ALL_COMPARED // 2)
            end = min(end, begin + ALL_COMPARED)
        near = {str(label): label for label in self[begin:end]}
        wanted = str(name)
        folded = [text for text in near if text.casefold() == wanted.casefold()]
        close = folded or difflib.get_close_matches(wanted, near, n=CLOSE)
        return [near[text] for text in close[:CLOSE]]

    def arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """What a file keeps of them."""
        if self.numbers is not None:
            return {f"{prefix}.number": self.numbers}
        assert self._text is not None
        assert self._offsets is not None
        return {f"{prefix}.text": self._text, f"{prefix}.offset": self._offsets}

    @classmethod
    def restored(cls, archive: Archive, prefix: str) -> Labels:
        """The labels that a file keeps; FileError where they are not distinct labels in order."""
        if f"{prefix}.number" in archive:
            labels = cls(archive[f"{prefix}.number"])
            sound = labels.numbers is not None and labels.numbers.dtype == np.int64 and labels.numbers.ndim == 1
            sound = sound and bool(np.all(labels.numbers[1:] > labels.numbers[:-1]))  # type: ignore[index]
        else:
            text, offsets = archive[f"{prefix}.text"], archive[f"{prefix}.offset"]
            labels = cls(None, text, offsets)
            sound = text.dtype == np.uint8 and offsets.dtype == np.int64 and text.ndim == offsets.ndim == 1
            sound = sound and len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == len(text)
            sound = sound and bool(np.all(np.diff(offsets) > 0))
            sound = sound and _readable(text, offsets)
        if not sound:
            raise FileError(f"expected the labels {prefix!r} as distinct names in order; the file is damaged")
        return labels

    def check_order(self) -> None:
        """Refuse text labels that are out of order: looks at every one of them."""
        texts = [self._bytes(k) for k in range(len(self))] if self.numbers is None else []
        if not all(a < b for a, b in itertools.pairwise(texts)):
            raise FileError("expected labels in order; the file is damaged")

    def __repr__(self) -> str:
        return f"<{len(self):,} labels, {self.kind}>"


def _integer(name: object) -> int | None:
    """The integer that `name` is, or is the usual text of."""
    given = name
    if isinstance(name, str) and len(name) > LONGEST:
        return None
    try:
        if isinstance(name, float | np.floating):
            given = int(name) if name.is_integer() else None
        number = int(name) if isinstance(name, str) else operator.index(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    as_given = not isinstance(name, str) or str(number) == name
    return number if as_given and -(2**63) <= number < 2**63 else None


def _encoded(name: object) -> bytes:
    """The bytes of a name; a command line may hold some that are no text, and then no label has them."""
    return str(name).encode(errors="surrogatepass")


def _readable(text: NDArray[np.uint8], offsets: Ints) -> bool:
    """Whether all of it is UTF-8 and no label begins inside a character."""
    try:
        str(memoryview(text), "utf-8")  # type: ignore[arg-type]
    except UnicodeDecodeError:
        return False
    return not bool(np.any(text[offsets[:-1]] & 0xC0 == 0x80))
