"""Comparisons: who takes part, what is said of them, and that settings were tuned on other seeds."""

import json
import re
import sqlite3
from importlib.resources import files

import numpy as np
import pytest

from fwrl.agents import agent_class, make_agent
from fwrl.errors import OptionError, TaskError, UnknownNameError
from fwrl.experiment import Store, run_experiments
from fwrl.experiment.compared_agents import BEYOND, RECORD, compared_agent, default_agents, tuned
from fwrl.experiment.comparison import AUDITED_SEEDS, comparison
from fwrl.experiment.reference import reference
from fwrl.experiment.spec import fingerprint
from fwrl.experiment.trial import run_trial
from fwrl.report import StoredResults
from fwrl.report.estimate import Estimate
from fwrl.report.standings import Standing, first_or_tied, flagged, write_comparison
from fwrl.task import Task
from fwrl.task.expectation import best_rewards, random_rewards
from fwrl.worlds import load_world


def test_fwrl_has_one_configuration_for_all_worlds():
    assert compared_agent("fwrl").options == BEYOND
    experiments = comparison(["four-rooms", "gymnasium:CliffWalking-v1"], ["fwrl"], 2, 20)
    assert len({json.dumps(dict(e.agent("fwrl").options)) for e in experiments}) == 1


def test_every_baseline_runs_from_its_tuned_settings():
    for name, found in tuned().items():
        assert name in default_agents()
        assert compared_agent(name).options == found["options"]
        agent_class(name).Config.of(found["options"])


def test_settings_were_tuned_on_seeds_that_no_comparison_uses():
    """Comparisons count seeds from 0; a million of them are more than anybody runs."""
    record = json.loads(files("fwrl.experiment").joinpath(RECORD).read_text(encoding="utf-8"))
    first, last = record["seeds"]
    assert 1_000_000 <= first <= last


def test_bad_agents_are_refused_in_words():
    with pytest.raises(UnknownNameError, match="did you mean 'qlcat'"):
        compared_agent("qlcta")
    with pytest.raises(OptionError, match="did you mean 'learning_rate'"):
        compared_agent("ql:learningrate=1")
    with pytest.raises(OptionError, match="NAME=VALUE"):
        compared_agent("ql:fast")
    with pytest.raises(UnknownNameError, match="unknown world"):
        comparison(["four-roms"], ["fwrl"], 1, 1)


def test_a_world_without_a_trip_is_refused_before_anything_runs(tmp_path):
    (tmp_path / "one.txt").write_text(".")
    with pytest.raises(TaskError):
        comparison([str(tmp_path / "one.txt")], ["fwrl"], 1, 1)


def standing(predicted, true, predicted_arrival=np.nan, arrival=1.0, *, label="x", share=(0.0, 0.0, 0.0), cost=1.0):
    zero = Estimate(0.0, 0.0, 0.0)
    return Standing(
        label,
        share=Estimate(*share),
        score=Estimate(*share),
        regret=zero,
        reward=zero,
        first=zero,
        late=Estimate(*share),
        efficiency=zero,
        censored=0,
        inefficiency=zero,
        cost=exactly(cost),
        predicted_cost=exactly(predicted),
        true_cost=exactly(true),
        predicted_arrival=exactly(predicted_arrival),
        true_arrival=exactly(arrival),
        seconds=0.0,
    )


def test_a_comparison_in_which_all_earn_the_same_loss_has_nothing_to_learn(tmp_path):
    """Within one step nobody is paid for arriving."""
    (experiment,) = comparison(["h-maze"], ["ql", "random"], 5, 1)
    with Store(tmp_path / "results.sqlite") as store:
        run_experiments(store, [experiment], seeds=1, workers=1)
        stored = StoredResults(store)
        expected = stored.reference(experiment)
        assert (expected.oracle == expected.random).any()
        assert expected.random.max() < 0
        assert not stored.learnable(experiment)
        write_comparison(store, [experiment], tmp_path, lambda *_: 0.0)
    assert (tmp_path / "comparison.html").exists()


def exactly(value):
    return Estimate(value, value, value)


