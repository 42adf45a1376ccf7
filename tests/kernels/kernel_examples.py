"""How property tests of kernels run; `tests/conftest.py` lets them try fewer examples where kernels run uncompiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import settings

from fwrl.kernels.jit import OPTIONS

UNCOMPILED = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]

compiled_only = pytest.mark.skipif(UNCOMPILED, reason="needs compiled loops (NUMBA_DISABLE_JIT is set)")


def examples(n: int) -> settings:
    """Settings for `n` examples; the first call of a kernel compiles it, so there is no deadline."""
    return settings(max_examples=n)


def from_python(kernel: Any) -> Callable[..., Any]:
    """A kernel that other kernels call, in a form that a test can call; not from the cache, which has the other."""
    if UNCOMPILED:  # what calls it there lets numbers become inf and nan
        return np.errstate(all="ignore")(kernel)  # type: ignore[no-any-return]
    function: Callable[..., Any] = numba.njit(**OPTIONS)(kernel.py_func)
    return function
