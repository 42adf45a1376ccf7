"""How property tests of kernels run; `tests/conftest.py` lets them try fewer examples where kernels run uncompiled."""

from __future__ import annotations

import numba
import pytest
from hypothesis import settings

UNCOMPILED = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]

compiled_only = pytest.mark.skipif(UNCOMPILED, reason="needs compiled loops (NUMBA_DISABLE_JIT is set)")


def examples(n: int) -> settings:
    """Settings for `n` examples; the first call of a kernel compiles it, so there is no deadline."""
    return settings(max_examples=n)