def verdict(standings):
    finding = first_or_tied(standings)
    assert finding is not None
    return finding


def test_predictions_that_are_off_are_said_in_words():
    assert flagged(standing(6.0, 93.6)) == "predicts a path cost of 6.0 cheapest steps, pays 93.6"
    assert flagged(standing(8.2, 8.19)) == ""
    assert flagged(standing(np.nan, 5.0)) == ""
    assert flagged(standing(6.0, np.inf)) == "predicts a path cost of 6.0 cheapest steps, may never arrive"
    assert flagged(standing(6.0, 6.0, 1.0, 0.31)) == "predicts an arrival probability of 100%, has 31%"
    assert flagged(standing(6.0, 6.0, 0.7, 0.71)) == ""
    assert flagged(standing(9.0, 0.0, cost=np.nan)) == ""  # where no step costs anything


def test_whoever_beats_fwrl_is_named_with_the_reason():
    ours = standing(1.0, 1.0, label="fwrl", share=(0.98, 0.97, 0.99))
    tied = standing(1.0, 1.0, label="mbrl", share=(0.985, 0.98, 0.99))
    ahead = standing(1.0, 1.0, label="dg", share=(1.05, 1.04, 1.06))
    assert verdict([ours, tied]).result == "confirmed"
    lost = verdict([ahead, tied, ours])
    assert lost.result == "not confirmed"
    assert lost.reason == (
        "dg scores 1.050 [1.040, 1.060] in the last episodes (up to 10), FWRL 0.980 [0.970, 0.990]: its policy at "
        "the end earns more"
    )
    quicker = verdict([ahead._replace(late=ours.late), ours]).reason
    assert quicker.endswith("the final policies are equally good, and dg earned more while learning")
    assert first_or_tied([tied]) is first_or_tied([ours]) is None


def test_a_rival_that_is_surely_better_is_not_hidden_by_one_that_may_be():
    ours = standing(1.0, 1.0, label="fwrl", share=(0.90, 0.89, 0.91))
    noisy = standing(1.0, 1.0, label="her", share=(0.99, 0.80, 1.00))
    steady = standing(1.0, 1.0, label="dg", share=(0.98, 0.975, 0.985))
    assert verdict([noisy, ours]).result == "confirmed"
    assert verdict([noisy, steady, ours]).result == "not confirmed"


def test_compare_prints_what_the_rows_say(call, tmp_path):
    words = ["compare", "h-maze", "--agents", "fwrl ql", "--seeds", "2", "--episodes", "6", "--steps", "60"]
    answer = call(*words, "--workers", "1", "--out", tmp_path / "comparison", "--json")
    assert answer.code == 0, answer.err
    found = {row["label"]: row for row in json.loads(answer.out, parse_constant=pytest.fail)["h-maze"]}
    db = sqlite3.connect(tmp_path / "comparison" / "results.sqlite")
    sums = dict(db.execute("SELECT agent, SUM(reward) FROM episodes GROUP BY agent"))
    audited = dict(db.execute("SELECT agent, COUNT(DISTINCT seed) FROM audits GROUP BY agent"))
    goals = [goal for (goal,) in db.execute("SELECT goal FROM episodes WHERE agent = 'ql'")]
    db.close()
    task = Task(load_world("h-maze"))
    best, idle = best_rewards(task, goals, 60), random_rewards(task, goals, 60)
    for label in ("fwrl", "ql"):
        assert found[label]["share"]["value"] == pytest.approx(sums[label] / best.reward.sum())
        score = (sums[label] - idle.sum()) / (best.reward.sum() - idle.sum())
        assert found[label]["score"]["value"] == pytest.approx(score)
        assert audited[label] == min(2, AUDITED_SEEDS)
    text = call(*words, "--workers", "1", "--out", tmp_path / "comparison").out
    assert "h-maze" in text
    assert "comparison.html" in text
    page = (tmp_path / "comparison" / "comparison.html").read_text(encoding="utf-8")
    assert "FWRL is first or tied within intervals" in page


