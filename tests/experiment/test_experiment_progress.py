"""How far experiments are, where the output isn't a terminal."""

from __future__ import annotations

from fwrl.cli.progress import run_with_progress
from fwrl.experiment import Store, chosen
from fwrl.kernels.jit import NOTICE
from fwrl.pool import process_pool


def test_each_experiment_is_one_line_once_its_runs_are_stored_and_none_if_they_were_before(tmp_path, capsys):
    experiments = chosen(["h-maze", "visual-abstract"])
    printed = []
    for _ in range(2):
        with Store(tmp_path / "x.sqlite") as store, process_pool(1) as pool:
            run_with_progress(store, experiments, 2, pool)
        lines = [line for line in capsys.readouterr().err.splitlines() if line != NOTICE]
        printed.append([line.split(" s  ", 1)[1] for line in lines])
    first, last = (experiment.title for experiment in experiments)
    told = [line.rpartition(" (")[0] for line in printed[0]]  # the count may already include runs of the next one
    assert told == [f"{first}: all runs are stored", f"{last}: all runs are stored"]
    assert printed[0][-1].endswith("(8 of 8)")
    assert printed[1] == []
