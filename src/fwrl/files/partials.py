"""Finished parts of a result, kept beside it until the whole is written.

A part is a file named by a digest of all that determines it, so that a part is used again only where it is the same.
Parts are written all or nothing. When the block ends without an error, the folder is removed; after an error, or a kill
at any moment, the same command finds there what was finished.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from fwrl.errors import FileError
from fwrl.files.atomic import output_file, replaced

SUFFIX = ".parts"


class Partials:
    """A folder of finished parts.

    Args:
        folder: Where they are.

    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, key: str) -> Path:
        """The file of a part, which may not be there.

        Args:
            key: All that determines the part, as text.

        Returns:
            Its path.

        """
        return self.folder / hashlib.sha256(key.encode()).hexdigest()[:32]

    def write(self, key: str, content: bytes) -> None:
        """Keep a part.

        Args:
            key: All that determines it.
            content: Its bytes.

        """
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise FileError(f"cannot make the folder {str(self.folder)!r}: {error.strerror}") from error
        with replaced(self.path(key)) as draft:
            draft.write_bytes(content)


@contextlib.contextmanager
def partial_results(out: Path) -> Iterator[Partials]:
    """The finished parts of the file `out`, removed when the block ends without an error.

    Args:
        out: The file that the whole is to be written to.

    Yields:
        The parts, which stay after an error.

    """
    target = output_file(out)
    partials = Partials(target.with_name(target.name + SUFFIX))
    yield partials
    shutil.rmtree(partials.folder, ignore_errors=True)
