"""The report as one HTML file with styles and figures embedded, so that it opens offline."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from pathlib import Path

from fwrl.report.drawing import CaptionedFigure
from fwrl.report.finding import Finding
from fwrl.report.tables import Table

STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --paper: #fff; --rule: #d5dbe1; --soft: #f3f5f7; --mute: #5b6875; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9ee; --paper: #14191f; --rule: #36404a; --soft: #1d242c; --mute: #9aa7b3; }
}
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto;
  max-width: 62rem; padding: 1.5rem 1.2rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: .6rem 0 1rem; }
h2 { font-size: 1.35rem; margin: 2.6rem 0 .8rem; border-bottom: 1px solid var(--rule); padding-bottom: .3rem; }
h3 { font-size: 1.05rem; margin: 1.8rem 0 .5rem; }
p.note, figcaption { color: var(--mute); font-size: .9rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .45rem .7rem .45rem 0; border-bottom: 1px solid var(--rule); }
th { font-weight: 600; color: var(--mute); }
td:first-child { font-weight: 600; }
.verdict { white-space: nowrap; font-weight: 700; }
.verdict::before { display: inline-block; width: 1.3em; }
.holds::before { content: "\\2713"; color: #009e73; }
.part::before { content: "\\25D0"; color: #b36b00; }
.not::before { content: "\\2717"; color: #d55e00; }
.reason { color: var(--mute); }
figure { margin: 1.6rem 0; }
figure img { max-width: 100%; height: auto; background: #fff; border-radius: 4px; }
"""
MARKS = {"holds": "holds", "holds in part": "part", "does not hold": "not", "undecided": "part"}
MEDIA = {".png": "image/png", ".gif": "image/gif"}


def html_page(
    title: str,
    introduction: str,
    findings: Sequence[Finding],
    tables: Sequence[Table],
    figures: Sequence[CaptionedFigure],
) -> str:
    """The whole page."""
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><main>",
        f"<h1>{escape(title)}</h1><p>{escape(introduction)}</p>",
        "<h2>Verdicts</h2>",
        _verdicts(findings),
        "<h2>Numbers</h2>",
        *(_table(table) for table in tables),
        "<h2>Figures</h2>",
        *(_figure(figure) for figure in figures),
        "</main></body></html>",
    ]
    return "\n".join(parts) + "\n"


def _verdicts(findings: Sequence[Finding]) -> str:
    rows = [
        f'<tr><td>{escape(f.claim)}</td><td class="verdict {MARKS[f.verdict]}">{escape(f.verdict)}</td>'
        f"<td>{escape(f.numbers)}{_reason(f)}</td></tr>"
        for f in findings
    ]
    return _scroll(["claim", "verdict", "numbers; reason where it does not hold, and the reading it rests on"], rows)


def _reason(finding: Finding) -> str:
    return f'<br><span class="reason">{escape(finding.remarks)}</span>' if finding.remarks else ""


def _table(table: Table) -> str:
    rows = ["<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows]
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    return f"<h3>{escape(table.title)}</h3>{_scroll(table.columns, rows)}{note}"


def _scroll(columns: Sequence[str], rows: Sequence[str]) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _figure(figure: CaptionedFigure) -> str:
    path = figure.files[0]
    caption = escape(figure.caption)
    return (
        f'<figure><img alt="{caption}" src="data:{MEDIA[path.suffix]};base64,{_encoded(path)}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode("ascii")
