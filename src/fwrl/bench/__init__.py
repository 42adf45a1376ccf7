"""Speed, as ratios measured in one run: absolute times mean little on a shared machine."""

from fwrl.bench.measure import Measurement
from fwrl.bench.suite import SUITE, run_suite

__all__ = ["SUITE", "Measurement", "run_suite"]
