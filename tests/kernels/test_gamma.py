"""Gamma variates have the gamma distribution."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fwrl.kernels.rng import gamma, normal

DRAWS = 20_000
CHANCE = (
    1e-4  # that a right sampler fails; a bias of 2 % in the distribution function fails surely with this many draws
)


@pytest.mark.parametrize("shape", [1.0, 2.0, 7.0, 1000.0])
def test_gamma_variates(shape: float) -> None:
    rng = np.random.default_rng(int(shape))
    drawn = [gamma(shape, rng) for _ in range(DRAWS)]
    assert stats.kstest(drawn, stats.gamma(shape).cdf).pvalue > CHANCE


def test_normal_variates() -> None:
    rng = np.random.default_rng(0)
    drawn = [normal(rng) for _ in range(DRAWS)]
    assert stats.kstest(drawn, stats.norm.cdf).pvalue > CHANCE
