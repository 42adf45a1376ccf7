"""The numbers of README and docs come from generators that read measured results."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import write_numbers
from write_numbers import BLOCK, GENERATORS, PAGES, ROOT, Results, blocks, rewritten

from fwrl.experiment import Store, run_experiments
from fwrl.experiment.compared_agents import default_agents
from fwrl.experiment.comparison import COMPARED_WORLDS, comparison
from fwrl.task import Task
from fwrl.task.expectation import best_rewards
from fwrl.worlds import load_world

README = ROOT / "README.md"
MEASURED = (README, *(ROOT / "docs" / f"{name}.md" for name in ("comparison", "exploration", "options")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_is_closed_and_has_a_generator(page):
    text = page.read_text(encoding="utf-8")
    found = [name for name, _ in blocks(text)]
    assert len(found) == text.count("<!-- numbers:") == text.count("<!-- end -->")
    assert set(found) <= set(GENERATORS)


def test_every_generator_writes_a_block_of_some_page():
    written = {name for page in PAGES for name, _ in blocks(page.read_text(encoding="utf-8"))}
    assert written == set(GENERATORS)


@pytest.mark.parametrize("page", MEASURED, ids=lambda page: page.name)
def test_no_result_table_stands_outside_a_block(page):
    outside = BLOCK.sub("", page.read_text(encoding="utf-8"))
    assert not [line for line in outside.splitlines() if line.lstrip().startswith("|") and re.search(r"\d", line)]


def test_the_readme_states_no_measured_ratio_share_or_interval_outside_a_block():
    outside = BLOCK.sub("", README.read_text(encoding="utf-8"))
    prose = re.sub(r"```.*?```", "", outside, flags=re.DOTALL)
    assert not re.findall(r"\d+(?:\.\d+)? (?:times|%|GB|ms|s\b)|±|\d \[\d", prose)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_needs_no_measurement_is_current_and_the_rest_stays_without_results(page, tmp_path):
    text = page.read_text(encoding="utf-8")
    left: list[str] = []
    assert rewritten(text, Results(tmp_path), left.append) == text, "run make docs-numbers"
    names = [name for name, _ in blocks(text)]
    assert [line.partition(":")[0] for line in left] == [name for name in names if name != "symbol-table"]


def test_every_world_of_the_comparison_and_every_agent_has_a_name():
    assert len(COMPARED_WORLDS) >= 12
    assert set(COMPARED_WORLDS) <= set(write_numbers.WORLDS)
    assert set(default_agents()) <= set(write_numbers.AGENTS)


def test_bench_rows_show_ours_over_other(tmp_path):
    row = {
        "part": "fit",
        "name": "fit / group-by",
        "ours": 3.0,
        "other": 2.0,
        "note": "2 rows",
        "unit": "s",
        "ratio": 1,
    }
    (tmp_path / "bench.json").write_text(json.dumps([row, {**row, "part": "step", "name": "elsewhere"}]))
    text = GENERATORS["all-bench"](Results(tmp_path))
    assert [line for line in text.splitlines() if line.startswith(("###", "| fit", "| else"))] == [
        "### fit",
        "| fit / group-by | 1.5 | 2 rows |",
        "### step",
        "| elsewhere | 1.5 | 2 rows |",
    ]


def test_a_comparison_table_shows_shares_of_the_stored_rewards(tmp_path, monkeypatch):
    agents = ["fwrl", "ql"]
    for name, value in (
        ("COMPARED_WORLDS", ("h-maze",)),
        ("EPISODES", 6),
        ("STEPS", 40),
        ("default_agents", lambda: agents),
    ):
        monkeypatch.setattr(write_numbers, name, value)
    (tmp_path / "comparison").mkdir()
    experiments = comparison(["h-maze"], agents, 6, 40)
    with Store(tmp_path / "comparison" / "results.sqlite") as store:
        run_experiments(store, experiments, seeds=3, workers=1)
        reward = {label: store.episodes(experiments[0].id, label, "reward") for label in agents}
        goals = store.episodes(experiments[0].id, "ql", "goal").astype(int)
    best = best_rewards(Task(load_world("h-maze")), goals.ravel().tolist(), 40).reward
    results = Results(tmp_path)
    lines = GENERATORS["comparison"](results).splitlines()
    verdict = GENERATORS["comparison-verdict"](results)
    results.close()
    assert lines[2] == "|  | H-maze |"
    for line, label in zip(lines[4:], agents, strict=True):
        share = float(line.split("|")[2].split("±")[0])
        assert share == pytest.approx(np.sum(reward[label]) / np.sum(best), abs=5e-4)
    assert re.fullmatch(r"FWRL is first or tied in [01] of 1 worlds\.", verdict)


def test_the_table_of_hard_exploration_has_a_column_a_world_with_its_own_trips(tmp_path, monkeypatch):
    rules = {"fwrl": "ours", "ql": "another"}
    worlds = (("cheap-last", "cheap last", 0, 2, 5, 20), ("h-maze", "H-maze", None, None, 3, 40))
    monkeypatch.setattr(write_numbers, "RULES", rules)
    monkeypatch.setattr(write_numbers, "HARD", worlds)
    with pytest.raises(write_numbers.NotMeasuredError):
        GENERATORS["hard-exploration"](Results(tmp_path))
    (tmp_path / "hard").mkdir()
    experiments = [write_numbers.hard_experiment(*row) for row in worlds]
    assert [(e.start, e.goal, e.episodes, e.steps) for e in experiments] == [(0, 2, 5, 20), (None, None, 3, 40)]
    with Store(tmp_path / "hard" / "results.sqlite") as store:
        run_experiments(store, experiments, seeds=3, workers=1)
        reward = store.episodes(experiments[1].id, "ql", "reward")
        goals = store.episodes(experiments[1].id, "ql", "goal").astype(int)
    best = best_rewards(Task(load_world("h-maze")), goals.ravel().tolist(), 40).reward
    results = Results(tmp_path)
    lines = GENERATORS["hard-exploration"](results).splitlines()
    results.close()
    assert lines[0] == "3 seeds."
    assert lines[2] == "|  | cheap last | H-maze |"
    assert [line.split("|")[1].strip() for line in lines[4:]] == list(rules.values())
    assert float(lines[5].split("|")[3].split("±")[0]) == pytest.approx(np.sum(reward) / np.sum(best), abs=5e-4)
