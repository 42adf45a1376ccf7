"""Releases: one version everywhere, lowest versions that are versions, files that a repository should have."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from lowest_constraints import constraints, lowest
from release import git, packages_missing, problems

ROOT = Path(__file__).resolve().parents[1]


def test_every_dependency_has_a_lowest_version():
    lines = constraints()
    assert len(lines) > 20
    assert {line.partition("==")[0] for line in lines} >= {"numpy", "numba", "scipy", "pytest", "pyarrow"}
    with pytest.raises(ValueError, match="has no lowest version"):
        lowest("numpy")


def test_a_version_is_released_only_if_changelog_and_citation_name_it_in_a_clean_new_commit(tmp_path):
    git(tmp_path, "init", "--quiet")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n")
    (tmp_path / "CITATION.cff").write_text("version: 0.1.0\n")
    found = problems(tmp_path, "0.2.0")
    assert [line.split()[:3] for line in found] == [
        ["CHANGELOG.md", "has", "no"],
        ["CITATION.cff", "does", "not"],
        ["the", "work", "tree"],
    ]
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 0.2.0 (2026-11-17)\n")
    (tmp_path / "CITATION.cff").write_text("version: 0.2.0\n")
    git(tmp_path, "add", ".")
    somebody = ("-c", "user.name=x", "-c", "user.email=x@localhost")
    git(tmp_path, *somebody, "commit", "--quiet", "--message", "release")
    assert problems(tmp_path, "0.2.0") == []
    git(tmp_path, *somebody, "tag", "--annotate", "v0.2.0", "--message", "released")
    assert problems(tmp_path, "0.2.0") == ["the tag v0.2.0 exists; raise the version in src/fwrl/__init__.py"]


def test_a_version_is_tagged_only_with_its_packages(tmp_path):
    names = ["fwrl-0.2.0-py3-none-any.whl", "fwrl-0.2.0.tar.gz"]
    assert [line.split()[0] for line in packages_missing(tmp_path, "0.2.0")] == [f"dist/{name}" for name in names]
    (tmp_path / "dist").mkdir()
    for name in names:
        (tmp_path / "dist" / name).touch()
    assert packages_missing(tmp_path, "0.2.0") == []


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


def test_the_page_of_a_package_index_has_no_picture_that_it_cannot_show():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["metadata"]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for change in settings["hooks"]["fancy-pypi-readme"]["substitutions"]:
        assert re.search(change["pattern"], text), change
        text = re.sub(change["pattern"], change["replacement"], text)
    assert re.findall(r"<img|<!--|\]\((?!https?://)", text) == []


def test_every_extra_is_described():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    described = re.findall(r"`fwrl\[(\w+)\]`", (ROOT / "docs" / "installing.md").read_text(encoding="utf-8"))
    assert sorted(described) == sorted(extras)


def named_pythons() -> list[str]:
    """The versions of Python in the classifiers of the package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))


def test_the_workflow_runs_every_python_that_the_package_names():
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    (matrix,) = re.findall(r"python: \[(.*)\]", workflow)
    assert re.findall(r"3\.\d+", matrix) == named_pythons()


def test_the_badges_say_what_the_package_says():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pythons = named_pythons()
    assert f"![Python {pythons[0]} to {pythons[-1]}]" in readme
    assert f"badge/Python-{pythons[0]}%20to%20{pythons[-1]}-" in readme
    assert "badge/licence-MIT-" in readme
    assert 'license = "MIT"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
