"""Passing Generators to compiled code without leaking them.

Kernels are compiled without reference counting (see `compiled`). Numba increments the reference count of a Generator on
the way in all the same, and nothing would decrement it: the generators of every episode would stay in memory. The
caller holds a reference during the call, so none needs to be counted.
"""

from __future__ import annotations

from typing import Any

from numba.core import boxing, cgutils, pythonapi, types

# Numba's own code generation is untyped.
_boxing: Any = boxing
_cgutils: Any = cgutils
_pythonapi: Any = pythonapi


def _lend(kind: Any, generator: Any, c: Any) -> Any:
    """Unbox a Generator: as numba does where references are counted, else without counting one."""
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
    """Install `_lend` in this process; a second call changes nothing."""
    _pythonapi._unboxers.functions[types.NumPyRandomGeneratorType] = _lend
