"""Leagues: who takes part, what is said of them, and that settings were tuned on other seeds."""

import json
import sqlite3

import numpy as np
import pytest

from fwrl.agents import agent_class, make_agent
from fwrl.errors import OptionError, TaskError, UnknownNameError
from fwrl.experiment.contenders import BEYOND, contender, default_contenders, tuned
from fwrl.experiment.league import AUDITED_SEEDS, league
from fwrl.experiment.tuning import FIRST_SEED, GRIDS, Candidate, combinations, record, tune
from fwrl.report.estimate import Estimate
from fwrl.report.standings import Standing, flagged


def test_fwrl_has_one_configuration_for_all_worlds():
    assert contender("fwrl").options == BEYOND
    experiments = league(["four-rooms", "gymnasium:CliffWalking-v1"], ["fwrl"], 2, 20)
    assert len({json.dumps(dict(e.agent("fwrl").options)) for e in experiments}) == 1


def test_every_rival_runs_from_its_tuned_settings():
    for name in GRIDS:
        assert name in default_contenders()
        assert contender(name).options == tuned()[name]["options"]
        agent_class(name).Config.of(tuned()[name]["options"])


def test_tuned_settings_come_from_the_grid_and_from_other_seeds():
    for name, found in tuned().items():
        assert found["options"] in list(combinations(GRIDS[name]))
        assert found["tried"] == len(list(combinations(GRIDS[name])))
    assert FIRST_SEED > 10_000


def test_bad_contenders_are_refused_in_words():
    with pytest.raises(UnknownNameError, match="did you mean 'qlcat'"):
        contender("qlcta")
    with pytest.raises(OptionError, match="did you mean 'learning_rate'"):
        contender("ql:learningrate=1")
    with pytest.raises(OptionError, match="NAME=VALUE"):
        contender("ql:fast")
    with pytest.raises(UnknownNameError, match="unknown world"):
        league(["four-roms"], ["fwrl"], 1, 1)


def test_a_world_without_a_trip_is_refused_before_anything_runs(tmp_path):
    (tmp_path / "one.txt").write_text(".")
    with pytest.raises(TaskError):
        league([str(tmp_path / "one.txt")], ["fwrl"], 1, 1)


def standing(believed, true, believed_arrival=np.nan, arrival=1.0):
    nothing = Estimate(0.0, 0.0, 0.0)
    return Standing("x", nothing, nothing, 0.0, 0.0, 0, 0.0, 0.0, believed, true, believed_arrival, arrival, 0.0)


def test_beliefs_that_are_off_are_said_in_words():
    assert flagged(standing(6.0, 93.6)) == "promises 6.0 steps, takes 93.6"
    assert flagged(standing(8.2, 8.19)) == ""
    assert flagged(standing(np.nan, 5.0)) == ""
    assert flagged(standing(6.0, np.inf)) == "promises 6.0 steps, may never arrive"
    assert flagged(standing(6.0, 6.0, 1.0, 0.31)) == "promises to arrive with 100%, does with 31%"
    assert flagged(standing(6.0, 6.0, 0.7, 0.71)) == ""


def test_compare_prints_what_the_rows_say(call, tmp_path):
    words = ["compare", "h-maze", "--agents", "fwrl ql", "--seeds", "2", "--episodes", "6", "--steps", "60"]
    answer = call(*words, "--workers", "1", "--out", tmp_path / "league", "--json")
    assert answer.code == 0, answer.err
    found = {row["label"]: row for row in json.loads(answer.out)["h-maze"]}
    db = sqlite3.connect(tmp_path / "league" / "results.sqlite")
    sums = dict(db.execute("SELECT agent, SUM(reward) FROM episodes GROUP BY agent"))
    audited = dict(db.execute("SELECT agent, COUNT(DISTINCT seed) FROM audits GROUP BY agent"))
    db.close()
    for label in ("fwrl", "ql"):
        assert found[label]["share"][0] == pytest.approx(sums[label] / sums["oracle"])
        assert audited[label] == min(2, AUDITED_SEEDS)
    text = call(*words, "--workers", "1", "--out", tmp_path / "league").out
    assert "h-maze" in text
    assert "league.html" in text
    page = (tmp_path / "league" / "league.html").read_text(encoding="utf-8")
    assert "FWRL is first or tied within intervals" in page


def test_tune_tries_every_combination_and_keeps_the_best(monkeypatch, tmp_path):
    monkeypatch.setattr("fwrl.experiment.tuning.WORLDS", ("h-maze",))
    monkeypatch.setattr("fwrl.experiment.tuning.GRIDS", {"ql": {"initial_value": (0.0, 1.0)}})
    found = tune(["ql"], seeds=1)
    assert {candidate.options["initial_value"] for candidate in found} == {0.0, 1.0}
    assert found[0].score >= found[1].score
    record(found, tmp_path / "tuned.json", 1)
    page = json.loads((tmp_path / "tuned.json").read_text())
    assert page["agents"]["ql"]["options"] == found[0].options
    assert page["seeds"] == [FIRST_SEED, FIRST_SEED]
    with pytest.raises(UnknownNameError, match="agent to tune"):
        tune(["fwrl"])


def test_ties_in_tuning_keep_the_first_of_the_grid(tmp_path):
    same = [Candidate("ql", {"initial_value": v}, 0.5) for v in (0.0, 1.0)]
    record(same, tmp_path / "tuned.json", 1)
    assert json.loads((tmp_path / "tuned.json").read_text())["agents"]["ql"]["options"] == {"initial_value": 0.0}


def test_promises_are_path_rewards_or_nothing():
    fwrl = make_agent("fwrl", 3, 1)
    steps = make_agent("fwrl", 3, 1, objective="steps")
    for agent in (fwrl, steps):
        agent.observe_many([0, 1], [0, 0], [-0.5, -0.5], [1, 2])
    assert fwrl.promised(2, -0.5).tolist() == [-1.0, -0.5, 0.0]
    assert steps.promised(2, -0.5).tolist() == [-1.0, -0.5, 0.0]
    assert np.isnan(steps.promised(2, None)).all()
    assert np.isnan(make_agent("ql", 3, 1).promised(2, -0.5)).all()
