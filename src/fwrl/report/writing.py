"""Writing the report down: everything is drawn and judged once, then laid out twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from fwrl.experiment.store import Store
from fwrl.files import replaced
from fwrl.report.claims import Finding, findings
from fwrl.report.evidence import Evidence
from fwrl.report.html import html_page
from fwrl.report.markdown import markdown_page
from fwrl.report.pictures import PICTURES, Picture, draw_pictures
from fwrl.report.tables import Table, all_tables


class Report(NamedTuple):
    """All that the pages say."""

    findings: list[Finding]
    tables: list[Table]
    pictures: list[Picture]


def write_report(store: Store, folder: Path, watch: Callable[[str, float], None] = lambda *_: None) -> Report:
    """Write figures, `report.html` and `report.md` into `folder`; `watch` hears what and how far."""
    evidence = Evidence(store)
    pictures = []
    for picture in draw_pictures(evidence, folder / "figures"):
        pictures.append(picture)
        watch(picture.name, len(pictures) / (len(PICTURES) + 2))
    tables = all_tables(evidence)
    watch("tables", (len(PICTURES) + 1) / (len(PICTURES) + 2))
    report = Report(findings(evidence), tables, pictures)
    _write(folder / "report.html", html_page(*report))
    _write(folder / "report.md", markdown_page(*report))
    watch("report", 1.0)
    return report


def _write(path: Path, text: str) -> None:
    with replaced(path) as draft:
        draft.write_text(text, encoding="utf-8")
