"""Names of columns as options give them."""

from __future__ import annotations

from fwrl.errors import OptionError


def column_names(text: str | None) -> dict[str, str]:
    """The columns in OURS=THEIRS,...; none without a text. An empty THEIRS leaves a column out."""
    chosen: dict[str, str] = {}
    for pair in (text or "").split(","):
        ours, equals, theirs = pair.partition("=")
        if equals and ours.strip():
            chosen[ours.strip()] = theirs.strip()
        elif text:
            raise OptionError(f"expected columns as OURS=THEIRS,..., got {pair!r}")
    return chosen
