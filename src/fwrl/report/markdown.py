"""A report as Markdown; its figures are files next to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fwrl.report.finding import Finding
from fwrl.report.page import Page, Section


def markdown_page(page: Page) -> str:
    """The whole page."""
    rows = [(f.claim, f"**{f.result}**", f.number) for f in page.findings]
    parts = [f"# {page.title}", f"**{page.headline}**", _table(("claim", "result", "number"), rows)]
    for section in page.sections:
        parts += _section(section)
    parts += ["## All numbers", page.method]
    for table in page.tables:
        parts += [f"### {table.title}", _table(table.columns, table.rows), table.note]
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(section: Section) -> Iterator[str]:
    yield f"## {section.title}"
    yield section.text
    for figure in section.figures:
        yield f"![{figure.caption}](figures/{figure.files[0].name})\n\n*{figure.caption}*"
    yield "\n".join(f"- {_finding(finding)}" for finding in section.findings)


def _finding(finding: Finding) -> str:
    parts = [f"**{finding.claim}: {finding.result}.** {finding.numbers}.", finding.reason]
    parts += [f"Reading: {finding.reading}"] if finding.reading else []
    return " ".join(part for part in parts if part)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = (columns, ["---"] * len(columns), *rows)
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in lines)
