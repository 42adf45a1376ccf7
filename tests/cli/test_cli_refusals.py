"""Bad input ends in exit code 2 and one sentence on standard error; never in a traceback, never in a file."""

from __future__ import annotations

import importlib.util
import runpy
import sys

import pytest

from fwrl.cli import app

BOKEH = importlib.util.find_spec("bokeh_sampledata") is not None

COMMANDS = [command.name or getattr(command.callback, "__name__", "") for command in app.registered_commands]

BAD = [
    ("frobnicate", "no such command 'frobnicate'; see fwrl --help"),
    ("--frobnicate", "no such option: --frobnicate"),
    ("worlds four-romms", "unknown world 'four-romms'; did you mean 'four-rooms'"),
    ("worlds nowhere/x.map", "x.map"),
    ("worlds README.md", "unknown world 'README.md'"),
    ("worlds maze-20x20-1", "odd"),
    ("worlds a b", "unexpected extra argument"),
    ("agents fwrl", "unexpected extra argument"),
    ("train", "missing argument 'world'; see fwrl train --help"),
    ("train nowhere", "unknown world 'nowhere'"),
    ("train four-rooms --agent fwlr", "unknown agent 'fwlr'; did you mean 'fwrl'?"),
    ("train four-rooms --episodes 0", "'--episodes'"),
    ("train four-rooms --episodes many", "'--episodes'"),
    ("train four-rooms --steps -3", "'--steps'"),
    ("train four-rooms --seed -1", "'--seed'"),
    ("train four-rooms --option fast", "write an option as NAME=VALUE, not 'fast'"),
    ("train four-rooms --option fast=1", "unknown option 'fast'"),
    ("train four-rooms --option relaxation=fast", "expected relaxation to be one of"),
    ("train four-rooms --agent ql --option learning_rate=2", "expected 0 < learning_rate <= 1, got 2"),
    (
        "train four-rooms --agent ql --option learning_rate=much",
        "expected learning_rate to be a finite number, got 'much'",
    ),
    ("train four-rooms --out nowhere/a.fwrl", "cannot write 'nowhere/a.fwrl': its folder doesn't exist; make it first"),
    ("train four-rooms --out .", "'.' is a folder"),
    ("train bad.txt", "bad.txt"),
    ("train lone.txt", "has no two states that can reach each other"),
    ("worlds maze-99999999999x3-1", "more than the 10,000,000 a world may have"),
    ("worlds four-rooms-100000", "more than the 10,000,000 a world may have"),
    ("worlds riverswim-99999999999", "more than the 10,000,000 a world may have"),
    ("worlds combination-lock-99999999999-0", "more than the 10,000,000 a world may have"),
    ("worlds varied-costs-999999-0", "more than the 10,000,000 a world may have"),
    (f"worlds maze-{'9' * 5000}x3-1", "expected numbers of at most 18 digits in the name of a world, got 5000"),
    (f"train h-maze --steps {2**64}", "expected steps as a whole number from 1 to 1,000,000,000"),
    ("train four-rooms-200 --agent dg", "need 4"),
    ("train h-maze --resume nothing.fwrl", "cannot read 'nothing.fwrl'"),
    ("train h-maze --resume a.fwrl --agent ql", "leave out --agent and --option"),
    ("evaluate nothing.fwrl h-maze", "cannot read 'nothing.fwrl'"),
    ("evaluate lone.txt h-maze", "'lone.txt' is not a file saved by fwrl"),
    ("show nothing.fwrl h-maze --goal 0", "cannot read 'nothing.fwrl'"),
    ("show nothing.fwrl h-maze", "missing option '--goal'"),
    ("show a.fwrl h-maze --goal 0 --picture way.gif", "choose a name ending in .png or .svg"),
    ("check", "missing argument 'file'"),
    ("check nothing.fwrl", "cannot read 'nothing.fwrl': there is no such file"),
    ("check .", "cannot read '.': Is a directory; choose a file in it"),
    ("check lone.txt", "'lone.txt' is not a file saved by fwrl"),
]


@pytest.mark.parametrize(("line", "said"), BAD, ids=[line[:60] for line, _ in BAD])
def test_bad_input_gets_one_sentence_and_writes_nothing(call, tmp_path, line, said):
    (tmp_path / "bad.txt").write_text("..\n.x\n")
    (tmp_path / "lone.txt").write_text(".#.\n")
    before = sorted(tmp_path.iterdir())
    code, out, err = call(*line.split())
    assert (code, out) == (2, "")
    assert err.startswith("fwrl: ")
    assert said in err
    assert err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_an_option_nobody_knows_is_refused_by_every_command(call, command):
    code, out, err = call(command, "--frobnicate")
    assert (code, out) == (2, "")
    assert err.startswith("fwrl: no such option: --frobnicate")
    assert err.endswith(f"see fwrl {command} --help\n")


@pytest.mark.parametrize("agents", ["", "  "])
def test_a_comparison_of_no_agents_is_refused(call, tmp_path, agents):
    code, out, err = call("compare", "h-maze", "--agents", agents)
    assert (code, out) == (2, "")
    assert "--agents names no agent" in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("module", "files", "said"),
    [
        (
            "flights",
            ("nowhere/flights.csv",),
            "pip install bokeh_sampledata" if not BOKEH else "its folder doesn't exist",
        ),
        ("flights", (), "usage: python -m fwrl.samples.flights FILE.csv"),
        (
            "warehouse",
            ("nowhere/trips.csv", "places.csv"),
            "cannot write 'nowhere/trips.csv': its folder doesn't exist",
        ),
        ("warehouse", ("trips.csv",), "usage: python -m fwrl.samples.warehouse LOG.csv POSITIONS.csv"),
    ],
)
def test_samples_refuse_in_one_sentence(monkeypatch, capsys, tmp_path, module, files, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [module, *files])
    monkeypatch.delitem(sys.modules, f"fwrl.samples.{module}", raising=False)
    with pytest.raises(SystemExit) as exit_:
        runpy.run_module(f"fwrl.samples.{module}", run_name="__main__")
    out, err = capsys.readouterr()
    assert (exit_.value.code, out, err.count("\n")) == (2, "", 1)
    assert said in err
    assert not list(tmp_path.iterdir())


def test_the_script_ends_the_same_way(script):
    code, out, err = script("train", "four-romms")
    assert (code, out) == (2, "")
    assert err.startswith("fwrl: unknown world 'four-romms'; did you mean 'four-rooms'")
    assert "Traceback" not in err


def test_an_interrupted_run_says_so(call, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("fwrl.task.run_episodes", interrupted)
    code, _, err = call("train", "h-maze", "--out", "a.fwrl")
    assert (code, err.splitlines()[-1]) == (130, "fwrl: stopped")
