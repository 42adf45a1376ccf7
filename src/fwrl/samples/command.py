"""Running a sample as a module: bad input ends in one sentence and exit code 2, as on the command line of fwrl."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from fwrl.errors import FwrlError


def run_sample(write: Callable[..., None], module: str, *files: str) -> None:
    """Write a sample to the files named on the command line.

    Args:
        write: Takes the paths of the files.
        module: As it is run, for the usage.
        files: What each file is called in the usage.

    """
    try:
        if len(sys.argv) != 1 + len(files):
            raise FwrlError(f"usage: python -m {module} {' '.join(files)}")
        write(*map(Path, sys.argv[1:]))
    except (FwrlError, OSError) as error:
        sys.stderr.write(f"{module}: {error}\n")
        sys.exit(2)
