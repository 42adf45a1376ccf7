"""Generators are lent to compiled code, not given.

Compiled without reference counting (see `compiled`), a function that takes a Generator would keep it for good: numba
counts a reference on the way in and, unlike for arrays, does so even where nothing will count it out again. An
episode's generators would stay in memory for ever, some kilobytes at a time. Whoever calls holds the generator as long
as the call lasts, so nothing needs counting.
"""

from __future__ import annotations

from typing import Any

from numba.core import boxing, cgutils, pythonapi, types

# Numba's own code generation is untyped.
_boxing: Any = boxing
_cgutils: Any = cgutils
_pythonapi: Any = pythonapi


def _lend(kind: Any, generator: Any, c: Any) -> Any:
    """How numba takes a Generator: as ever where references are counted, else as it stands."""
    if c.context.enable_nrt:
        return _boxing.unbox_numpy_random_generator(kind, generator, c)
    lent = _cgutils.create_struct_proxy(kind)(c.context, c.builder)
    bits = c.pyapi.object_getattr_string(generator, "bit_generator")
    taken = c.unbox(_boxing._bit_gen_type, bits)
    c.pyapi.decref(bits)
    lent.bit_generator = taken.value
    lent.parent = generator
    lent.meminfo = _cgutils.get_null_value(lent.meminfo.type)
    return _pythonapi.NativeValue(lent._getvalue(), is_error=taken.is_error)


def lend_generators() -> None:
    """From now on, in this process. Doing it twice changes nothing."""
    _pythonapi._unboxers.functions[types.NumPyRandomGeneratorType] = _lend
