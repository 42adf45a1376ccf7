"""`make check`: the style of the changed files, types, layers, and the tests nearest to the change, in a minute.

A file is changed if it differs from the last commit that this branch shares with main, committed or not. The tests of a
change are, in this order:

1. changed tests, tests that import a changed file, and those of the folder below that are named after it;
2. doctests of changed modules;
3. the folder of tests of the same name: `tests/planner` for `src/fwrl/planner`, `tests/test_*.py` for the root.

Those that would start after `SECONDS` are skipped, and counted.

    python tests/check.py --list    # name their files, run nothing
"""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
SECONDS = 40


def changed_files(root: Path = ROOT) -> list[str]:
    """The files that differ from main, without those that were deleted."""
    main = next((ref for ref in ("origin/main", "main") if git(root, "rev-parse", "--quiet", "--verify", ref)), "HEAD")
    (base,) = git(root, "merge-base", "HEAD", main) or ["HEAD"]
    differing = git(root, "diff", "--name-only", "--no-renames", "--diff-filter=d", base)
    return sorted({*differing, *git(root, "ls-files", "--others", "--exclude-standard")})


def git(root: Path, *arguments: str) -> list[str]:
    """The lines that git prints; none if it fails."""
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def nearest_tests(changed: Iterable[str]) -> list[str]:
    """The files with tests of a change, the nearest first."""
    sources = [path for path in changed if not path.startswith("tests/")]
    names = {name for path in changed for name in import_names(path)}
    near, far = [], []
    for test in sorted(ROOT.glob("tests/**/test_*.py")):
        path = test.relative_to(ROOT).as_posix()
        beside = [Path(source) for source in sources if folder_of_tests(source) == Path(path).parent]
        named = any(source.stem.lower() in test.stem.split("_") for source in beside)
        if path in changed or named or imports(test) & names:
            near.append(path)
        elif beside:
            far.append(path)
    return [*near, *(path for path in sources if path.startswith("src/") and path.endswith(".py")), *far]


def folder_of_tests(source: str) -> Path:
    """The folder of tests of the same name."""
    return Path("tests", *Path(source.removeprefix("src/fwrl/")).parent.parts[:1])


def import_names(path: str) -> Iterator[str]:
    """The names that a module is imported by; none if it isn't one."""
    if path.endswith(".py"):
        parts = [part for part in Path(path).with_suffix("").parts if part not in ("src", "__init__")]
        yield ".".join(parts)
        if parts[0] in ("docs", "tests"):  # see pythonpath in pyproject.toml
            yield parts[-1]


@functools.cache
def imports(path: Path) -> set[str]:
    """The names that a file imports, wherever in it; for `from a import b`, both a and a.b."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def steps(changed: list[str], tests: list[str]) -> Iterator[list[str]]:
    """The commands to run."""
    if code := [path for path in changed if path.endswith((".py", ".ipynb"))]:
        yield [str(BIN / "ruff"), "check", "--quiet", "--force-exclude", *code]
        yield [str(BIN / "ruff"), "format", "--quiet", "--force-exclude", "--check", *code]
        yield ["make", "--no-print-directory", "--jobs", "2", "types-linux", "layers"]
    if tests:
        options = ["-n", "2", "--dist", "loadgroup", "-m", "not stress", "--seconds", str(SECONDS)]
        yield [str(BIN / "pytest"), *options, *tests]


def main() -> int:
    """Run every step, and say which of them failed."""
    changed = changed_files()
    tests = nearest_tests(changed)
    print(f"changed: {len(changed)} files; their tests: {len(tests)} files", flush=True)
    if "--list" in sys.argv:
        print(*tests, sep="\n")
        return 0
    failed = [step for step in steps(changed, tests) if subprocess.run(step, cwd=ROOT, check=False).returncode]
    tools = ", ".join(Path(step[0]).name for step in failed)
    print(f"failed: {tools}" if failed else "passed; before you merge: make test lint")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
