"""Gymnasium environments for worlds, and a wrapper that turns other discrete environments into goal environments.

`import fwrl` imports this package, so Gymnasium itself is imported only when you make an environment.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from fwrl.envs.registration import register, register_on_import

if TYPE_CHECKING:
    from fwrl.envs.numbered_env import NumberedEnv, wrap
    from fwrl.envs.world_env import WorldEnv

_HOME = {
    "NumberedEnv": "fwrl.envs.numbered_env",
    "WorldEnv": "fwrl.envs.world_env",
    "wrap": "fwrl.envs.numbered_env",
}

__all__ = ["NumberedEnv", "WorldEnv", "register", "register_on_import", "wrap"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
