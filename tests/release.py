"""Tag the version, once everything says the same of it: the first and the last step of `make release`.

    python tests/release.py [--check]

The version stands in src/fwrl/__init__.py alone. CITATION.cff and CHANGELOG.md must name it, its tag must be new and
the work tree clean. With `--check` that is all; otherwise dist must have its packages, and the commit is tagged.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import fwrl

ROOT = Path(__file__).resolve().parents[1]


def problems(root: Path, version: str) -> list[str]:
    """What keeps this version from being released, before anything is built."""
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    found = []
    if not re.search(rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", changelog, re.MULTILINE):
        found.append(f"CHANGELOG.md has no section '## {version} (YYYY-MM-DD)'; rename 'Unreleased'")
    if f"version: {version}" not in citation:
        found.append(f"CITATION.cff does not say 'version: {version}'")
    if git(root, "status", "--porcelain"):
        found.append("the work tree has changes; commit them first")
    if git(root, "tag", "--list", f"v{version}"):
        found.append(f"the tag v{version} exists; raise the version in src/fwrl/__init__.py")
    return found


def packages_missing(root: Path, version: str) -> list[str]:
    """The packages of this version that were not built."""
    names = (f"fwrl-{version}-py3-none-any.whl", f"fwrl-{version}.tar.gz")
    missing = [name for name in names if not (root / "dist" / name).is_file()]
    return [f"dist/{name} does not exist; run make test-packages" for name in missing]


def git(root: Path, *arguments: str) -> str:
    """What git answers."""
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout


def main(check: bool) -> int:
    """Tag, or say what is missing."""
    version = fwrl.__version__
    found = problems(ROOT, version) + ([] if check else packages_missing(ROOT, version))
    if found:
        print("\n".join(f"release: {problem}" for problem in found), file=sys.stderr)
        return 2
    if not check:
        git(ROOT, "tag", "--annotate", f"v{version}", "--message", f"fwrl {version}")
        print(f"tagged v{version}; dist holds the packages that were tested")
    return 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