@pytest.mark.parametrize(
    "world", ["gymnasium:Taxi-v4", "gymnasium:CliffWalking-v1", "gymnasium:FrozenLake-v1", "muddy-rooms"]
)
def test_every_world_has_a_number_between_random_play_and_the_oracle(call, tmp_path, world):
    words = ["compare", world, "--agents", "random oracle", "--seeds", "2", "--episodes", "5", "--steps", "120"]
    answer = call(*words, "--workers", "1", "--out", tmp_path / "comparison", "--json")
    assert answer.code == 0, answer.err
    (found,) = json.loads(answer.out)[world]
    assert abs(found["score"]["value"]) < 0.5
    # A share needs a zero that means nothing earned; the cliff and the taxi lose more than they could earn.
    assert (found["share"]["value"] is None) == (world in ("gymnasium:Taxi-v4", "gymnasium:CliffWalking-v1"))
    page = (tmp_path / "comparison" / "comparison.html").read_text(encoding="utf-8")
    text = re.sub(r"base64,[A-Za-z0-9+/=]+", "", page)
    assert "-never" not in text
    assert "unbounded" not in text


@pytest.mark.parametrize("world", ["muddy-rooms", "risky-bridge", "gymnasium:FrozenLake-v1"])
def test_nobody_beats_the_oracle_but_by_luck(world):
    """Counting steps, or a tiny cost of a step, earned more than the best path; nothing earns more than this oracle."""
    (experiment,) = comparison([world], ["fwrl:objective=steps,backup=expected", "oracle"], 40, 400)
    for agent in experiment.agents:
        result = run_trial(experiment, agent.label, 0).result
        best = reference(experiment, result.goal).oracle
        error = (result.reward - best).std() / np.sqrt(len(best))
        assert result.reward.mean() <= best.mean() + 4 * error
        if agent.name == "oracle":
            assert result.reward.mean() >= best.mean() - 4 * error


def test_one_seed_has_numbers_without_intervals(call, tmp_path):
    words = ["compare", "h-maze", "--agents", "ql", "--seeds", "1", "--episodes", "5", "--steps", "20"]
    assert call(*words, "--workers", "1", "--out", tmp_path / "comparison").code == 0
    page = (tmp_path / "comparison" / "comparison.html").read_text(encoding="utf-8")
    assert "never]" not in page


def test_promises_are_path_rewards_or_nothing():
    fwrl = make_agent("fwrl", 3, 1)
    steps = make_agent("fwrl", 3, 1, objective="steps")
    for agent in (fwrl, steps):
        agent.observe_many([0, 1], [0, 0], [-0.5, -0.5], [1, 2])
    assert fwrl.estimated_path_rewards(2, -0.5).tolist() == [-1.0, -0.5, 0.0]
    assert steps.estimated_path_rewards(2, -0.5).tolist() == [-1.0, -0.5, 0.0]
    assert np.isnan(steps.estimated_path_rewards(2, None)).all()
    assert np.isnan(make_agent("ql", 3, 1).estimated_path_rewards(2, -0.5)).all()


def test_runs_of_another_map_or_other_settings_are_refused(call, tmp_path):
    words = ["compare", tmp_path / "m.txt", "--agents", "ql", "--seeds", "1", "--episodes", "5", "--steps", "20"]
    words += ["--workers", "1", "--out", tmp_path / "comparison"]
    (tmp_path / "m.txt").write_text("....\n....\n")
    assert call(*words).code == 0
    (tmp_path / "m.txt").write_text("....\n.##.\n....\n")
    fingerprint.cache_clear()
    refused = call(*words)
    assert refused.code == 2
    assert "another map or other settings" in refused.err


def test_agents_are_compared_on_the_seeds_they_share(call, tmp_path):
    words = [
        "compare",
        "h-maze",
        "--episodes",
        "5",
        "--steps",
        "20",
        "--workers",
        "1",
        "--out",
        tmp_path / "comparison",
    ]
    assert call(*words, "--agents", "ql", "--seeds", "3").code == 0
    answer = call(*words, "--agents", "ql random", "--seeds", "2", "--json")
    assert answer.code == 0, answer.err
    assert {row["label"] for row in json.loads(answer.out)["h-maze"]} == {"ql", "random"}


