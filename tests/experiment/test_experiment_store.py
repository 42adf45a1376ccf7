"""The results store: whole runs or none, the same content however it came about, and nothing foreign touched."""

import sqlite3
from typing import Any

import numpy as np
import pytest

from fwrl.errors import FileError, OptionError, UnknownNameError
from fwrl.experiment import EXPERIMENTS, Store, chosen, run_experiments
from fwrl.experiment.catalogue import FOUR_ROOMS, FWRL_EXACT, H_MAZE, WINDY
from fwrl.experiment.export import export_results, score_matrices
from fwrl.experiment.reference import reference
from fwrl.experiment.spec import AgentSpec, Experiment
from fwrl.experiment.store import SCHEMA
from fwrl.experiment.trial import run_trial
from fwrl.worlds import load_world

TINY = Experiment(
    "tiny",
    "Tiny",
    "h-maze",
    (FWRL_EXACT, AgentSpec("QL", "ql"), AgentSpec("oracle", "oracle")),
    episodes=3,
    steps=30,
    visits=True,
    audit=(FWRL_EXACT.label,),
)


def filled(path, experiments=(TINY, H_MAZE), seeds=3, **options):
    with Store(path) as store:
        run_experiments(store, experiments, seeds=seeds, **options)
        return store.content()


def test_content_does_not_depend_on_the_number_of_workers(tmp_path):
    assert filled(tmp_path / "one.sqlite", workers=1) == filled(tmp_path / "two.sqlite", workers=2)


def test_content_does_not_depend_on_the_order_or_on_interruptions(tmp_path):
    whole = filled(tmp_path / "whole.sqlite")
    path = tmp_path / "bits.sqlite"
    filled(path, [H_MAZE], seeds=1)
    filled(path, [TINY], seeds=2)
    filled(path, [H_MAZE, TINY], seeds=2)
    assert filled(path) == whole


def test_what_is_there_is_not_run_again(tmp_path, monkeypatch):
    filled(tmp_path / "x.sqlite")

    def never(*_):
        raise AssertionError("ran again")

    monkeypatch.setattr("fwrl.experiment.batches.run_trial", never)
    filled(tmp_path / "x.sqlite")


def test_a_full_disk_loses_no_finished_run_and_the_rest_can_follow(tmp_path):
    whole = filled(tmp_path / "whole.sqlite")
    path = tmp_path / "full.sqlite"
    filled(path, [TINY], seeds=1)
    with Store(path) as store:
        before = store.finished()
        (pages,) = store._db.execute("PRAGMA page_count").fetchone()
        store._db.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(FileError, match=r"full.*finished runs are safe"):
            run_experiments(store, [TINY, H_MAZE], seeds=3)
        assert before <= store.finished()
    assert filled(path) == whole


def test_provenance_is_complete(tmp_path):
    filled(tmp_path / "x.sqlite")
    with Store(tmp_path / "x.sqlite") as store:
        columns, rows = store.rows("runs")
    assert columns == ["experiment", "agent", "seed", "spec", "versions"]
    assert len(rows) == 3 * (3 + 3)
    for experiment, agent, _, spec, versions in rows:
        assert f'"id": "{experiment}"' in spec
        assert f'"label": "{agent}"' in spec
        for part in ("fwrl", "numba", "numpy", "python", "scipy"):
            assert f'"{part}"' in versions


def unchanged(path, action):
    before = path.read_bytes()
    with pytest.raises(FileError) as caught:
        action()
    assert path.read_bytes() == before
    return str(caught.value)


def test_foreign_damaged_and_other_versions_are_refused_and_left_untouched(tmp_path):
    path = tmp_path / "x.sqlite"
    filled(path, [H_MAZE], seeds=1)

    def edit(statement):
        db = sqlite3.connect(path)
        with db:
            db.execute(statement)
        db.close()

    edit("PRAGMA user_version = 99")
    assert "has format version 99" in unchanged(path, lambda: Store(path))
    edit(f"PRAGMA user_version = {SCHEMA}")
    edit('UPDATE about SET value = \'{"fwrl": "0.0.1"}\'')
    assert "0.0.1" in unchanged(path, lambda: Store(path))
    with Store(path, read_only=True) as store:  # to read, any version will do
        assert store.seeds(H_MAZE.id, H_MAZE.agents[0].label) == [0]
    edit("PRAGMA application_id = 7")
    assert "a results file of fwrl" in unchanged(path, lambda: Store(path))
    assert "a results file of fwrl" in unchanged(path, lambda: Store(path, read_only=True))
    path.write_text("hello, I am a text file and not a database at all")
    assert "left untouched" in unchanged(path, lambda: Store(path))


def test_a_damaged_store_is_refused_and_left_untouched(tmp_path):
    path = tmp_path / "x.sqlite"
    filled(path, [TINY, H_MAZE], seeds=3)
    damaged = bytearray(path.read_bytes())
    damaged[4096 : 4096 * 6] = b"\xff" * (4096 * 5)
    path.write_bytes(damaged)
    assert "damaged and was left untouched" in unchanged(path, lambda: Store(path))


