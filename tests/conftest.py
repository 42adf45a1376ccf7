"""Fixtures that several test files share."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
import pytest

# Tests run in one process per core. More threads of BLAS and torch, which read this, would wait for it in busy loops.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# No test asserts a time: the first example of a property test may compile kernels, and machines are shared.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

EXAMPLES = 25  # of each property test; `make stress` draws all that the test asks for, mostly 60 to 400


@pytest.hookimpl(tryfirst=True)  # before xdist looks which tests belong together
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function):
            keep_with_its_module(item)
            if hasattr(item.obj, "hypothesis"):
                item.add_marker("property")
                if not item.config.getoption("all_examples"):
                    shorten(item.obj)
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)  # long groups first, or they end last


def keep_with_its_module(item: pytest.Function) -> None:
    """Run the tests that share a fixture of their module in one process, so that it is made once."""
    definitions = item._fixtureinfo.name2fixturedefs.values()
    if any(found.scope == "module" for found, *_ in definitions):
        item.add_marker(pytest.mark.xdist_group(item.path.stem))


def shorten(test: Any) -> None:
    """Let a property test draw fewer examples, other ones each time."""
    found = getattr(test, "_hypothesis_internal_use_settings", hypothesis.settings())
    if found.max_examples > EXAMPLES:
        test._hypothesis_internal_use_settings = hypothesis.settings(found, max_examples=EXAMPLES)


@pytest.fixture(autouse=True)
def interpreted_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents of pages stay interpreted in the processes of tests: a thread that compiles would only slow them down."""
    match, interpreted = (sys.modules.get(f"fwrl.web.play.{name}") for name in ("match", "interpreted"))
    if match is not None:
        monkeypatch.setattr(match, "compile_soon", lambda agent: False)
        monkeypatch.setattr(interpreted, "_compiled", {})


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> Iterator[None]:
    """Let Ctrl-C end what tests start; shells let jobs in the background ignore it, and new processes inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def movingai_maps() -> Path:
    """The folder of published maps and scenarios beside the project."""
    folder = Path(__file__).resolve().parents[1].parent / "shared" / "maps"
    if not folder.is_dir():
        pytest.skip("no shared/maps folder beside the project")
    return folder


@pytest.fixture(scope="module")
def visits() -> Iterator[Any]:
    """A browser and a server of `fwrl play`; tests of another page have another fixture of this name."""
    from web_browser import visiting

    with visiting() as visits:
        yield visits


@pytest.fixture
def opened(visits: Any) -> Iterator[Any]:
    """Open a page in the browser: `opened(width, height, address="...")`; nothing may have gone wrong on it."""
    yield visits.open
    visits.close()


SCRIPT = Path(sys.executable).with_name("fwrl")


class Answer(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    """Run a command in this process, in an empty folder and a terminal of 80 columns: `call("worlds", "--json")`."""
    from fwrl.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def answer(*arguments):
        monkeypatch.setattr(sys, "argv", ["fwrl", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            main()
        code = exit_.value.code or 0
        assert isinstance(code, int)
        return Answer(code, *capsys.readouterr())

    return answer


@pytest.fixture
def script(tmp_path):
    """Run the installed script in a new process."""
    if not SCRIPT.is_file():
        pytest.skip(f"no fwrl script beside {sys.executable}")

    def answer(*arguments, **environment):
        done = subprocess.run(
            [SCRIPT, *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "80", **environment},
            check=False,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    return answer
