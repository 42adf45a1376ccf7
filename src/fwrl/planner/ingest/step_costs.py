"""The cost of every observation of some edges, from the log itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from fwrl.arrays import Indices
from fwrl.errors import FwrlError
from fwrl.planner.experience import DEFAULT_REWARD, Experience
from fwrl.planner.ingest.attempts import read_in_some_way
from fwrl.planner.ingest.grouping import make_moves
from fwrl.planner.ingest.log import log_of
from fwrl.planner.ingest.options import ReadOptions
from fwrl.planner.ingest.reader import Progress, reading
from fwrl.planner.ingest.schema import MOVES
from fwrl.planner.ingest.sources import sources_of
from fwrl.planner.ingest.sql import listed
from fwrl.planner.quantiles import StepCosts


def observed_costs(
    experience: Experience, edges: Indices, source: Any, options: ReadOptions, memory: str, progress: Progress | None
) -> StepCosts:
    """The costs that the log `source` shows for `edges`, which ascend; other arguments as in `fwrl.fit`."""

    def costs(options: ReadOptions) -> StepCosts:
        with reading(memory, progress, option="memory") as reader:
            log = log_of(reader.con, sources_of(reader.con, source, options), options, experience.cells)
            make_moves(reader, log, options.skip_bad)
            codes = {"state": experience.source[edges], "next_state": experience.target[edges]}
            given: dict[str, Any] = {name: experience.states.column(code, True) for name, code in codes.items()}
            if experience.action is not None and experience.actions is not None and "action" in log.has:
                given["action"] = experience.actions.column(experience.action[edges], True)
            reader.con.register("given_edges", {**given, "edge": edges})
            types = reader.one(f"SELECT {listed(f'any_value(typeof({name}))' for name in given)} FROM {MOVES}")
            typed = (f"try_cast({name} AS {type_}) AS {name}" for name, type_ in zip(given, types, strict=True))
            reader.con.execute(f"CREATE TEMP TABLE plan_edges AS SELECT edge, {listed(typed)} FROM given_edges")
            reward = "reward" if "reward" in log.has else f"{DEFAULT_REWARD}::DOUBLE"
            terms = ["edge", f"-({reward}) AS cost", "sum(count)" if "count" in log.has else "count(*)"]
            known = f"NOT ({log.missing('reward')})" if "reward" in log.has else "true"
            found = reader.columns(
                f"SELECT {listed(terms)}::DOUBLE AS times FROM {MOVES} JOIN plan_edges USING ({listed(given)}) "
                f"WHERE {known} GROUP BY edge, cost ORDER BY edge, cost"
            )
        edge = found["edge"].astype(np.int32)
        _refuse_missing(experience, np.setdiff1d(edges, edge))
        return StepCosts(edge, found["cost"].astype(np.float64), found["times"].astype(np.float64))

    return read_in_some_way(costs, options)


def _refuse_missing(experience: Experience, missing: Indices) -> None:
    if len(missing):
        ends = experience.source[missing[0]], experience.target[missing[0]]
        a, b = experience.states.decode([int(end) for end in ends])
        raise FwrlError(
            f"the log has no move from {a!r} to {b!r}, which the plan takes; give all logs that the planner was fitted "
            "from"
        )
