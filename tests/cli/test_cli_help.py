"""Help: at once, for every command, with an example."""

from __future__ import annotations

import subprocess
import sys

import pytest

import fwrl
from fwrl.cli import app

COMMANDS = [command.name or getattr(command.callback, "__name__", "") for command in app.registered_commands]


def test_the_commands_of_the_core_are_there():
    assert {"worlds", "agents", "train", "check", "play"} <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_every_command_has_help_with_an_example_of_itself(call, command, flag):
    code, out, err = call(command, flag)
    assert (code, err) == (0, "")
    assert f"Example: fwrl {command}" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_help_names_every_command(call, arguments):
    code, out, err = call(*arguments)
    assert (code, err) == (0, "")
    assert all(f" {command} " in out for command in COMMANDS)
    assert "Example: fwrl " in out


def test_the_version_is_the_packages(call):
    assert call("--version") == (0, f"fwrl {fwrl.__version__}\n", "")


@pytest.mark.parametrize("arguments", [["--help"], ["train", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    code = f"""
import sys
from fwrl.cli import main
sys.argv = ["fwrl", *{arguments}]
try:
    main()
except SystemExit:
    pass
heavy = "numba numpy scipy matplotlib gymnasium duckdb".split()
print("imported:", [name for name in heavy if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("imported: []\n")


def test_import_fwrl_imports_nothing_heavy():
    code = "import sys, fwrl; print([n for n in ('numba', 'numpy', 'scipy', 'gymnasium') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_installed_script_is_the_command_line(script):
    code, out, err = script("--version")
    assert (code, out, err) == (0, f"fwrl {fwrl.__version__}\n", "")
