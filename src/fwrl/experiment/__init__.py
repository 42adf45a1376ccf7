"""Experiments: frozen specs, the runner, and the store of results."""

from fwrl.experiment.catalogue import EXPERIMENTS, chosen
from fwrl.experiment.runner import Progress, run_experiments
from fwrl.experiment.spec import AgentSpec, Experiment, Stage
from fwrl.experiment.store import Store

__all__ = [
    "EXPERIMENTS",
    "AgentSpec",
    "Experiment",
    "Progress",
    "Stage",
    "Store",
    "chosen",
    "run_experiments",
]
