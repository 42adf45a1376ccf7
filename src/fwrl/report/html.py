"""A report as one HTML file with styles and figures embedded, so that it opens offline."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from fwrl.report.drawing import CaptionedFigure
from fwrl.report.finding import Finding, Result
from fwrl.report.page import Page, Section, anchor

MARKS: dict[Result, str] = {"confirmed": "✓", "partly confirmed": "◐", "not confirmed": "✗", "undecided": "?"}
MEDIA = {".png": "image/png", ".svg": "image/svg+xml"}


def html_page(page: Page) -> str:
    """The whole page."""
    style, script = (
        files("fwrl.report").joinpath(f"page.{kind}").read_text(encoding="utf-8") for kind in ("css", "js")
    )
    titles = [*(section.title for section in page.sections), "All numbers"]
    links = "".join(f'<a href="#{anchor(title)}">{escape(title)}</a>' for title in titles)
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(page.title)}</title><style>\n{style}</style></head><body>",
            f'<nav aria-label="Contents">{links}</nav><main><header>',
            f"<h1>{escape(page.title)}</h1>",
            f'<p class="headline">{escape(page.headline)}</p>{_counts(page.findings)}</header>',
            f'<div class="strip">{"".join(_card(section) for section in page.sections if section.findings)}</div>',
            *map(_section, page.sections),
            f'<section><h2 id="{anchor("All numbers")}">All numbers</h2><p>{escape(page.method)}</p>',
            *(
                f"<details><summary>{escape(table.title)}</summary>{_table(table.columns, table.rows)}"
                f'<p class="note">{escape(table.note)}</p></details>'
                for table in page.tables
            ),
            f"</section></main><script>\n{script}</script></body></html>",
        ]
    )


def _counts(findings: Sequence[Finding]) -> str:
    """How many claims have each result."""
    counts = Counter(finding.result for finding in findings)
    shown = [f"<li>{_mark(result)} {counts[result]} {result}</li>" for result in MARKS if counts[result]]
    return f'<ul class="counts">{"".join(shown)}</ul>'


def _mark(result: Result) -> str:
    return f'<span class="mark {anchor(result)}" title="{result}">{MARKS[result]}</span>'


def _card(section: Section) -> str:
    """The claims of a section as links with marks."""
    rows = [
        f'<li><a href="#{anchor(f.claim)}">{_mark(f.result)}<span>{escape(f.claim)}</span></a></li>'
        for f in section.findings
    ]
    return f"<div><h3>{escape(section.title)}</h3><ul>{''.join(rows)}</ul></div>"


def _section(section: Section) -> str:
    text = f"<p>{escape(section.text)}</p>" if section.text else ""
    return (
        f'<section><h2 id="{anchor(section.title)}">{escape(section.title)}</h2>{text}'
        f"{''.join(map(_figure, section.figures))}{''.join(map(_finding, section.findings))}</section>"
    )


def _finding(finding: Finding) -> str:
    parts = [finding.numbers, finding.reason, f"Reading: {finding.reading}" if finding.reading else ""]
    text = "".join(f"<p>{escape(part)}</p>" for part in parts if part)
    return (
        f'<details id="{anchor(finding.claim)}"><summary>{_mark(finding.result)}<span>{escape(finding.claim)}</span>'
        f"<b>{escape(finding.number)}</b></summary>{text}</details>"
    )


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _figure(figure: CaptionedFigure) -> str:
    path, caption = figure.files[-1], escape(figure.caption)
    encoded = base64.b64encode(path.read_bytes()).decode("ascii")
    return (
        f'<figure><img alt="{caption}" src="data:{MEDIA[path.suffix]};base64,{encoded}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )
