"""Merges experiences: what one fit of all their logs gives.

Everything kept of an edge can be merged: counts and sums are added, the best reward and the latest trips compared. The
result depends neither on the order of the experiences nor on how they are grouped, except for the rounding of sums. The
steps, each a module:

1. `agreement`: the experiences have the same columns and cells, and times and ages are brought to one unit.
2. `continuations`: trips of logs of visits that go on in another log, and the moves that join their parts.
3. `unions`: the labels of all, and the codes that those of each have among them.
4. `edges`: the edges of all.
5. `evidence`: the latest trips of each edge, and which pairs of states single trips connect.
6. `experiences`: all of these together.
"""

from fwrl.planner.merging.continuations import OverlapError
from fwrl.planner.merging.experiences import merged

__all__ = ["OverlapError", "merged"]
