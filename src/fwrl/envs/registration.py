"""The ids of fwrl's environments in Gymnasium's registry.

Since version 1.0 Gymnasium loads no plugins: an id exists once its package has been imported. `import fwrl` doesn't
import Gymnasium. It registers the ids immediately if Gymnasium is already imported, otherwise as soon as it is.
`gymnasium.make("fwrl:fwrl/FourRooms-v0")` imports fwrl itself.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec

MAX_EPISODE_STEPS = 400

IDS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "fwrl/FourRooms-v0": {"world": "four-rooms"},
        "fwrl/WindyFourRooms-v0": {"world": "windy-four-rooms"},
        "fwrl/HMaze-v0": {"world": "h-maze"},
        "fwrl/MuddyRooms-v0": {"world": "muddy-rooms"},
        "fwrl/RiskyBridge-v0": {"world": "risky-bridge"},
        "fwrl/Grid-v0": {},
    }
)
"""Every id with the arguments of its `WorldEnv`; `fwrl/Grid-v0` requires `map=`."""

_REGISTRY_MODULE = "gymnasium.envs.registration"


def register() -> None:
    """Register every id of `IDS` that isn't registered yet.

    >>> import gymnasium
    >>> register()
    >>> gymnasium.spec("fwrl/FourRooms-v0").max_episode_steps
    400
    """
    import gymnasium.envs.registration

    _register_in(gymnasium.envs.registration)


def register_on_import() -> None:
    """Register now if Gymnasium has been imported, otherwise when it is. This never imports it."""
    module = sys.modules.get(_REGISTRY_MODULE)
    if module is not None:
        _register_in(module)
    elif not any(isinstance(finder, _RegisterAfterImport) for finder in sys.meta_path):
        sys.meta_path.insert(0, _RegisterAfterImport())


def _register_in(module: ModuleType) -> None:
    wrapper = module.WrapperSpec("GoalWrapper", "fwrl.envs.goal_wrapper:GoalWrapper", {})
    for name, kwargs in IDS.items():
        if name not in module.registry:
            module.register(
                name,
                entry_point="fwrl.envs.world_env:WorldEnv",
                max_episode_steps=MAX_EPISODE_STEPS,
                additional_wrappers=(wrapper,),
                kwargs=dict(kwargs),
            )


class _RegisterAfterImport:
    """An import finder that registers the ids once Gymnasium's registry is loaded."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != _REGISTRY_MODULE:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in others)), None)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_register(module: ModuleType) -> None:
                load(module)
                _register_in(module)
                if self in sys.meta_path:
                    sys.meta_path.remove(self)

            spec.loader.exec_module = load_and_register  # type: ignore[method-assign]
        return spec
