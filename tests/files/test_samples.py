"""Sample files load and answer what was recorded when they were written, and are still written to the byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from make_samples import ANSWERS, SAMPLES, VARIANTS, agent_answers, file_name, make_samples, planner_answers

import fwrl
from fwrl.files import open_archive
from fwrl.planner import Planner

SOLVED = "fwrl-rate-expected-optimistic.fwrl"
RECORDED: dict[str, Any] = json.loads((SAMPLES / ANSWERS).read_text())


@pytest.mark.parametrize("name", RECORDED)
def test_a_sample_answers_what_was_recorded(name):
    loaded = fwrl.load(SAMPLES / name)
    answers = planner_answers(loaded) if isinstance(loaded, Planner) else agent_answers(loaded)
    told, expected = json.loads(json.dumps(answers)), dict(RECORDED[name])
    # Some agents compute values when asked, and their last digit differs between machines.
    for name in {"values", "action_table"} & set(expected):
        assert told.pop(name) == approximately(expected.pop(name))
    assert told == expected


def approximately(numbers: Any) -> Any:
    if isinstance(numbers, dict):
        return {key: approximately(part) for key, part in numbers.items()}
    if isinstance(numbers, list):
        return [approximately(part) for part in numbers]
    return pytest.approx(numbers, rel=1e-9)


def test_every_sample_is_recorded_and_every_configuration_has_one():
    assert {path.name for path in SAMPLES.glob("*.fwrl")} == set(RECORDED)
    assert {file_name(name, options) for name, options in VARIANTS} <= set(RECORDED)


@pytest.fixture(scope="module")
def made_now(tmp_path_factory) -> Path:
    folder: Path = tmp_path_factory.mktemp("samples")
    make_samples(folder)
    return folder


def test_samples_made_now_are_the_recorded_ones_to_the_byte(made_now):
    for path in SAMPLES.glob("*.fwrl"):
        if path.name != SOLVED:
            assert (made_now / path.name).read_bytes() == path.read_bytes()


def test_a_sample_with_a_solved_rate_is_the_recorded_one_up_to_its_last_digits(made_now):
    # The rate comes from a sparse solver, whose last digit differs between processors.
    made, recorded = open_archive(made_now / SOLVED), open_archive(SAMPLES / SOLVED)
    assert made.names == recorded.names
    for name in recorded.names:
        np.testing.assert_allclose(made[name], recorded[name], rtol=1e-9, err_msg=name)
