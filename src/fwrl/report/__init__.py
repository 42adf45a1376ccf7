"""The report: figures and verdicts, as one HTML file that opens offline and as Markdown."""

from fwrl.report.claims import Finding, findings
from fwrl.report.evidence import Evidence
from fwrl.report.writing import write_report

__all__ = ["Evidence", "Finding", "findings", "write_report"]
