"""Agents of pages stay interpreted in the processes of tests: a thread that compiles would only slow them down."""

import pytest

from fwrl.web.play import interpreted


@pytest.fixture(autouse=True, scope="session")
def interpreted_agents():
    interpreted.AFTER = 1e6
