"""Versions of everything that results depend on."""

from __future__ import annotations

import functools
import hashlib
import platform
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("fwrl", "numpy", "numba", "scipy", "duckdb")


@functools.cache
def installed() -> dict[str, str]:
    """Return the versions of Python, fwrl and its libraries, and a digest of fwrl's source; cached per process."""
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).resolve().parent.rglob("*.py")):
        digest.update(source.read_bytes())
    packages = {name: version(name) for name in PACKAGES}
    return {"python": platform.python_version(), **packages, "sources": digest.hexdigest()[:16]}
