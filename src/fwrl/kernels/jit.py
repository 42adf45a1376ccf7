"""How kernels are compiled: serially, without fast-math (-inf is a value here), with a cache on disk.

Compile time grows with the number of functions, times the arrays passed to each, times the types it's called with. So
kernels get few arrays, integers of one type, and no literals (numba compiles a function again for each literal it's
called with). Python can call `compiled` functions. `inner` ones are only for other kernels, into which they are
inlined; this spares numba the code that converts arguments, most of the work for a short function. Every caller
optimises all that's inlined into it once more, so one large kernel that several call is `shared` instead: not inlined.

Numba counts references to every array of a tuple, at every call and atomically, which would cost more than a step of
learning itself. Inlining makes most of these counts cancel, and `agents.loops` passes tables on without owners.

Numba's cache notices changes only in the file that defines a function, not in the functions it calls. So we name the
cache folder by a digest of all sources that are compiled together, and remove folders of other versions a month after
the last addition. If no folder can be written, functions are compiled in each process: slower to start, otherwise the
same.

With NUMBA_DISABLE_JIT=1 in the environment nothing is compiled: kernels are Python functions with the same results.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

PACKAGE = Path(__file__).resolve().parents[1]
COMPILED_LAYERS = ("kernels", "agents", "task")
STALE = 30 * 24 * 3600  # seconds

_settings: Any = numba.config  # untyped
DISABLED: bool = bool(_settings.DISABLE_JIT)

OPTIONS: Any = {"error_model": "numpy", "no_cfunc_wrapper": True, "nogil": True}  # without the lock, pages keep running
SHARED: Any = {**OPTIONS, "no_cpython_wrapper": True}
INNER: Any = {**SHARED, "forceinline": True}
NOTICE = "fwrl: compiling once for this machine; later runs start immediately"
NOTICE_AFTER = 1.0  # seconds of compiling

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function, *, sources: tuple[Path, ...] | None = ()) -> Function:
    """Compile a function with numba on first call; usable as a decorator.

    Args:
        sources: the files outside fwrl that it calls into; None if they are unknown, and then it isn't cached on disk.

    >>> @compiled
    ... def twice(x: float) -> float:
    ...     return 2 * x
    >>> twice(1.5)
    3.0
    """
    return _jit(function, sources, OPTIONS)


def inner(function: Function) -> Function:
    """Compile a function that only compiled functions call; a decorator. A call from Python would crash."""
    return _jit(function, (), INNER)


def shared(function: Function) -> Function:
    """Compile a function like `inner` ones, but once for all callers; a decorator."""
    return _jit(function, (), SHARED)


def _jit(function: Function, sources: tuple[Path, ...] | None, options: Any) -> Function:
    settings: Any = numba.config
    if settings.DISABLE_JIT:
        # Compiled arithmetic wraps around and returns inf and nan without warnings. Functions that only compiled ones
        # call are within one that ignores warnings already; ignoring them again takes longer than most calls do.
        return np.errstate(all="ignore")(function) if options is OPTIONS else function
    folder = None if sources is None else cache_folder(sources)
    if folder is None or not Path(function.__code__.co_filename).is_file():
        return numba.njit(**options)(function)  # type: ignore[no-any-return]
    before, settings.CACHE_DIR = settings.CACHE_DIR, str(folder)
    try:
        return numba.njit(cache=True, **options)(function)  # type: ignore[no-any-return]
    finally:
        settings.CACHE_DIR = before


def _borrowed(typingctx: Any, tables: Any) -> Any:
    """Return the tables without owners of their arrays, which numba would count at every call; the caller owns them."""
    low: Any = cgutils  # untyped

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def without_owner(kind: Any, value: Any) -> Any:
            if isinstance(kind, types.Array):
                array = low.create_struct_proxy(kind)(context, builder, value)
                array.meminfo = low.get_null_value(array.meminfo.type)
                array.parent = low.get_null_value(array.parent.type)
                return array._getvalue()
            for n, part in enumerate(kind.types):
                inside = without_owner(part, builder.extract_value(value, n))
                value = builder.insert_value(value, inside, n)
            return value

        return without_owner(signature.args[0], arguments[0])

    return tables(tables), codegen


borrowed: Any = (lambda tables: tables) if DISABLED else intrinsic(_borrowed)


def compile_for(function: Any, arguments: tuple[Any, ...]) -> None:
    """Compile for the types of these arguments; say so in one line, once, if that takes more than a second."""
    typeof: Any = numba.typeof  # untyped
    notice = threading.Timer(NOTICE_AFTER, say_that_it_compiles)
    notice.daemon = True
    notice.start()
    try:
        function.compile(tuple(typeof(each) for each in arguments))
    finally:
        notice.cancel()


@functools.cache
def say_that_it_compiles() -> None:
    """Print the notice, on the first call only."""
    print(NOTICE, file=sys.stderr, flush=True)


@functools.cache
def cache_folder(sources: tuple[Path, ...] = ()) -> Path | None:
    """Return the folder for compiled code, created if missing; None if none can be written."""
    home = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    try:
        folder = Path(home) if home else Path.home() / ".cache"
    except RuntimeError:
        return None
    folder = folder / "fwrl" / digest(sources)
    try:
        if not folder.exists():
            folder.mkdir(parents=True, exist_ok=True)
            drop_stale(folder)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return None


def drop_stale(folder: Path) -> None:
    """Remove folders next to `folder` with code of other versions, a month after the last addition."""
    for other in folder.parent.iterdir():
        ours = len(other.name) == len(folder.name) and set(other.name) <= set("0123456789abcdef")
        if ours and other != folder and time.time() - other.stat().st_mtime > STALE:
            shutil.rmtree(other, ignore_errors=True)


def digest(sources: tuple[Path, ...] = ()) -> str:
    """Return a digest of fwrl's compiled sources and of `sources`."""
    state = hashlib.sha256(f"{numba.__version__} {OPTIONS}".encode())
    for path in (*_package_sources(), *sources):
        state.update(path.read_bytes())
    return state.hexdigest()[:16]


def _package_sources() -> list[Path]:
    return sorted(path for layer in COMPILED_LAYERS for path in (PACKAGE / layer).rglob("*.py"))


@inner
def widened(i: int) -> int:
    """Return an integer of 32 bits, or a literal, as one of 64 bits, for which kernels are compiled only once."""
    return int(np.int64(i))
