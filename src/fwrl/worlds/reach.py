"""Reachability: which states reach each other.

Two states are in the same region if each reaches the other (strongly connected components). A map may have rooms
without doors, and a table may have states you can't return from, so not every pair of states makes a trip.
"""

from __future__ import annotations

import numpy as np

from fwrl.worlds.world import World

SHOWN = 5  # regions listed, largest first


def describe_reach(world: World) -> str:
    """Describe in one paragraph which states reach each other.

    Returns:
        The number of regions, the largest of them, and an example of unreachable states.

    >>> from fwrl.worlds import load_world
    >>> describe_reach(load_world("four-rooms"))
    'all 68 states reach each other'
    >>> from fwrl.worlds.grid import from_map
    >>> for part in describe_reach(from_map("..#.")).split("; "):
    ...     print(part)
    2 regions that don't all reach each other: 2 states around (0, 0), 1 state around (3, 0)
    from (0, 0) 1 of 3 states is out of reach
    """
    sizes = np.bincount(world.regions)
    if len(sizes) == 1:
        return f"all {world.n_states} states reach each other" if sizes[0] > 1 else "the only state"
    members = np.unique(world.regions, return_index=True)[1]
    largest = np.argsort(-sizes, kind="stable")
    named = [
        f"{sizes[r]} state{'s' if sizes[r] > 1 else ''} around {world.label(int(members[r]))}" for r in largest[:SHOWN]
    ]
    if len(sizes) > SHOWN:
        named.append(f"and {len(sizes) - SHOWN} smaller ones")
    example = int(members[largest[0]])
    lost = len(world.out_of_reach(example))
    return (
        f"{len(sizes)} regions that don't all reach each other: {', '.join(named)}; "
        f"from {world.label(example)} {lost} of {world.n_states} states "
        f"{'is' if lost == 1 else 'are'} out of reach"
    )
