"""The report: claims with their results, figures and tables, as one HTML file that opens offline and as Markdown."""

from fwrl.report.claims import findings
from fwrl.report.finding import Finding
from fwrl.report.stored_results import StoredResults
from fwrl.report.writing import write_report

__all__ = ["Finding", "StoredResults", "findings", "write_report"]
