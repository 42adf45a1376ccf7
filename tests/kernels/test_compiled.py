"""Where compiled code is kept, and for how long."""

import os
import time

from fwrl.kernels.compiled import STALE, drop_stale


def test_code_of_other_versions_goes_once_it_is_stale_and_nothing_else_does(tmp_path):
    names = ("0123456789abcdef", "fedcba9876543210", "aaaabbbbccccdddd", "my-own-folder---")
    ours, old, recent, foreign = (tmp_path / name for name in names)
    for folder in (ours, old, recent, foreign):
        folder.mkdir()
        (folder / "kernel.nbc").write_bytes(b"x")
    long_ago = time.time() - STALE - 60
    for folder in (ours, old, foreign):
        os.utime(folder, (long_ago, long_ago))
    drop_stale(ours)
    assert sorted(folder.name for folder in tmp_path.iterdir()) == sorted([ours.name, recent.name, foreign.name])
