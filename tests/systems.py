"""Marks of tests that only some systems can run."""

from __future__ import annotations

import sys

import pytest

unix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files, links, permissions or signals")
