"""The saved format: what goes in comes out, and nothing damaged comes in."""

import hashlib
import json
import os
import struct
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fwrl.errors import FileError, FwrlError
from fwrl.files import check_archive, open_archive, write_archive
from fwrl.files.archive import DTYPES, MAGIC, PREFIX, VERSION

SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4)


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=8),
        st.sampled_from(DTYPES).flatmap(lambda d: hnp.arrays(np.dtype(d), SHAPES)),
        max_size=4,
    )
)
@settings(max_examples=60)
def test_what_goes_in_comes_out(tmp_path_factory, arrays):
    path = tmp_path_factory.mktemp("files") / "x.fwrl"
    write_archive(path, "thing", {"a": [1, "b", None]}, arrays)
    archive = check_archive(path)
    assert archive.kind == "thing"
    assert archive.details == {"a": [1, "b", None]}
    assert archive.names == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(archive[name], array)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "x.fwrl"
    write_archive(path, "thing", {"n": 3}, {"a": np.arange(100.0), "b": np.arange(7)})
    return path


def test_arrays_are_mapped_read_only_and_aligned(saved):
    array = open_archive(saved)["a"]
    assert not array.flags.writeable
    assert sys.platform == "win32" or array.ctypes.data % 64 == 0  # read, not mapped, on Windows


def test_any_flipped_bit_is_noticed(saved):
    whole = saved.read_bytes()
    rng = np.random.default_rng(0)
    archive = open_archive(saved)
    used = [*range(PREFIX.size + 100), *(len(whole) - 1 - rng.integers(0, 56, 40))]
    del archive
    for position in used:
        damaged = bytearray(whole)
        damaged[position] ^= 1 << int(rng.integers(8))
        saved.write_bytes(damaged)
        with pytest.raises(FileError):
            check_archive(saved)


def test_a_damaged_section_is_noticed_when_it_is_used_and_not_before(saved):
    damaged = bytearray(saved.read_bytes())
    damaged[-1] ^= 1
    saved.write_bytes(damaged)
    archive = open_archive(saved)
    np.testing.assert_array_equal(archive["a"], np.arange(100.0))
    with pytest.raises(FileError, match="checksum of 'b'"):
        archive["b"]


@pytest.mark.parametrize("version", [0, 2, 5, 2**32 - 1])
def test_other_versions_are_refused_in_one_sentence_with_a_remedy(saved, version):
    whole = saved.read_bytes()
    saved.write_bytes(whole[:8] + struct.pack("<I", version) + whole[12:])
    with pytest.raises(FileError) as refusal:
        open_archive(saved)
    assert str(refusal.value) == (
        f"{str(saved)!r} has format version {version}, but this fwrl reads version 1; "
        "open it with the fwrl that wrote it, or make it again with this one"
    )


def test_foreign_and_missing_files_are_refused_in_words(saved, tmp_path):
    whole = saved.read_bytes()
    saved.write_bytes(b"PK\x03\x04" + whole)
    with pytest.raises(FileError, match="not a file saved by fwrl"):
        open_archive(saved)
    saved.write_bytes(b"")
    with pytest.raises(FileError, match="not a file saved by fwrl"):
        open_archive(saved)
    with pytest.raises(FileError, match=r"there is no such file$"):
        open_archive(tmp_path / "nowhere.fwrl")
    near = saved.name[:-1]
    with pytest.raises(FileError, match=f"there is no such file; did you mean '{saved.name}'"):
        open_archive(tmp_path / near)


def forged(path, header):
    text = json.dumps(header).encode()
    path.write_bytes(PREFIX.pack(MAGIC, VERSION, len(text), hashlib.sha256(text).digest()) + text)


@pytest.mark.parametrize(
    "section",
    [
        {"name": "a", "dtype": "|O", "shape": [1], "offset": 0, "sha256": ""},
        {"name": "a", "dtype": "<f8", "shape": [-1], "offset": 0, "sha256": ""},
        {"name": "a", "dtype": "<f8", "shape": [1e9], "offset": 0, "sha256": ""},
        {"name": "a", "dtype": "<f8", "shape": [1], "offset": -64, "sha256": ""},
        {"name": "a", "dtype": "<f8", "shape": [2**40, 2**40], "offset": 0, "sha256": ""},
        {"name": "a", "dtype": "<f8", "shape": [1], "offset": 2**40, "sha256": ""},
        {"name": 3, "dtype": "<f8", "shape": [1], "offset": 0, "sha256": ""},
        {},
        [],
    ],
)
def test_an_invalid_header_with_a_right_checksum_is_refused(tmp_path, section):
    header = {"version": VERSION, "kind": "agent", "details": {}, "sections": []}
    forged(tmp_path / "x.fwrl", header)
    open_archive(tmp_path / "x.fwrl")
    forged(tmp_path / "x.fwrl", {**header, "sections": [section]})
    with pytest.raises(FileError, match=r"damaged|truncated"):
        open_archive(tmp_path / "x.fwrl")


@pytest.mark.parametrize("version", [None, 0, 2, "1"])
def test_a_header_that_does_not_repeat_the_version_is_refused(tmp_path, version):
    header = {"kind": "agent", "details": {}, "sections": []}
    forged(tmp_path / "x.fwrl", header if version is None else {"version": version, **header})
    with pytest.raises(FileError, match="its header is not valid"):
        open_archive(tmp_path / "x.fwrl")


def test_a_header_longer_than_any_file_needs_is_refused_unread_and_not_written(saved):
    before = saved.read_bytes()
    text = b" " * (17 * 2**20) + b"{}"
    saved.write_bytes(PREFIX.pack(MAGIC, VERSION, len(text), hashlib.sha256(text).digest()) + text)
    with pytest.raises(FileError, match="is damaged: its header has 17,825,794 bytes, more than 16,777,216"):
        open_archive(saved)
    saved.write_bytes(before)
    logs = [{"name": f"{k}.csv", "size": k, "sha256": 64 * "0"} for k in range(200_000)]
    with pytest.raises(FileError, match=r"'.*x\.fwrl' would have a header of .* bytes, more than 16,777,216; .*fewer"):
        write_archive(saved, "planner", {"logs": logs}, {})
    assert saved.read_bytes() == before
    write_archive(saved, "planner", {"logs": logs[:100_000]}, {})
    assert len(open_archive(saved).details["logs"]) == 100_000


def test_a_failed_write_leaves_the_old_file_and_nothing_else(saved, monkeypatch):
    before = saved.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="No space left"):
        write_archive(saved, "thing", {}, {"a": np.zeros(3)})
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == ["x.fwrl"]


def test_numbers_that_the_format_lacks_are_refused_with_a_remedy(tmp_path):
    with pytest.raises(FwrlError, match="cannot save 'tries' as int16; convert it with astype to one of float64,"):
        write_archive(tmp_path / "a.fwrl", "agent", {}, {"tries": np.zeros(3, np.int16)})
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_reported(tmp_path):
    with pytest.raises(FwrlError, match="its folder doesn't exist"):
        write_archive(tmp_path / "no" / "x.fwrl", "thing", {}, {})
    with pytest.raises(FwrlError, match="is a folder"):
        write_archive(tmp_path, "thing", {}, {})
