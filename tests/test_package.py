"""The package as others meet it: its names, its types, its entry points."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fwrl

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("name", fwrl.__all__)
def test_every_public_name_is_there_and_documented(name):
    assert getattr(fwrl, name).__doc__
    assert name in dir(fwrl)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'lern'"):
        _ = fwrl.lern


def test_the_version_is_one_number():
    assert importlib.metadata.version("fwrl") == fwrl.__version__
    assert f"version: {fwrl.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert (
        fwrl.__version__ in (ROOT / "CHANGELOG.md").read_text() or "Unreleased" in (ROOT / "CHANGELOG.md").read_text()
    )


def test_types_are_shipped():
    assert Path(fwrl.__file__).with_name("py.typed").is_file()


def test_the_constraints_pin_exact_versions_and_name_no_address():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if line.strip() and not line.startswith("#")]
    assert pins
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", pin) for pin in pins)


def test_python_m_fwrl_is_the_command():
    done = subprocess.run([sys.executable, "-m", "fwrl", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"fwrl {fwrl.__version__}\n"
