"""Forged files: right checksums and random content. Compiled code checks no index, so loading has to.

An agent from a file that loads must not crash the process: a segmentation fault would end the test run.
"""

from __future__ import annotations

import numpy as np
import pytest

import fwrl
from fwrl.agents import agent_names, load
from fwrl.errors import FileError, FwrlError, PositiveCycleError
from fwrl.files import open_archive, write_archive

VARIANTS = [
    *((name, {}) for name in agent_names()),
    ("fwrl", {"relaxation": "paper"}),
    ("fwrl", {"storage": "columns"}),
    ("fwrl", {"objective": "rate", "explorer": "optimistic"}),
    ("fwrl", {"objective": "rate", "backup": "expected"}),
]
every_agent = pytest.mark.parametrize(
    ("name", "options"), VARIANTS, ids=["-".join([n, *map(str, o.values())]) for n, o in VARIANTS]
)
WILD = [-(2**63), -(2**31), -100, -2, -1, 0, 1, 2, 5, 27, 28, 29, 10**6, 2**31, 2**62]


@pytest.fixture
def saved(tmp_path):
    """Saves an agent that has learned in the H-maze; gives path, details and arrays."""

    def save(name, options):
        world = fwrl.load_world("h-maze", step_reward=-1.0)
        agent = fwrl.make_agent(name, 7, 4, **options)
        fwrl.run(world, agent, episodes=2, steps=40)
        path = tmp_path / "a.fwrl"
        agent.save(path)
        archive = open_archive(path)
        return path, dict(archive.details), {key: archive[key].copy() for key in archive.names}

    return save


def use(path):
    """Load and use the agent; False if the file was refused."""
    try:
        agent = load(path)
    except FileError:
        return False
    rng = np.random.default_rng(0)
    try:
        for _ in range(3):
            s = int(rng.integers(7))
            if agent.goal is not None:
                agent.act(s)
            agent.action_values(s, 3), agent.value(s, 2), agent.greedy(s, 6)
            agent.observe(s, int(rng.integers(4)), -1.0, int(rng.integers(7)))
        agent.begin_episode(4)
        agent.observe_many([0, 1], [2, 2], [-1.0, -1.0], [1, 0])
        agent.act(5)
    except PositiveCycleError:
        pass  # rewards may be forged as well
    except FwrlError as error:
        if "too large to plan with" not in str(error):
            raise
    return True


def wild_ints(array, rng):
    forged = array.copy()
    if forged.size == 0 or rng.random() < 0.3:
        return rng.choice(WILD, rng.integers(0, 40, array.ndim) if rng.random() < 0.5 else array.shape)
    some = rng.random(forged.shape) < rng.choice([0.05, 0.5, 1.0])
    forged[some] = rng.choice(WILD if rng.random() < 0.5 else np.arange(-2, 30), int(some.sum()))
    return forged


def wild_floats(array, rng):
    forged = array.copy()
    if rng.random() < 0.3:
        return rng.standard_normal(rng.integers(0, 40, array.ndim))
    some = rng.random(forged.shape) < rng.choice([0.05, 0.5, 1.0])
    forged[some] = rng.choice([np.nan, np.inf, -np.inf, 0.0, 1.0, -1.0, 1e308, -1e308], int(some.sum()))
    return forged


def mutated(arrays, rng):
    key = sorted(arrays)[rng.integers(len(arrays))]
    wild = wild_ints if arrays[key].dtype.kind == "i" else wild_floats
    return arrays | {key: np.asarray(wild(arrays[key], rng)).astype(arrays[key].dtype)}


def fuzz(saved, name, options, count):
    path, details, arrays = saved(name, options)
    rng = np.random.default_rng(7)
    refused = 0
    for _ in range(count):
        write_archive(path, "agent", details, mutated(arrays, rng))
        refused += not use(path)
    return refused


@every_agent
def test_wild_tables_are_refused_or_harmless(saved, name, options):
    assert fuzz(saved, name, options, 45) > 0


