"""Benchmarks as ratios measured in one run: absolute times depend on the computer and its load."""

from fwrl.bench.measure import Measurement
from fwrl.bench.suite import SUITE, run_suite

__all__ = ["SUITE", "Measurement", "run_suite"]
