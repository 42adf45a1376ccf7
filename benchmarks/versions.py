"""Which code results were made by."""

from __future__ import annotations

import hashlib
from pathlib import Path

PAGES = ("page.py", "online.py", "spread.py")  # code that results do not depend on


def digest(*packages: str) -> str:
    """A digest of the sources of packages of fwrl; kept results of other code are not used."""
    found = hashlib.sha256()
    for package in packages:
        for source in sorted((Path(__file__).resolve().parents[1] / package).glob("*.py")):
            if source.name not in PAGES:
                found.update(source.read_bytes())
    return found.hexdigest()[:12]
