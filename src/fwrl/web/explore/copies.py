"""Copies for the user: the question as a command, its answer as JSON, SVG or GeoJSON."""

from __future__ import annotations

import csv
import io
import json

from fwrl.errors import FwrlError, unknown_name
from fwrl.planner import Explanation
from fwrl.planner.explanation import shown_time
from fwrl.planner.interop import route_geojson
from fwrl.web.explore.explorer import Explorer
from fwrl.web.explore.question import Question, to_command

FORMATS = ("command", "json", "csv", "svg", "geojson")
COLUMNS = ("step", "from", "action", "to", "cost", "probability", "seen", "last_seen", "trips")


def copied(explorer: Explorer, question: Question, what: str) -> str:
    """A question in one of `FORMATS`: as a command, or what that prints with `--json` or writes with `--picture`."""
    shown = explorer.shown
    if what not in FORMATS:
        raise unknown_name("format", what[:60], FORMATS)
    if what == "geojson" and shown.map.kind == "layers":
        raise FwrlError("GeoJSON needs positions of states; the log has none, so give a file of positions")
    explanation = explorer.explanation(question)
    if what == "command":
        return to_command(question, shown.planner, shown.file, shown.positions)
    if what == "csv":
        return _csv(explanation)
    if what == "json":
        return json.dumps(explanation.to_dict(), indent=2)
    experience, positions = shown.planner.experience, shown.map.positions
    if what == "geojson":
        return json.dumps(route_geojson(explanation, experience, positions), indent=1)
    from fwrl.figures.route import route_map, write_svg

    picture = io.StringIO()
    write_svg(route_map(explanation, experience, positions), picture)
    return picture.getvalue()


def _csv(explanation: Explanation) -> str:
    """The steps as a table, a row for each."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    for number, (step, trips, last, _) in enumerate(explanation.steps, start=1):
        ends = step.state, step.action, step.next_state
        when = "" if last is None else shown_time(last)
        numbers = 0.0 - step.reward, step.probability, step.seen
        writer.writerow([number, *ends, *numbers, when, " ".join(map(str, trips))])
    return table.getvalue()