@pytest.mark.parametrize(
    ("agents", "said"), [("", "names no agent"), (" ", "names no agent"), ("oracle", "nothing to compare")]
)
def test_a_comparison_of_nobody_is_refused_before_anything_runs(call, tmp_path, agents, said):
    answer = call("compare", "h-maze", "--agents", agents, "--seeds", "1", "--out", tmp_path / "comparison")
    assert answer.code == 2
    assert said in answer.err
    assert not (tmp_path / "comparison").exists()


def test_a_place_that_cannot_be_written_is_refused_before_the_work(call, tmp_path):
    (tmp_path / "file").write_text("mine")
    answer = call("compare", "h-maze", "--seeds", "1", "--out", tmp_path / "file")
    assert answer.code == 2
    assert "Traceback" not in answer.err
    assert (tmp_path / "file").read_text() == "mine"


def test_start_and_goal_of_every_trip_can_be_fixed():
    (experiment,) = comparison(["door-corridor-0.5"], ["random"], 5, 30, start=0, goal=60)
    assert experiment.id == "door-corridor-0.5-5x30-from-0-to-60"
    trial = run_trial(experiment, "random", 0)
    assert set(trial.result.goal.tolist()) == {60}
    assert [found.goal for found in trial.audits] == [60]
    (experiment,) = comparison(["door-corridor-0.5"], ["random", "oracle"], 5, 30, start=0, goal=60)
    assert run_trial(experiment, "oracle", 0).result.reward.sum() > trial.result.reward.sum()


def test_the_optimal_cost_is_that_of_the_trips_made(tmp_path):
    experiments = comparison(["door-corridor-0.5"], ["random"], 5, 30, start=0, goal=60)
    with Store(tmp_path / "x.sqlite") as store:
        run_experiments(store, experiments, seeds=1)
        stored = StoredResults(store)
        assert stored.optimal_cost(experiments[0]) == pytest.approx(2.0)  # tries until a door of 0.5 opens
        expected = stored.reference(experiments[0]).oracle
    # A trip takes 1, 2, ... tries and the arriving step: E(n) = 1 - p^n tries a step of time, by renewal.
    here, reward = {"door": 1.0, "goal": 0.0}, 0.0
    for _ in range(30):
        reward += here["goal"] * 10 - here["door"] * 0.01
        here = {"door": here["goal"] + 0.5 * here["door"], "goal": 0.5 * here["door"]}
    np.testing.assert_allclose(expected, reward)


def test_starts_and_goals_that_cannot_be_are_refused_before_anything_runs():
    with pytest.raises(OptionError, match="from 0 to 60, not 61"):
        comparison(["door-corridor-0.5"], ["random"], 5, 30, goal=61)
    with pytest.raises(TaskError, match="already counts as the goal"):
        comparison(["door-corridor-0.5"], ["random"], 5, 30, start=3, goal=3)
    with pytest.raises(TaskError, match="can't be reached"):
        comparison(["gymnasium:FrozenLake-v1"], ["random"], 5, 30, start=5, goal=0)


def test_long_names_of_agents_leave_room_for_whole_numbers(call, tmp_path):
    long = "fwrl:backup=expected,explorer=optimistic"
    words = ["compare", "h-maze", "--agents", f"{long},objective=rate {long}", "--seeds", "2"]
    answer = call(*words, "--episodes", "5", "--steps", "60", "--workers", "1", "--out", tmp_path / "comparison")
    assert answer.code == 0, answer.err
    assert "\u2026" not in answer.out
    assert max(len(line) for line in answer.out.splitlines() if not line.startswith("Page: ")) <= 80
    rows = [line for line in answer.out.splitlines() if re.match(r"(fwrl|explorer|  )\s+\S", line)]
    assert "  objective=rate" in answer.out
    assert any(re.search(r"\d\.\d+ \u00b1\d", line) for line in rows)  # a number and its interval on one line