def test_reading_makes_no_store_and_changes_none(tmp_path):
    path = tmp_path / "x.sqlite"
    with pytest.raises(FileError, match="can't use"):
        Store(path, read_only=True)
    assert not path.exists()
    filled(path, [H_MAZE], seeds=1)
    with Store(path, read_only=True) as store, pytest.raises(FileError, match="readonly"):
        store.write([run_trial(H_MAZE, H_MAZE.agents[0].label, 7)], {H_MAZE.id: H_MAZE})


def test_a_missing_folder_is_said(tmp_path):
    with pytest.raises(FileError, match="can't use"):
        Store(tmp_path / "no" / "x.sqlite")


def test_stored_numbers_are_those_of_the_run(tmp_path):
    filled(tmp_path / "x.sqlite")
    with Store(tmp_path / "x.sqlite") as store:
        for seed in range(3):
            result = run_trial(TINY, "QL", seed).result
            for column in ("reward", "distance", "shortest", "visits", "steps", "goal"):
                np.testing.assert_array_equal(store.episodes("tiny", "QL", column)[seed], getattr(result, column))
            distance, shortest = store.visits("tiny", "QL")[seed]
            np.testing.assert_array_equal(distance, result.visit_distance)
            np.testing.assert_array_equal(shortest, result.visit_shortest)
        trip = run_trial(H_MAZE, FWRL_EXACT.label, 1).result.trajectory
        assert trip is not None
        rows = [tuple(row) for n in range(3) for row in store.steps("h-maze", FWRL_EXACT.label, 1, n)]
        assert rows == list(zip(*(column.tolist() for column in trip[1:]), strict=True))


def test_every_agent_of_an_experiment_meets_the_same_goals(tmp_path):
    with Store(tmp_path / "x.sqlite") as store:
        run_experiments(store, [FOUR_ROOMS], seeds=1)
        goals = {tuple(store.episodes(FOUR_ROOMS.id, a.label, "goal")[0]) for a in FOUR_ROOMS.agents}
    assert len(goals) == 1


def test_exported_tables_hold_the_same_rows(tmp_path):
    import duckdb

    with Store(tmp_path / "x.sqlite") as store:
        run_experiments(store, [FOUR_ROOMS, WINDY], seeds=2, workers=1)
        files = {path.name for path in export_results(store, tmp_path / "out")}
        columns, rows = store.rows("episodes")
        scores = score_matrices(store)
        goals = store.episodes(WINDY.id, "QL", "goal").astype(np.int64)
        share = store.episodes(WINDY.id, "QL", "reward").mean(axis=1) / reference(WINDY, goals).oracle.mean(axis=1)
    assert {"episodes.csv", "episodes.parquet", "runs.csv", "scores.npz"} <= files
    for name in ("episodes.csv", "episodes.parquet"):
        relation = duckdb.sql(f"SELECT * FROM '{tmp_path / 'out' / name}' ORDER BY ALL")
        assert relation is not None
        assert relation.columns == columns
        assert relation.fetchall() == sorted(rows)
    loaded = np.load(tmp_path / "out" / "scores.npz")
    assert set(loaded.files) == {agent.label for agent in FOUR_ROOMS.agents}
    assert loaded["QL"].shape == (2, 2)
    np.testing.assert_allclose(loaded["QL"][:, 1], share)
    # The player that knows the world earns what the exact oracle expects, but for its luck.
    np.testing.assert_allclose(scores["oracle"], np.ones((2, 2)), atol=0.02)


def test_unknown_experiments_get_close_matches():
    with pytest.raises(UnknownNameError, match="did you mean 'h-maze'"):
        chosen(["h-maz"])
    assert chosen() == EXPERIMENTS


def test_no_seeds_or_workers_are_refused(tmp_path):
    with Store(tmp_path / "x.sqlite") as store, pytest.raises(OptionError, match="seeds as a whole number from 1"):
        run_experiments(store, [TINY], seeds=0)


def test_a_replayed_run_ends_with_the_values_of_the_run_itself(tmp_path):
    from fwrl.experiment.replay import replay
    from fwrl.experiment.trial import seeded_agent
    from fwrl.task import Task, run

    filled(tmp_path / "x.sqlite", [H_MAZE], seeds=1)
    world, label = load_world(H_MAZE.world), FWRL_EXACT.label
    with Store(tmp_path / "x.sqlite") as store:
        episodes = [store.steps(H_MAZE.id, label, 0, n) for n in range(len(H_MAZE.stages))]
    replayed = replay(H_MAZE, label, 0, episodes)
    agent = seeded_agent(H_MAZE, H_MAZE.agent(label), 0)
    for stage, steps, moments in zip(H_MAZE.stages, episodes, replayed, strict=True):
        start, goal = world.state_at(*stage.start), world.state_at(*stage.goal)
        options: dict[str, Any] = {"learn": stage.learn, "explore": stage.explore}
        run(Task(world, respawn=False), agent, episodes=1, steps=stage.steps, goal=goal, start=start, **options)
        assert [moment.state for moment in moments][: len(steps)] == [step[0] for step in steps]
        np.testing.assert_array_equal(moments[-1].values, agent.values(goal))


def test_the_sources_are_hashed_once_per_process(tmp_path, monkeypatch):
    from fwrl.experiment.store import versions as read_versions

    read_versions()

    def never():
        raise AssertionError("hashed again")

    monkeypatch.setattr("fwrl.experiment.store.digest", never)
    filled(tmp_path / "x.sqlite", [H_MAZE], seeds=1)
