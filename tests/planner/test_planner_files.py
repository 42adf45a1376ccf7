"""Saved planners load as they were saved; damaged or forged files are refused, or cannot do harm."""

from __future__ import annotations

import contextlib
import os
from typing import Any

import numpy as np
import pytest

import fwrl
from fwrl.errors import FileError, FwrlError
from fwrl.files import open_archive, write_archive
from fwrl.planner import Planner

TRIPS = [
    ("a", "l", -1.0, "b", "t1", 5),
    ("b", "r", -2.0, "c", "t1", 6),
    ("b", "r", -4.0, "d", "t2", 9),
    ("d", "l", -1.0, "c", "t2", 10),
    ("c", "l", -1.0, "a", "t3", 1),
]
WILD = [-(2**63), -(2**31), -100, -2, -1, 0, 1, 2, 3, 4, 5, 6, 100, 2**31 - 1, 2**62]


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "trips.fwrl"
    fwrl.fit(TRIPS).save(path)
    return path


def test_a_loaded_planner_answers_like_the_one_saved(saved):
    planner, loaded = fwrl.fit(TRIPS), fwrl.load(saved)
    assert isinstance(loaded, Planner)
    assert loaded.summary == planner.summary
    assert loaded.edges().equals(planner.edges())
    for s in "abcd":
        for g in "abcd":
            assert loaded.explain(s, g) == planner.explain(s, g)


def test_a_planner_is_no_agent_and_an_agent_no_planner(saved, tmp_path):
    from fwrl.agents import Agent, load

    with pytest.raises(FileError, match="not an agent"):
        load(saved)
    fwrl.make_agent("fwrl", 3, 2).save(tmp_path / "agent.fwrl")
    with pytest.raises(FileError, match=r"contains a saved 'agent', not a planner; make one with fwrl fit"):
        Planner.load(tmp_path / "agent.fwrl")
    agent = fwrl.load(tmp_path / "agent.fwrl")
    assert isinstance(agent, Agent)
    assert agent.n_states == 3


