"""The curves of other seeds: the same legs, repeated, and the quartiles over seeds of every point."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fwrl.errors import FwrlError
from fwrl.web.play.scenario import Scenario
from fwrl.web.play.workshop import Workshop

MOST_STEPS = 30_000_000  # of all seeds and both agents
FIELDS = ("reward", "inefficiency")

Curves = list[list[dict[str, Any]]]  # of one seed: for each side, the segments of its curve as JSON


async def seed_band(workshop: Workshop, scenario: Scenario, seeds: int) -> list[list[dict[str, Any]]]:
    """For each side and segment, the quartiles over `seeds` seeds of rewards and inefficiencies."""
    if not scenario.steps:
        raise FwrlError("there is nothing to repeat yet; play first")
    if seeds * scenario.steps > MOST_STEPS:
        raise FwrlError(
            f"{seeds} seeds are {seeds * scenario.steps:,} steps, and {MOST_STEPS:,} are the most; use fewer seeds"
        )
    curves = []
    for seed in range(seeds):
        match = await workshop.build(replace(scenario, seed=seed).match)
        await workshop.train(match, scenario.training, f"Seed {seed + 1} of {seeds}")
        curves.append([runner.curve.to_json() for runner in match.runners])
    return [quartiles([curve[side] for curve in curves]) for side in (0, 1)]


def quartiles(curves: Curves) -> list[dict[str, Any]]:
    """The quartiles over seeds of the points of each segment; points that some seed lacks are left out.

    >>> one, two = [{"reward": [1.0], "inefficiency": [None]}], [{"reward": [3.0], "inefficiency": [1.0]}]
    >>> quartiles([one, two])
    [{'reward': {'low': [1.5], 'median': [2.0], 'high': [2.5]}, 'inefficiency': {'low': [None], 'median': [None], \
'high': [None]}}]
    """
    segments = min(len(curve) for curve in curves)
    return [{field: _of_field(curves, k, field) for field in FIELDS} for k in range(-segments, 0)]


def _of_field(curves: Curves, segment: int, field: str) -> dict[str, list[float | None]]:
    columns = zip(*(curve[segment][field] for curve in curves), strict=False)
    points = [None if None in column else np.quantile(column, [0.25, 0.5, 0.75]).tolist() for column in columns]
    names = ("low", "median", "high")
    return {name: [None if point is None else point[k] for point in points] for k, name in enumerate(names)}
