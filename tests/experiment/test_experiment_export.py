"""An export that cannot be written is one sentence, and leaves no half-written file."""

import subprocess
import sys

import pyarrow.parquet as pq  # type: ignore[import-untyped]

from fwrl.experiment.export import _write_parquet
from systems import unix

LIMITED = """
import resource, sys
from pathlib import Path
from fwrl.errors import FileError
from fwrl.experiment.export import _write_parquet
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    _write_parquet(Path(sys.argv[1]))
except FileError as error:
    print(error)
"""


@unix
def test_a_full_disk_is_an_error_in_words(tmp_path):
    rows = "\n".join(f"{k},{k * 7919 % 100_003}" for k in range(30_000))
    (tmp_path / "runs.csv").write_text(f"a,b\n{rows}\n")
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "runs.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"cannot write {str(tmp_path / 'runs.parquet')!r}: ")
    assert [path.name for path in tmp_path.iterdir()] == ["runs.csv"]


def test_a_table_is_exported_from_its_own_folder_whatever_the_name(tmp_path):
    for name, value in (("r1", "neighbour"), ("r[1]", "own")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "runs.csv").write_text(f"a\n{value}\n")
    assert pq.read_table(_write_parquet(tmp_path / "r[1]" / "runs.csv")).to_pylist() == [{"a": "own"}]
