"""Cast: every agent there is, and FWRL's options beyond the paper."""

import pytest

from fwrl.agents import agent_names
from fwrl.errors import UnknownNameError
from fwrl.play.cast import cast, cast_agent


def test_every_agent_there_is_may_take_a_side():
    assert set(agent_names()) <= set(cast())
    assert all(cast().values())


@pytest.mark.parametrize(
    ("name", "backup", "explorer"),
    [
        ("fwrl", "best", "epsilon-greedy"),
        ("fwrl-expected", "expected", "epsilon-greedy"),
        ("fwrl-optimistic", "best", "optimistic"),
        ("fwrl-beyond", "expected", "optimistic"),
    ],
)
def test_fwrl_comes_with_its_options_beyond_the_paper(name, backup, explorer):
    config = cast_agent(name, 3, 2, seed=0).config
    assert (config.backup, config.explorer) == (backup, explorer)


def test_others_are_refused_with_close_matches():
    with pytest.raises(UnknownNameError, match="did you mean 'fwrl-expected'"):
        cast_agent("fwrl-expcted", 3, 2, seed=0)
