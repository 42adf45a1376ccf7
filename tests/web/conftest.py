"""Agents of pages stay interpreted in the processes of tests: a thread that compiles would only slow them down."""

import pytest

from fwrl.web.play import interpreted, match


@pytest.fixture(autouse=True)
def no_compiling(monkeypatch):
    monkeypatch.setattr(interpreted, "_compiled", {})
    monkeypatch.setattr(match, "compile_soon", lambda agent: False)
