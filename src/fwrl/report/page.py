"""The content of a report, independent of its format: a headline, sections of claims with their pictures, tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from fwrl.report.drawing import CaptionedFigure
from fwrl.report.finding import Finding
from fwrl.report.tables import Table


class Section(NamedTuple):
    """Claims of one kind."""

    title: str
    text: str
    findings: Sequence[Finding]
    figures: Sequence[CaptionedFigure]


class Page(NamedTuple):
    """A whole report.

    Attributes:
        headline: The answer, in two sentences.
        method: How claims are judged.
    """

    title: str
    headline: str
    method: str
    sections: Sequence[Section]
    tables: Sequence[Table]

    @property
    def findings(self) -> list[Finding]:
        """The claims of all sections."""
        return [finding for section in self.sections for finding in section.findings]


def anchor(text: str) -> str:
    """The name of a heading in links.

    >>> anchor("Four rooms: FWRL (exact) earns more")
    'four-rooms-fwrl-exact-earns-more'
    """
    return re.sub(r"\W+", "-", text.lower()).strip("-")
