"""`make check` runs the tests that a change can reach, the nearest first."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import changed_files, nearest_tests
from release import git

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    ("changed", "first", "folder"),
    [
        ("src/fwrl/planner/ingest/csv.py", "tests/planner/test_planner_csv.py", "tests/planner"),
        ("src/fwrl/kernels/ties.py", "tests/kernels/test_ties.py", "tests/kernels"),
        ("src/fwrl/web/play/static/board.js", "tests/web/test_web_board_world.py", "tests/web"),
        ("src/fwrl/worlds/maps/h-maze.txt", None, "tests/worlds"),
        ("docs/algorithm.md", None, "tests/docs"),
        ("README.md", "tests/test_readme.py", "tests"),
    ],
)
def test_a_source_is_tested_by_what_is_named_after_it_and_then_by_its_folder(changed, first, folder):
    assert (ROOT / changed).is_file()
    found = nearest_tests([changed])
    assert first in (None, found[0])
    assert {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).glob("test_*.py")} <= set(found)


def test_a_module_is_tested_wherever_it_is_imported_and_by_its_doctests():
    found = nearest_tests(["src/fwrl/metrics/bootstrap.py"])
    assert "src/fwrl/metrics/bootstrap.py" in found
    elsewhere = nearest_tests(["src/fwrl/pool.py"])
    assert {"tests/cluster/test_pool.py", "tests/cluster/test_cluster_fits.py"} <= set(elsewhere)
    assert "tests/kernels/test_ties.py" not in elsewhere


def test_a_changed_test_runs_alone_and_what_tests_share_runs_all_that_import_it():
    assert nearest_tests(["tests/kernels/test_ties.py"]) == ["tests/kernels/test_ties.py"]
    found = nearest_tests(["tests/kernels/counted_models.py"])
    assert found
    assert all("counted_models" in (ROOT / path).read_text(encoding="utf-8") for path in found)


def test_commits_since_main_edits_and_new_files_are_changes_and_deleted_files_are_not(tmp_path):
    somebody = ("-c", "user.name=x", "-c", "user.email=x@localhost")
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    for name in ("same", "edited", "committed", "deleted"):
        (tmp_path / name).write_text(name)
    git(tmp_path, "add", ".")
    git(tmp_path, *somebody, "commit", "--quiet", "--message", "main")
    git(tmp_path, "switch", "--quiet", "--create", "branch")
    (tmp_path / "committed").write_text("otherwise")
    git(tmp_path, *somebody, "commit", "--quiet", "--all", "--message", "branch")
    (tmp_path / "edited").write_text("otherwise")
    (tmp_path / "new").write_text("")
    (tmp_path / "deleted").unlink()
    assert changed_files(tmp_path) == ["committed", "edited", "new"]
