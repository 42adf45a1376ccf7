"""The declared tables are the ones DuckDB holds after the steps that write them, and modules keep to them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fwrl.planner import ingest
from fwrl.planner.ingest import schema
from fwrl.planner.ingest.encoding import encoded_experience
from fwrl.planner.ingest.grouping import group
from fwrl.planner.ingest.log import log_of
from fwrl.planner.ingest.options import ReadOptions
from fwrl.planner.ingest.reader import reading
from fwrl.planner.ingest.sources import sources_of

FOLDER = Path(ingest.__file__).parent
MODULES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in ("__init__", "schema"))

COLUMNS: dict[str, list[object]] = {
    "state": ["a", "b"],
    "next_state": ["b", "c"],
    "action": [1, 2],
    "reward": [-1.0, -2.0],
    "trip": ["t1", "t2"],
    "time": [1, 2],
    "terminated": [False, True],
}
LOGS = [
    ("state", "next_state"),
    ("state", "next_state", "time"),
    ("state", "next_state", "trip"),
    ("state", "next_state", "action", "reward"),
    ("state", "trip", "time"),
    ("state", "trip", "time", "terminated"),
    tuple(COLUMNS),
]


@pytest.mark.parametrize("names", LOGS, ids=["-".join(names) for names in LOGS])
def test_tables_have_the_declared_columns(names):
    given = {name: COLUMNS[name] for name in names}
    if "next_state" not in names:
        given["trip"] = ["t1", "t1"]
    with reading("256MB", None) as reader:
        log = log_of(reader.con, sources_of(reader.con, given, ReadOptions()), ReadOptions())
        group(reader, log, skip_bad=False)
        encoded_experience(reader, log)
        for table in expected_tables(log.has):
            columns = {row[0] for row in reader.con.execute(f"DESCRIBE {table}").fetchall()}
            assert columns == set(table.columns_with(log.has)), table.name


def expected_tables(has):
    tables = [schema.MOVES, schema.EDGES, schema.STATE_CODES]
    if "next_state" not in has:
        tables.append(schema.VISITS)
    if "action" in has:
        tables.append(schema.ACTION_CODES)
    if "trip" in has:
        tables += [schema.TRIP_HASHES, schema.EDGE_TRIPS, schema.TRIP_CODES]
    return tables


@pytest.mark.parametrize("table", schema.TABLES, ids=str)
def test_only_declared_modules_write_and_read_a_table(table):
    constant = next(name for name, value in vars(schema).items() if value is table)
    using = {module for module in MODULES if re.search(rf"\b{constant}\b", (FOLDER / f"{module}.py").read_text())}
    assert using == {*table.writers, *table.readers}
    written = rf"(TABLE|VIEW|INTO|FROM|RENAME TO) \{{{constant}\}}"
    for module in table.writers:
        text = (FOLDER / f"{module}.py").read_text()
        assert re.search(written, text) or f"(reader, {constant}" in text, module


def test_no_module_names_a_shared_table_itself():
    for module in MODULES:
        text = (FOLDER / f"{module}.py").read_text()
        for table in schema.TABLES:
            assert not re.search(rf"\b(FROM|JOIN|TABLE|VIEW|INTO) {table}\b", text), (module, table.name)
