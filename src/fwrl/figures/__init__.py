"""Pictures of finished results: arrays in, a matplotlib `Figure` out, files by `save`.

Nothing here computes a metric or reads the store. This package alone imports matplotlib, so import it only where
pictures are drawn.
"""

from fwrl.figures.belief import Belief, belief
from fwrl.figures.canvas import Saved, save
from fwrl.figures.h_maze import Panel, h_maze
from fwrl.figures.h_maze_animation import Frame, Scene, h_maze_animation
from fwrl.figures.intuition import intuition
from fwrl.figures.palette import Look, table_of_colours
from fwrl.figures.results import results
from fwrl.figures.reward_curves import Curve, reward_curves
from fwrl.figures.world_map import world_map

__all__ = [
    "Belief",
    "Curve",
    "Frame",
    "Look",
    "Panel",
    "Saved",
    "Scene",
    "belief",
    "h_maze",
    "h_maze_animation",
    "intuition",
    "results",
    "reward_curves",
    "save",
    "table_of_colours",
    "world_map",
]
