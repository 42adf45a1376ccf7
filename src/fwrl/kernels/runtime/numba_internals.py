"""What this project uses of numba beyond its documented interface, in one place, and what works without it.

Kernels allocate no memory, so arrays need no reference counts: the option `_nrt` leaves them out, and `forceinline`
inlines every call. Numba increments the reference count of a Generator on the way in all the same, and nothing would
decrement it: the generators of every episode would stay in memory. The caller holds a reference during the call, so
none needs to be counted; an unboxer of our own lends the generator.

Where a version of numba lacks any of this, or FWRL_PUBLIC_NUMBA=1 is in the environment, kernels are compiled with
documented options alone: with the same results, and slower by the reference counts.
"""

from __future__ import annotations

import os
from typing import Any

from numba.core import boxing, cgutils, cpu, pythonapi, types

FORCED = "FWRL_PUBLIC_NUMBA"  # environment variable: do without

# Numba's own code generation is untyped.
_boxing: Any = boxing
_cgutils: Any = cgutils
_pythonapi: Any = pythonapi
_types: Any = types


def missing() -> list[str]:
    """The internals that this numba lacks, by name."""
    found = {
        "numba.core.boxing.unbox_numpy_random_generator": hasattr(_boxing, "unbox_numpy_random_generator"),
        "numba.core.boxing._bit_gen_type": hasattr(_boxing, "_bit_gen_type"),
        "numba.core.cgutils.create_struct_proxy": hasattr(_cgutils, "create_struct_proxy"),
        "numba.core.cgutils.get_null_value": hasattr(_cgutils, "get_null_value"),
        "numba.core.pythonapi.NativeValue": hasattr(_pythonapi, "NativeValue"),
        "numba.core.pythonapi._unboxers": hasattr(getattr(_pythonapi, "_unboxers", None), "functions"),
        "numba.core.types.NumPyRandomGeneratorType": hasattr(_types, "NumPyRandomGeneratorType"),
        "the options _nrt and forceinline of numba.njit": _accepted("_nrt", "forceinline"),
    }
    return [name for name, there in found.items() if not there]


def options() -> dict[str, Any]:
    """The options that kernels are compiled with."""
    return {"_nrt": False, "forceinline": True} if usable() else {}


def usable() -> bool:
    """Whether the internals are there and not forbidden."""
    return not os.environ.get(FORCED) and not missing()


def lend_generators() -> None:
    """Pass generators to kernels without counting a reference; a second call changes nothing."""
    if usable():
        _pythonapi._unboxers.functions[_types.NumPyRandomGeneratorType] = _lend


def _accepted(*names: str) -> bool:
    """Whether numba knows options of these names."""
    known: Any = getattr(cpu, "CPUTargetOptions", None)
    return all(hasattr(known, name) for name in names)


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
