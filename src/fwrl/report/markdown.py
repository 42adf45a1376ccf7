"""The report as Markdown; its figures are files beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fwrl.report.drawing import CaptionedFigure
from fwrl.report.finding import Finding
from fwrl.report.tables import Table


def markdown_page(
    title: str,
    introduction: str,
    findings: Sequence[Finding],
    tables: Sequence[Table],
    figures: Sequence[CaptionedFigure],
) -> str:
    """The whole page."""
    parts = [f"# {title}", introduction, "## Verdicts", _verdicts(findings), "## Numbers"]
    parts += [part for table in tables for part in _table(table)]
    parts.append("## Figures")
    parts += [f"![{figure.caption}](figures/{figure.files[0].name})\n\n*{figure.caption}*" for figure in figures]
    return "\n\n".join(parts) + "\n"


def _verdicts(findings: Sequence[Finding]) -> str:
    rows = ["| claim | verdict | numbers | reason, reading |", "|---|---|---|---|"]
    rows += [f"| {f.claim} | **{f.verdict}** | {f.numbers} | {f.remarks} |" for f in findings]
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
