"""The ids under which Gymnasium finds our worlds.

Since version 1.0 Gymnasium looks for no plugins: an id exists once the package that owns it was
imported. Importing fwrl should not cost the import of Gymnasium, so the ids are registered at once
where Gymnasium is already there, and otherwise at the moment it arrives. Without importing fwrl,
`gymnasium.make("fwrl:fwrl/FourRooms-v0")` imports it.
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
"""Every id and what `WorldEnv` is made with; `fwrl/Grid-v0` waits for `map=`."""

_REGISTRY_MODULE = "gymnasium.envs.registration"


def register() -> None:
    """Register every id of `IDS` that Gymnasium does not know yet.

    >>> import gymnasium
    >>> register()
    >>> gymnasium.spec("fwrl/FourRooms-v0").max_episode_steps
    400
    """
    import gymnasium.envs.registration

    _register_in(gymnasium.envs.registration)


def register_on_import() -> None:
    """Register now if Gymnasium was imported, else as soon as it is; never import it."""
    module = sys.modules.get(_REGISTRY_MODULE)
    if module is not None:
        _register_in(module)
    elif not any(isinstance(finder, _Arrival) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Arrival())


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


class _Arrival:
    """An import finder that lets Gymnasium's registry load as ever and then adds our ids to it."""

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
