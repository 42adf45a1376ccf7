"""Tag the version, once everything says the same of it: the last step of `make release`.

The version stands in src/fwrl/__init__.py alone. CITATION.cff and CHANGELOG.md must name it, the work tree must be
clean, and dist must have its packages.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import fwrl

ROOT = Path(__file__).resolve().parents[1]


def problems(root: Path, version: str) -> list[str]:
    """What keeps this version from being released."""
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    packages = {path.name for path in (root / "dist").glob("*")}
    found = []
    if not re.search(rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", changelog, re.MULTILINE):
        found.append(f"CHANGELOG.md has no section '## {version} (YYYY-MM-DD)'; rename 'Unreleased'")
    if f"version: {version}" not in citation:
        found.append(f"CITATION.cff does not say 'version: {version}'")
    expected = (f"fwrl-{version}-py3-none-any.whl", f"fwrl-{version}.tar.gz")
    found += [f"dist/{name} does not exist; run make test-packages" for name in expected if name not in packages]
    return found


def main() -> int:
    """Tag, or say what is missing."""
    found = problems(ROOT, fwrl.__version__)
    dirty = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True)
    if dirty.stdout:
        found.append("the work tree has changes; commit them first")
    if found:
        print("\n".join(f"release: {problem}" for problem in found), file=sys.stderr)
        return 2
    tag = f"v{fwrl.__version__}"
    subprocess.run(["git", "tag", "--annotate", tag, "--message", f"fwrl {fwrl.__version__}"], cwd=ROOT, check=True)
    print(f"tagged {tag}; dist holds the packages that were tested")
    return 0


if __name__ == "__main__":
    sys.exit(main())
