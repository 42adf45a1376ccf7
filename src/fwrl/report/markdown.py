"""The report as Markdown, its pictures beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fwrl.report.claims import Finding
from fwrl.report.pictures import Picture
from fwrl.report.tables import Table
from fwrl.report.words import INTRODUCTION, TITLE


def markdown_page(findings: Sequence[Finding], tables: Sequence[Table], pictures: Sequence[Picture]) -> str:
    """The whole page."""
    parts = [f"# {TITLE}", INTRODUCTION, "## Verdicts", _verdicts(findings), "## Numbers"]
    parts += [part for table in tables for part in _table(table)]
    parts.append("## Figures")
    parts += [f"![{picture.caption}](figures/{picture.files[0].name})\n\n*{picture.caption}*" for picture in pictures]
    return "\n\n".join(parts) + "\n"


def _verdicts(findings: Sequence[Finding]) -> str:
    rows = ["| claim | verdict | numbers | reason |", "|---|---|---|---|"]
    rows += [f"| {f.claim} | **{f.verdict}** | {f.numbers} | {f.reason} |" for f in findings]
    return "\n".join(rows)


def _table(table: Table) -> Iterator[str]:
    yield f"### {table.title}"
    rule = "|" + "---|" * len(table.columns)
    yield (
        "\n".join(f"| {' | '.join(row)} |" for row in (table.columns,))
        + f"\n{rule}\n"
        + "\n".join(f"| {' | '.join(row)} |" for row in table.rows)
    )
    yield table.note
