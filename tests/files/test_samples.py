"""Files of every version of the format load, and answer what was recorded when they were written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from make_samples import ANSWERS, SAMPLES, VARIANTS, agent_answers, file_name, make_samples, planner_answers

import fwrl
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
    if isinstance(loaded, Planner):  # its values are computed when asked for, to rounding
        np.testing.assert_allclose(told.pop("values"), expected.pop("values"), rtol=1e-9)
    assert told == expected


@pytest.mark.parametrize("version", VERSIONS)
def test_every_configuration_has_a_sample_of_every_version(version):
    names = {path.name for path in (SAMPLES / version).glob("*.fwrl")}
    assert {file_name(name, options) for name, options in VARIANTS} <= names
    assert names == set(recorded(version))


@pytest.fixture(scope="module")
def made_now(tmp_path_factory) -> Path:
    folder: Path = tmp_path_factory.mktemp("samples")
    make_samples(folder)
    return folder


def test_samples_made_now_are_those_of_the_current_version_to_the_byte(made_now):
    for path in (SAMPLES / f"v{VERSION}").iterdir():
        assert (made_now / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize(("version", "name"), EVERY_SAMPLE, ids=["/".join(sample) for sample in EVERY_SAMPLE])
def test_a_file_of_an_earlier_version_saved_again_is_one_of_the_current_version(version, name, tmp_path):
    loaded = fwrl.load(SAMPLES / version / name)
    loaded.save(tmp_path / name)
    assert (tmp_path / name).read_bytes() == (SAMPLES / f"v{VERSION}" / name).read_bytes()


@pytest.mark.parametrize("name", recorded("v1"))
def test_no_section_of_an_agent_has_its_name_of_version_1(name):
    upgraded, current = (check_archive(SAMPLES / version / name) for version in ("v1", "v2"))
    assert set(current.names) <= set(upgraded.names)
    assert {"clock", "V", "Q", "F", "DG"}.isdisjoint(upgraded.names)
    replaced = {"queue.heap", "queue.place", "queue.priority", "queue.size"}
    assert upgraded.kind == "planner" or not any("." in section for section in set(upgraded.names) - replaced)
