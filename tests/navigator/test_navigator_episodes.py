"""Sources of episodes."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fwrl.errors import FileError, FwrlError
from fwrl.navigator.episodes import point_of, read_episodes
from fwrl.navigator.from_episodes import fit_navigator

RNG = np.random.default_rng(0)
WALKS = [(RNG.normal(size=(n + 1, 2)), RNG.normal(size=(n, 2))) for n in (3, 5)]
FLAT: dict[str, Any] = {
    "observations": np.concatenate([points for points, _ in WALKS]),
    "actions": np.concatenate([np.concatenate([actions, np.zeros((1, 2))]) for _, actions in WALKS]),
    "terminals": np.array([0, 0, 0, 1, 0, 0, 0, 0, 0, 1], bool),
}


def same(a, b):
    return all(x.tolist() == y.tolist() for x, y in zip(a, b, strict=True))


def test_pairs_mappings_objects_and_files_give_the_same_episodes(tmp_path):
    expected = read_episodes(WALKS)
    assert expected.first.tolist() == [0, 4, 10]
    np.savez(tmp_path / "walks.npz", **FLAT)
    minari = SimpleNamespace(iterate_episodes=lambda: (SimpleNamespace(observations=p, actions=a) for p, a in WALKS))
    for source in (
        FLAT,
        tmp_path / "walks.npz",
        str(tmp_path / "walks.npz"),
        [{"observations": p, "actions": a} for p, a in WALKS],
        minari,
    ):
        assert same(read_episodes(source), expected)


def test_several_files_follow_each_other(tmp_path):
    np.savez(tmp_path / "a.npz", **FLAT)
    np.savez(tmp_path / "b.npz", **FLAT)
    assert read_episodes([tmp_path / "a.npz", tmp_path / "b.npz"]).first.tolist() == [0, 4, 10, 14, 20]


def test_coordinates_are_picked_by_index_or_key():
    assert point_of([1.0, 2.0, 3.0], (2, 0)).tolist() == [3.0, 1.0]
    assert point_of({"achieved_goal": [1.0, 2.0]}, None).tolist() == [1.0, 2.0]
    assert point_of({"observation": [1.0, 2.0]}, "observation").tolist() == [1.0, 2.0]
    dicts = [({"achieved_goal": points, "observation": points}, actions) for points, actions in WALKS]
    assert same(read_episodes(dicts), read_episodes(WALKS))


def test_an_episode_without_its_end_is_read(tmp_path):
    cut = FLAT | {"terminals": np.zeros(10, bool)}
    assert read_episodes(cut).first.tolist() == [0, 10]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ([], "no episodes"),
        ("D4RL/pointmaze/umaze-v2", "load a Minari dataset first, with minari.load_dataset"),
        (3, "expected episodes"),
        ([3], "pair of observations and actions"),
        ([{"observations": [[0.0]]}], "needs both observations and actions"),
        ([(np.zeros((3, 2)), np.zeros((5, 2)))], "3 observations and 5 actions"),
        ([(np.full((3, 2), np.nan), np.zeros((2, 2)))], "row 0 of the observations is not finite"),
        ([(np.zeros((3, 2)), np.zeros((2, 2))), (np.zeros((3, 1)), np.zeros((2, 2)))], "must have the same width"),
        ([(np.zeros((3, 2, 2)), np.zeros((2, 2)))], "shape"),
        ([([["a", "b"]] * 3, np.zeros((2, 2)))], "coordinates as numbers.*convert labels first"),
        ([(np.zeros((3, 2)), [["up"], ["down"]])], "actions as numbers.*convert labels first"),
        ([({"observation": np.zeros((3, 2))}, np.zeros((2, 2)))], "no 'achieved_goal'"),
        ({"observations": np.zeros((3, 2))}, "no 'actions'"),
        (
            {"observations": np.zeros((3, 2)), "actions": np.zeros((2, 2)), "terminals": np.zeros(3)},
            "must have the same length",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(source, problem):
    with pytest.raises(FwrlError, match=problem):
        read_episodes(source)


def test_files_that_are_no_arrays_are_refused(tmp_path):
    with pytest.raises(FileError, match="cannot read"):
        read_episodes(tmp_path / "missing.npz")
    (tmp_path / "text.npz").write_text("text")
    with pytest.raises(FileError, match=r"isn't an [.]npz file"):
        read_episodes(tmp_path / "text.npz")
    np.savez(tmp_path / "objects.npz", **(FLAT | {"observations": np.array([object()] * 10)}))
    with pytest.raises(FileError, match=r"isn't an [.]npz file"):
        read_episodes(tmp_path / "objects.npz")


@pytest.mark.parametrize(
    ("walks", "options", "problem"),
    [
        ([(np.zeros((30, 2)), np.zeros((29, 2)))], {}, "don't move"),
        (WALKS, {"window": 8}, "more than 8 steps"),
        (WALKS, {"window": 0}, "at least one step"),
        (WALKS, {"prior": -1.0}, "prior and way_back of at least 0"),
        (WALKS, {"backup": "worst"}, "'expected' or 'best'"),
        (WALKS, {"actions": "both"}, "'headings' or 'raw'"),
        (WALKS, {"scale": [1.0]}, "one positive scale"),
    ],
)
def test_what_cannot_be_fitted_is_refused(walks, options, problem):
    with pytest.raises(FwrlError, match=problem):
        fit_navigator(walks, **options)


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        (WALKS, {"coordinates": [5]}, "expected coordinates from 0 to 1, the columns of an observation, got 5"),
        (WALKS, {"coordinates": [-3]}, "expected coordinates from 0 to 1, the columns of an observation, got -3"),
        (WALKS, {"coordinates": "xy"}, "the observations are arrays without keys such as 'xy'; give indices"),
        (WALKS, {"width": -1.0}, "expected a positive width of cells, got -1.0"),
        (WALKS, {"width": np.nan}, "expected a positive width of cells, got nan"),
        ({name: array[:0] for name, array in FLAT.items()}, {"width": 1.0}, "there are no rows"),
        ({name: array[:0] for name, array in FLAT.items()}, {}, "there are no rows"),
    ],
)
def test_what_cannot_be_fitted_is_refused_at_once(source, options, said):
    with pytest.raises(FwrlError, match=re.escape(said)):
        fit_navigator(source, **options)
