"""Draw the moving picture of the start page, images/h-maze.gif, from one run of the paper's H-maze experiment.

python docs/draw_film.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from fwrl.experiment import Store, run_experiments
from fwrl.experiment.catalogue import H_MAZE
from fwrl.report import StoredResults
from fwrl.report.drawing import draw_animation

IMAGES = Path(__file__).with_name("images")


def main() -> None:
    """Run the experiment in a temporary folder, and draw."""
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "results.sqlite") as store:
        run_experiments(store, [H_MAZE], seeds=1, workers=1)
        (path,) = draw_animation(StoredResults(store), IMAGES).files
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