def test_a_crash_while_saving_leaves_the_old_file(saved, monkeypatch):
    before = saved.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="No space left"):
        fwrl.fit([("x", "y")]).save(saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def use(path):
    """Load, plan, explain and check; False if the file was refused."""
    try:
        planner = Planner.load(path)
    except FileError:
        return False
    assert repr(planner).startswith("<planner, ")
    names = list(planner.states)
    for s in names[:4]:
        for g in names[:4]:
            for backup in ("expected", "best"):
                with contextlib.suppress(FwrlError):  # rewards may be forged as well
                    planner.explain(s, g, backup=backup).to_dict()
                    planner.alternatives(s, g, 3)
    with contextlib.suppress(FwrlError):  # evidence is read here first, and may lack its actions
        planner.edges()
        fwrl.fit(TRIPS, into=planner)
    try:
        planner.check()
    except FileError:
        return False
    return True


def damaged(whole, rng):
    """The bytes of a file after random damage."""
    kind = rng.integers(4)
    data = bytearray(whole)
    if kind == 0:
        return bytes(data[: rng.integers(len(data))])
    if kind == 1:
        for _ in range(rng.integers(1, 6)):
            data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
        return bytes(data)
    if kind == 2:
        begin = int(rng.integers(len(data)))
        data[begin : begin + 40] = rng.bytes(int(rng.integers(0, 80)))
        return bytes(data)
    return rng.bytes(int(rng.integers(0, 300)))


def forged(details, arrays, rng):
    """Right checksums and random content."""
    key = sorted(arrays)[rng.integers(len(arrays))]
    array = arrays[key].copy()
    if rng.random() < 0.15:
        return details, {name: a for name, a in arrays.items() if name != key}
    if rng.random() < 0.2:
        return forged_details(details, rng), arrays
    if array.size == 0 or rng.random() < 0.3:
        array = np.resize(array, rng.integers(0, 9, array.ndim))
    if array.size:
        some = rng.random(array.shape) < rng.choice([0.1, 0.5, 1.0])
        wild = [np.nan, np.inf, -np.inf, 0.0, 1e308, 3.0] if array.dtype.kind == "f" else WILD
        info = None if array.dtype.kind == "f" else np.iinfo(array.dtype)
        chosen = np.array([w for w in wild if info is None or info.min <= w <= info.max], array.dtype)
        array[some] = rng.choice(chosen, int(some.sum()))
    return details, arrays | {key: array}


def forged_details(details, rng):
    if rng.random() < 0.3:
        return details | {"time": "yesterday"} if rng.random() < 0.5 else {"summary": 3}
    field = str(rng.choice(sorted(details["summary"])))
    wild: list[object] = ["abc", None, True, -1, 1.5, 10**30, [1], {}]
    return details | {"summary": details["summary"] | {field: wild[rng.integers(len(wild))]}}


def fuzz(saved, count):
    whole = saved.read_bytes()
    archive = open_archive(saved)
    details, arrays = dict(archive.details), {name: archive[name].copy() for name in archive.names}
    rng = np.random.default_rng(5)
    refused = 0
    for k in range(count):
        if k % 2:
            saved.write_bytes(damaged(whole, rng))
        else:
            write_archive(saved, "planner", *forged(details, arrays, rng))
        refused += not use(saved)
    return refused


def test_malformed_files_are_refused_or_harmless(saved):
    assert fuzz(saved, 60) > 40


@pytest.mark.stress
def test_ten_thousand_malformed_files_are_refused_or_harmless(saved):
    assert fuzz(saved, 10_000) > 7_000


FORGED = [
    ("source", 0, 9),
    ("source", slice(None), 0),
    ("target", 0, -1),
    ("target", 0, 4),
    ("action", 0, 7),
    ("count", 0, 0),
    ("count", 0, -1),
    ("total", 0, np.nan),
    ("best", 0, np.inf),
    ("trip", (0, 0), 99),
    ("sample", 0, 50),
    ("states.offset", 1, 99),
    ("states.text", 0, 255),
]


@pytest.mark.parametrize(("key", "where", "what"), FORGED, ids=[f"{k}={v}" for k, _, v in FORGED])
def test_inconsistent_content_is_refused(saved, key, where, what):
    archive = open_archive(saved)
    details, arrays = dict(archive.details), {name: archive[name].copy() for name in archive.names}
    arrays[key][where] = what
    write_archive(saved, "planner", details, arrays)
    with pytest.raises(FileError, match="isn't a valid planner file"):
        Planner.load(saved).check()


@pytest.mark.parametrize("what", ["abc", None, True, -1, 1.5, 10**30])
def test_a_summary_that_is_no_summary_is_refused(saved, what):
    archive = open_archive(saved)
    details, arrays = dict(archive.details), {name: archive[name].copy() for name in archive.names}
    write_archive(saved, "planner", details | {"summary": details["summary"] | {"transitions": what}}, arrays)
    with pytest.raises(FileError, match="isn't a valid planner file: expected a summary of whole numbers"):
        fwrl.load(saved)


def test_a_label_cut_inside_a_character_is_refused(tmp_path):
    saved = tmp_path / "trips.fwrl"
    fwrl.fit([("a", "ä"), ("ä", "b")]).save(saved)
    archive = open_archive(saved)
    arrays = {name: archive[name].copy() for name in archive.names}
    assert arrays["states.offset"].tolist() == [0, 1, 2, 4]
    arrays["states.offset"][2] = 3
    write_archive(saved, "planner", dict(archive.details), arrays)
    with pytest.raises(FileError, match="distinct names in order"):
        fwrl.load(saved)


EVIDENCE = ("last", "trip", "trip_time", "sample", "joined", "trips.text", "trips.offset")


@pytest.mark.parametrize("name", EVIDENCE)
def test_evidence_is_read_on_first_use(saved, name):
    archive = open_archive(saved)
    whole = bytearray(saved.read_bytes())
    whole[archive._sections[name]["offset"]] ^= 1
    saved.write_bytes(bytes(whole))
    planner = Planner.load(saved)
    assert planner.plan("a", "c").states == ("a", "b", "c")
    with pytest.raises(FileError, match=f"the checksum of '{name}' doesn't match"):
        planner.explain("a", "c")


UNSOUND: list[tuple[str, Any, str]] = [
    ("aging", {"half_life": -1.0, "newest": 3}, "a sound half-life"),
    ("aging", {"half_life": 1.0, "newest": None}, "a sound half-life"),
    ("aging", None, "a half-life where there are weights"),
    ("cells", {"kind": "square", "width": 0.0}, "positive width"),
    ("cells", {"kind": "heptagon"}, "unknown kind of cells"),
    ("cells", None, "positions where states are cells"),
    ("weight", np.array([-1.0, 1.0]), "a positive weight"),
    ("weight", np.array([1.0]), "a positive weight"),
    ("position", np.full((3, 2), np.nan), "a position for each state"),
    ("position", np.zeros((2, 2)), "a position for each state"),
]


@pytest.mark.parametrize(("name", "forged", "said"), UNSOUND)
def test_forged_weights_and_cells_are_refused(tmp_path, name, forged, said):
    path = tmp_path / "points.fwrl"
    points = {"trip": [1, 1, 1], "time": [0, 5, 9], "x": [0.5, 1.5, 2.5], "y": [0.5, 0.5, 0.5]}
    fwrl.fit(points, cells=("x", "y"), cell_width=1.0, half_life=4).save(path)
    assert use(path)
    archive = open_archive(path)
    arrays, details = {each: np.array(archive[each]) for each in archive.names}, dict(archive.details)
    if isinstance(forged, np.ndarray):
        arrays[name] = forged
    elif forged is None:
        del details[name]
    else:
        details[name] = forged
    write_archive(path, archive.kind, details, arrays)
    with pytest.raises(FileError, match=said):
        Planner.load(path)