@pytest.mark.stress
@every_agent
def test_wild_tables_are_refused_or_harmless_ten_thousand_times(saved, name, options):
    assert fuzz(saved, name, options, 10_000 // len(VARIANTS)) > 0


EDGES = [
    ("edges/target", 0, 7),
    ("edges/target", 0, -1),
    ("edges/pair", 0, 28),
    ("edges/leaving", 0, 10**6),
    ("edges/entering", 0, -2),
    ("edges/next-leaving", 0, 0),  # a list that loops
    ("edges/next-entering", 1, 1),
    ("edges/next-entering", 0, 3),
    ("edges/used", 0, -1),
    ("edges/used", 0, 10**9),
    ("edges/times", 0, 0),
    ("edges/times", 0, -5),
    ("edges/total", 0, np.nan),
    ("edges/best", 0, np.inf),
    ("edges/leaving", slice(None), 0),  # in range, and another pair's
]


@pytest.mark.parametrize("name", ["fwrl", "mbrl", "mbrl-straight"])
@pytest.mark.parametrize(("key", "where", "what"), EDGES)
def test_inconsistent_edges_are_refused(saved, name, key, where, what):
    path, details, arrays = saved(name, {})
    arrays[key][where] = what
    write_archive(path, "agent", details, arrays)
    with pytest.raises(FileError, match=f"is not a valid '{name}' agent file"):
        fwrl.load(path)


def test_marks_other_than_0_and_1_are_refused(saved):
    path, details, arrays = saved("mbrl", {})
    arrays["terminated"][2] = 7
    write_archive(path, "agent", details, arrays)
    with pytest.raises(FileError, match="is not a valid 'mbrl' agent file"):
        fwrl.load(path)


@every_agent
@pytest.mark.parametrize(
    "episode", [[7, 0, 400, 1], [-2, 0, 400, 1], [0, -1, 400, 1], [0, 0, 0, 1], [0, 0, 9, 2], [0, 0, 9]]
)
def test_an_impossible_episode_is_refused(saved, name, options, episode):
    path, details, arrays = saved(name, options)
    write_archive(path, "agent", details, arrays | {"episode": np.array(episode)})
    with pytest.raises(FileError, match=f"is not a valid '{name}' agent file"):
        fwrl.load(path)


def test_a_goal_without_a_table_is_refused(saved):
    path, details, arrays = saved("qlcat", {})
    other = int(np.flatnonzero(arrays["slot"] < 0)[0])
    arrays["episode"][0] = other
    write_archive(path, "agent", details, arrays)
    with pytest.raises(FileError, match="valid 'qlcat' agent"):
        fwrl.load(path)


@every_agent
@pytest.mark.parametrize(
    "wrong",
    [
        {"n_states": 8},
        {"n_states": 6},
        {"n_actions": 3},
        {"n_states": 0},
        {"n_states": -7},
        {"n_states": 7.0},
        {"n_states": "7"},
        {"n_states": True},
        {"n_states": 10**9},
        {"n_states": 10**30, "n_actions": 10**30},
        {"config": {"no such": 1}},
        {"config": [1]},
        {"config": None},
        {"generator": {}},
        {"generator": None},
        {"generator": {"bit_generator": "MT19937", "state": {}}},
    ],
    ids=str,
)
def test_details_that_do_not_fit_the_tables_are_refused(saved, name, options, wrong):
    path, details, arrays = saved(name, options)
    if name == "random" and wrong in ({"n_states": 8}, {"n_states": 6}, {"n_actions": 3}):
        pytest.skip("its tables have no size")
    write_archive(path, "agent", details | wrong, arrays)
    with pytest.raises(FileError, match=f"is not a valid '{name}' agent file"):
        fwrl.load(path)


@every_agent
def test_a_file_without_one_of_its_tables_or_details_is_refused(saved, name, options):
    path, details, arrays = saved(name, options)
    for key in arrays:
        write_archive(path, "agent", details, {k: v for k, v in arrays.items() if k != key})
        with pytest.raises(FileError, match="not a valid"):
            fwrl.load(path)
    for key in details.keys() - {"name"}:
        write_archive(path, "agent", {k: v for k, v in details.items() if k != key}, arrays)
        with pytest.raises(FileError, match="not a valid"):
            fwrl.load(path)


@every_agent
def test_tables_of_another_type_are_refused(saved, name, options):
    path, details, arrays = saved(name, options)
    for key, array in arrays.items():
        for other in (np.zeros(array.shape, np.float32), np.zeros(array.shape, np.uint8), array[None]):
            write_archive(path, "agent", details, arrays | {key: other})
            with pytest.raises(FileError, match="not a valid"):
                fwrl.load(path)


def test_an_agent_that_is_not_installed_is_named(saved):
    path, details, arrays = saved("ql", {})
    for name in ("sarsa", None, 7, "os:system", ["fwrl"]):
        write_archive(path, "agent", details | {"name": name}, arrays)
        with pytest.raises(FileError, match="holds an agent that isn't installed"):
            fwrl.load(path)
