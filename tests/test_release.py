"""Releases: one version everywhere, lowest versions that are versions, files that a repository should have."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from lowest_constraints import constraints, lowest
from release import problems

ROOT = Path(__file__).resolve().parents[1]


def test_every_dependency_has_a_lowest_version():
    lines = constraints()
    assert len(lines) > 20
    assert {line.partition("==")[0] for line in lines} >= {"numpy", "numba", "scipy", "pytest", "pyarrow"}
    with pytest.raises(ValueError, match="has no lowest version"):
        lowest("numpy")


def test_a_version_is_released_only_if_changelog_citation_and_packages_name_it(tmp_path):
    (tmp_path / "dist").mkdir()
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n")
    (tmp_path / "CITATION.cff").write_text("version: 0.1.0\n")
    found = problems(tmp_path, "0.2.0")
    assert [line.split()[0] for line in found] == [
        "CHANGELOG.md",
        "CITATION.cff",
        "dist/fwrl-0.2.0-py3-none-any.whl",
        "dist/fwrl-0.2.0.tar.gz",
    ]
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 0.2.0 (2026-11-17)\n")
    (tmp_path / "CITATION.cff").write_text("version: 0.2.0\n")
    for name in ("fwrl-0.2.0-py3-none-any.whl", "fwrl-0.2.0.tar.gz"):
        (tmp_path / "dist" / name).touch()
    assert problems(tmp_path, "0.2.0") == []


def addresses_missing(citation: str, pyproject: str, readme: str) -> list[str]:
    """What does not name the public address of the repository that CITATION.cff names, or names one without it."""
    urls = tomllib.loads(pyproject)["project"].get("urls", {})
    badges = re.findall(r"!\[[^]]*\]\((https://\S+/badge\.svg)\)", readme)
    found = re.search(r"^repository-code: (\S+)$", citation, re.MULTILINE)
    if found is None:
        return [*(url for url in urls.values() if url not in citation), *badges]
    named = {"[project.urls]": list(urls.values()), "the badges of README.md": badges}
    return [place for place, texts in named.items() if not any(text.startswith(found[1]) for text in texts)]


def test_urls_and_badges_name_the_address_that_the_citation_names():
    # There is no public address yet: urls other than the paper's, and a badge of the workflow, would be invented.
    names = ("CITATION.cff", "pyproject.toml", "README.md")
    assert addresses_missing(*((ROOT / name).read_text(encoding="utf-8") for name in names)) == []


def test_an_address_without_urls_and_badges_is_noticed():
    address, bare = "https://host/fwrl", '[project]\nname = "fwrl"\n'
    urls, badge = f'{bare}urls.Source = "{address}"\n', f"[![tests]({address}/actions/workflows/test.yml/badge.svg)]()"
    citation = f"title: fwrl\nrepository-code: {address}\n"
    assert addresses_missing(citation, bare, "# fwrl") == ["[project.urls]", "the badges of README.md"]
    assert addresses_missing(citation, urls, badge) == []
    assert addresses_missing("title: fwrl", urls, "# fwrl") == [address]


@pytest.mark.parametrize("folder", [".venv-lowest", ".venv-newest", "dist"])
def test_what_a_release_makes_leaves_the_work_tree_clean(folder):
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    done = subprocess.run(["git", "check-ignore", f"{folder}/x"], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize(
    "name", ["SECURITY.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "CHANGELOG.md", "CITATION.cff"]
)
def test_the_repository_has_what_visitors_look_for(name):
    assert (ROOT / name).read_text(encoding="utf-8").strip()


def test_the_workflows_pass_their_linter():
    zizmor = shutil.which("zizmor", path=str(Path(sys.executable).parent))
    if zizmor is None:
        pytest.skip("zizmor is not installed: it is part of the extra release")
    done = subprocess.run(
        [zizmor, "--offline", "--no-progress", str(ROOT / ".github")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
