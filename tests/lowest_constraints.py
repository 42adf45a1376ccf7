"""Print the lowest versions that pyproject.toml allows, as constraints for pip.

python tests/lowest_constraints.py > lowest.txt
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
TOOLS = ("docs", "lint", "release")  # not what is tested


def lowest(requirement: str) -> str:
    """`name==version` for `name>=version,...`.

    >>> lowest("mujoco>=3.1,<4")
    'mujoco==3.1'
    """
    found = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)(?:,.*)?", requirement)
    if found is None:
        raise ValueError(f"{requirement!r} has no lowest version; write it as NAME>=VERSION")
    return f"{found[1]}=={found[2]}"


def constraints() -> list[str]:
    """One line for every dependency, those of extras included."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = [text for name, listed in project["optional-dependencies"].items() if name not in TOOLS for text in listed]
    return sorted({lowest(text) for text in (*project["dependencies"], *extras)})


if __name__ == "__main__":
    print("\n".join(constraints()))
