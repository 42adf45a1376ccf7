"""Column names in options: OURS=THEIRS,..."""

from __future__ import annotations

from fwrl.errors import OptionError


def column_names(text: str | None) -> dict[str, str]:
    """Parse OURS=THEIRS,... An empty THEIRS leaves the column out; without text there are no names."""
    chosen: dict[str, str] = {}
    for pair in (text or "").split(","):
        ours, equals, theirs = pair.partition("=")
        if equals and ours.strip():
            chosen[ours.strip()] = theirs.strip()
        elif text:
            raise OptionError(f"write columns as OURS=THEIRS,..., not {pair!r}")
    return chosen
