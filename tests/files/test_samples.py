"""Files of every version of the format load, and answer what was recorded when they were written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from make_samples import ANSWERS, SAMPLES, VARIANTS, agent_answers, file_name, make_samples, planner_answers

import fwrl
from fwrl.agents.model import ModelAgent
from fwrl.files import check_archive
from fwrl.files.archive import VERSION
from fwrl.planner import Planner

VERSIONS = [f"v{version}" for version in range(1, VERSION + 1)]


def recorded(version: str) -> dict[str, Any]:
    answers: dict[str, Any] = json.loads((SAMPLES / version / ANSWERS).read_text())
    return answers


EVERY_SAMPLE = [(version, name) for version in VERSIONS for name in recorded(version)]


@pytest.mark.parametrize(("version", "name"), EVERY_SAMPLE, ids=["/".join(sample) for sample in EVERY_SAMPLE])
def test_a_sample_answers_what_was_recorded(version, name):
    loaded = fwrl.load(SAMPLES / version / name)
    answers = planner_answers(loaded) if isinstance(loaded, Planner) else agent_answers(loaded)
    told, expected = json.loads(json.dumps(answers)), dict(recorded(version)[name])
    if isinstance(loaded, Planner | ModelAgent):  # values are computed when asked for, to rounding
        np.testing.assert_allclose(told.pop("values"), expected.pop("values"), rtol=1e-9)
    if isinstance(loaded, ModelAgent):
        told_table, table = told.pop("action_table"), expected.pop("action_table")
        for goal in table:
            np.testing.assert_allclose(told_table[goal], table[goal], rtol=1e-9)
    assert told == expected


@pytest.mark.parametrize("version", VERSIONS)
def test_every_sample_of_every_version_is_recorded(version):
    assert {path.name for path in (SAMPLES / version).glob("*.fwrl")} == set(recorded(version))


def test_every_configuration_has_a_sample_of_the_current_version():
    assert {file_name(name, options) for name, options in VARIANTS} <= set(recorded(f"v{VERSION}"))


@pytest.fixture(scope="module")
def made_now(tmp_path_factory) -> Path:
    folder: Path = tmp_path_factory.mktemp("samples")
    make_samples(folder)
    return folder


def test_samples_made_now_are_those_of_the_current_version_to_the_byte(made_now):
    for path in (SAMPLES / f"v{VERSION}").iterdir():
        assert (made_now / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", recorded("v1"))
def test_files_of_earlier_versions_saved_again_are_the_same_file_of_the_current_one(name, tmp_path):
    """The samples of version 1 and 2 hold the same agents."""
    for version in ("v1", "v2"):
        fwrl.load(SAMPLES / version / name).save(tmp_path / version)
        check_archive(tmp_path / version)
    assert (tmp_path / "v1").read_bytes() == (tmp_path / "v2").read_bytes()
    assert (tmp_path / "v1").read_bytes()[8] == VERSION


@pytest.mark.parametrize("name", recorded("v1"))
def test_no_section_of_an_agent_has_its_name_of_version_1(name):
    upgraded, current = (check_archive(SAMPLES / version / name) for version in ("v1", "v2"))
    assert set(current.names) <= set(upgraded.names)
    assert {"clock", "V", "Q", "F", "DG"}.isdisjoint(upgraded.names)
    replaced = {"queue.heap", "queue.place", "queue.priority", "queue.size"}
    assert upgraded.kind == "planner" or not any("." in section for section in set(upgraded.names) - replaced)
