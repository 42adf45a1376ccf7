"""Figures of finished results: arrays and metrics in, a matplotlib `Figure` out, files by `save`.

No metric is computed here and no store is read. Only this package imports matplotlib.
"""

from fwrl.figures.comparison import comparison_scores
from fwrl.figures.forest import forest
from fwrl.figures.h_maze import Panel, h_maze
from fwrl.figures.intuition import intuition
from fwrl.figures.palette import Look, table_of_colours
from fwrl.figures.prediction import PredictionRow, prediction
from fwrl.figures.results import results
from fwrl.figures.reward_curves import RewardCurve, reward_curves
from fwrl.figures.strip_plot import Strip
from fwrl.figures.style import Figure, Saved, save
from fwrl.figures.world_map import world_map

__all__ = [
    "Figure",
    "Look",
    "Panel",
    "PredictionRow",
    "RewardCurve",
    "Saved",
    "Strip",
    "comparison_scores",
    "forest",
    "h_maze",
    "intuition",
    "prediction",
    "results",
    "reward_curves",
    "save",
    "table_of_colours",
    "world_map",
]
