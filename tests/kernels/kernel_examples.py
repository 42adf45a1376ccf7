"""How many examples a property test of a kernel tries: few, and always the same, where kernels run uncompiled."""

from __future__ import annotations

import numba
import pytest
from hypothesis import settings

UNCOMPILED = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]
ENOUGH = 20

compiled_only = pytest.mark.skipif(UNCOMPILED, reason="needs compiled loops (NUMBA_DISABLE_JIT is set)")


def examples(n: int) -> settings:
    """Settings for `n` examples; the first call of a kernel compiles it, so there is no deadline."""
    return settings(max_examples=min(n, ENOUGH) if UNCOMPILED else n, derandomize=UNCOMPILED, deadline=None)
