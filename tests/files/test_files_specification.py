"""A saved file read by docs/reference/format.md alone: struct, json, hashlib and numpy, nothing of fwrl."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fwrl.files import archive
from fwrl.kernels.edges import EDGES as USED

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "format.md").read_text(encoding="utf-8")
SAMPLES = sorted(Path(__file__).with_name("samples").glob("*.fwrl"))


def read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the arrays of a file, checked as the page says."""
    data = path.read_bytes()
    assert data[0:8] == bytes.fromhex("89 66 77 72 6c 0d 0a 1a")
    version, n = struct.unpack("<II", data[8:16])
    text = data[48 : 48 + n]
    assert version == 1
    assert hashlib.sha256(text).digest() == data[16:48]
    header = json.loads(text.decode("utf-8"))
    assert set(header) == {"version", "kind", "details", "sections"}
    assert header["version"] == version
    b = -(-(48 + n) // 64) * 64
    arrays, end = {}, b
    for section in header["sections"]:
        assert set(section) == {"name", "dtype", "shape", "offset", "sha256"}
        assert section["dtype"] in ("<f8", "<f4", "<i8", "<i4", "<u4", "|i1", "|u1", "|b1")
        assert section["offset"] % 64 == 0
        begin = b + section["offset"]
        assert begin >= end
        assert not any(data[end:begin])
        end = begin + int(np.prod(section["shape"], dtype=int)) * int(section["dtype"][2:])
        raw = data[begin:end]
        assert hashlib.sha256(raw).hexdigest() == section["sha256"]
        arrays[section["name"]] = np.frombuffer(raw, section["dtype"]).reshape(section["shape"])
    assert end == len(data)
    return header, arrays


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_sample_is_as_the_page_says(path):
    header, arrays = read(path)
    assert header["kind"] in ("agent", "planner", "navigator")
    if header["kind"] == "agent":
        assert set(header["details"]) == {"name", "n_states", "n_actions", "config", "generator"}
        assert arrays["episode"].shape == (4,)


def test_the_values_of_an_agent_are_the_best_paths_over_its_edges():
    header, arrays = read(next(path for path in SAMPLES if path.stem == "fwrl"))
    S, A, V = header["details"]["n_states"], header["details"]["n_actions"], np.full((6, 6), -np.inf)
    assert (S, A) == (6, 2)
    np.fill_diagonal(V, 0.0)
    for e in range(arrays["edges/used"][USED]):
        s, target = arrays["edges/pair"][e] // A, arrays["edges/target"][e]
        if s != target:
            V[target, s] = max(V[target, s], arrays["edges/best"][e])
    for k in range(S):  # Floyd and Warshall
        V = np.maximum(V, V[:, k][:, None] + V[k][None, :])
    np.testing.assert_allclose(arrays["V"], V, rtol=1e-12)


def test_the_edges_of_a_planner_have_names_and_rise():
    _, arrays = read(next(path for path in SAMPLES if path.stem == "planner"))
    text, offset = arrays["states.text"].tobytes(), arrays["states.offset"]
    names = [text[i:j].decode("utf-8") for i, j in itertools.pairwise(offset)]
    assert sorted(names) == names
    edges = list(zip(arrays["source"], arrays["action"], arrays["target"], strict=True))
    assert edges == sorted(set(edges))
    assert arrays["source"].max() < len(names)
    assert (arrays["best"] * arrays["count"] >= arrays["total"]).all()
    assert arrays["trip"].shape == (len(edges), 3)


def test_the_page_describes_the_current_version():
    assert f"this page describes version {archive.VERSION}" in PAGE
    assert bytes.fromhex(re.findall(r"`((?:[0-9a-f]{2} ){7}[0-9a-f]{2})`", PAGE)[0]) == archive.MAGIC
    assert archive.PREFIX.size == 48
    assert all(dtype.replace("|", "\\|") in PAGE for dtype in archive.DTYPES)
    assert f"multiple of {archive.ALIGNMENT}" in PAGE


def test_every_section_of_the_samples_is_on_the_page():
    names = {name for path in SAMPLES for name in read(path)[1]}
    assert {name for name in names if f"`{name}`" not in PAGE} == set()
