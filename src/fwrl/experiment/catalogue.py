"""The experiments of the paper.

Constants that the paper doesn't state (rewards, epsilon schedule, learning rates, H-maze) come from the authors' public
logs and settings. Like theirs, our Q-learners use a learning rate of 1 even in wind; 0.5 would average over outcomes,
but earns less here. The paper's wind has three readings (see `fwrl.worlds.grid`), which `WIND_READINGS` compares.
"""

from __future__ import annotations

from collections.abc import Sequence

from fwrl.errors import unknown_name
from fwrl.experiment.spec import ORACLE, AgentSpec, Experiment, Stage

FWRL = AgentSpec("FWRL (Algorithm 1)", "fwrl", {"relaxation": "paper"})
FWRL_EXACT = AgentSpec("FWRL (exact)", "fwrl")
FEWEST_STEPS = AgentSpec("FWRL (fewest steps)", "fwrl", {"objective": "steps"})
MBRL = AgentSpec("MBRL", "mbrl")
MBRL_STRAIGHT = AgentSpec("MBRL (straight lines)", "mbrl-straight")
RANDOM = AgentSpec("random", "random")
PLAYER = AgentSpec("oracle", ORACLE)


QL, QLCAT = AgentSpec("QL", "ql", {"learning_rate": 1.0}), AgentSpec("QLCAT", "qlcat", {"learning_rate": 1.0})
SLOWER = AgentSpec("QLCAT (learning rate 0.5)", "qlcat", {"learning_rate": 0.5})
ALL = (QL, QLCAT, MBRL_STRAIGHT, MBRL, FWRL, FWRL_EXACT, RANDOM, PLAYER)

FOUR_ROOMS = Experiment("four-rooms-50x400", "Four rooms", "four-rooms", ALL, episodes=50, steps=400)
WINDY = Experiment(
    "windy-four-rooms-50x400",
    "Windy four rooms",
    "windy-four-rooms",
    (*ALL, SLOWER),
    episodes=50,
    steps=400,
    audit=(FWRL.label, FWRL_EXACT.label, MBRL.label),
)
FOUR_ROOMS_LONG = Experiment(
    "four-rooms-20x1000",
    "Four rooms, 20 x 1000",
    "four-rooms",
    ALL,
    episodes=20,
    steps=1000,
    visits=True,
)
WINDY_LONG = Experiment(
    "windy-four-rooms-20x1000",
    "Windy four rooms, 20 x 1000",
    "windy-four-rooms",
    ALL,
    episodes=20,
    steps=1000,
    visits=True,
)
H_MAZE = Experiment(
    "h-maze",
    "H-maze",
    "h-maze",
    (QLCAT, FWRL, FWRL_EXACT),
    stages=(
        Stage((0, 0), (2, 2), 400),
        Stage((0, 2), (2, 0), 400),
        Stage((0, 2), (2, 2), 40, learn=False, explore=False),
    ),
)
VISUAL_ABSTRACT = Experiment(
    "visual-abstract",
    "Two trips that share a state, and a third",
    "four-rooms",
    (FWRL_EXACT,),
    stages=(
        Stage((1, 1), (9, 3), 40, walker="oracle"),
        Stage((2, 9), (4, 1), 40, walker="oracle"),
        Stage((2, 9), (9, 3), 40, learn=False, explore=False),
    ),
)
MUDDY = Experiment(
    "muddy-rooms-50x400",
    "Muddy rooms",
    "muddy-rooms",
    (FWRL_EXACT, FEWEST_STEPS, PLAYER),
    episodes=50,
    steps=400,
    audit=(FWRL_EXACT.label, FEWEST_STEPS.label),
)

WIND_READINGS = (
    WINDY,
    *(
        Experiment(
            f"windy-four-rooms-{reading}-50x400",
            f"Windy four rooms, gusts {reading}",
            f"windy-four-rooms-{reading}",
            (MBRL, FWRL),
            episodes=50,
            steps=400,
        )
        for reading in ("replaced", "summed")
    ),
)

EXPERIMENTS = (FOUR_ROOMS, *WIND_READINGS, FOUR_ROOMS_LONG, WINDY_LONG, H_MAZE, VISUAL_ABSTRACT, MUDDY)


def chosen(ids: Sequence[str] | None = None) -> tuple[Experiment, ...]:
    """The experiments with the given ids, in the catalogue's order.

    Args:
        ids: Ids of experiments; None or an empty list means all.

    Raises:
        UnknownNameError: There's no such id; the message suggests close matches.

    >>> [experiment.id for experiment in chosen(["h-maze"])]
    ['h-maze']
    """
    if not ids:
        return EXPERIMENTS
    known = [experiment.id for experiment in EXPERIMENTS]
    for name in ids:
        if name not in known:
            raise unknown_name("experiment", name, known)
    return tuple(experiment for experiment in EXPERIMENTS if experiment.id in ids)
