"""The public face of the package: names, types, entry points."""

from __future__ import annotations

import importlib.metadata
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fwrl
from fwrl import errors

ROOT = Path(__file__).resolve().parents[1]


HEAVY = ("duckdb", "gymnasium", "matplotlib", "numba", "numpy", "scipy", "starlette", "uvicorn")


def loaded_after(*command: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after a command."""
    script = f"import sys\ntry:\n    exec({command[0]!r})\nexcept SystemExit:\n    pass\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script, *command[1:]], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


@pytest.mark.parametrize(
    "command",
    [
        ("import fwrl",),
        ("import fwrl; fwrl.FwrlError, fwrl.FwrlWarning, fwrl.PositiveCycleError",),
        ("from fwrl.cli import main; main()", "--help"),
    ],
    ids=["import", "errors", "help"],
)
def test_nothing_heavy_is_imported_before_it_is_used(command):
    loaded = loaded_after(*command)
    assert "fwrl" in loaded
    assert not loaded & set(HEAVY)


def test_the_public_names_are_sorted_and_each_has_one_home():
    classes = sorted(name for name in fwrl.__all__ if name[0].isupper())
    assert fwrl.__all__ == classes + sorted(set(fwrl.__all__) - set(classes))
    assert set(fwrl.__all__) == set(fwrl._HOME)


def test_every_error_can_be_caught_by_its_public_name():
    defined = {
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, (errors.FwrlError, errors.FwrlWarning))
    }
    assert defined <= set(fwrl.__all__)
    assert issubclass(fwrl.NoRouteError, fwrl.FwrlError)


@pytest.mark.parametrize("name", fwrl.__all__)
def test_every_public_name_exists_and_is_documented(name):
    assert getattr(fwrl, name).__doc__
    assert name in dir(fwrl)


def test_an_unknown_name_is_an_attribute_error():
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
