"""Gymnasium environments over worlds.

`import fwrl` imports this package, so Gymnasium is imported only when an environment is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fwrl.envs.registration import register, register_on_import

if TYPE_CHECKING:
    from fwrl.envs.world_env import WorldEnv

__all__ = ["WorldEnv", "register", "register_on_import"]


def __getattr__(name: str) -> Any:
    if name == "WorldEnv":
        from fwrl.envs.world_env import WorldEnv

        return WorldEnv
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
