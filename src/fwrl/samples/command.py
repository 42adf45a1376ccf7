"""Run a sample as a module: bad input ends with one sentence and exit code 2, as in the fwrl command."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from fwrl.errors import FwrlError


def run_sample(write: Callable[..., None], module: str, *files: str) -> None:
    """Write a sample to the files named on the command line.

    Args:
        write: takes the paths of the files.
        module: as run by the user, for the usage message.
        files: names of the files in the usage message.
    """
    try:
        if len(sys.argv) != 1 + len(files):
            raise FwrlError(f"usage: python -m {module} {' '.join(files)}")
        write(*map(Path, sys.argv[1:]))
    except (FwrlError, OSError) as error:
        sys.stderr.write(f"{module}: {error}\n")
        sys.exit(2)
