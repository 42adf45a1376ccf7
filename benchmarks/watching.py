"""How benchmarks report progress."""

from __future__ import annotations

from collections.abc import Callable

Watch = Callable[[str, float], None]  # what is done, and the part of it that is
