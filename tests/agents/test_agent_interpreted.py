"""Compiled and interpreted, every agent does the same to the last bit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import interpreted_runs


def test_compiled_and_interpreted_agents_do_the_same():
    done = subprocess.run(
        [sys.executable, interpreted_runs.__file__],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == interpreted_runs.digests()
