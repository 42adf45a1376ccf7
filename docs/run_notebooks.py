"""Execute the notebooks of docs/notebooks and keep their outputs: make docs-notebooks.

The notebooks are committed with their outputs, so that they can be read where nothing can be run. A test executes them
again and compares every text with the committed one, so that what is read is what happens.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).with_name("notebooks")
TIMEOUT = 600  # seconds for one cell; the first ones may compile


def notebooks() -> list[Path]:
    """The notebooks, in the order of their names."""
    return sorted(FOLDER.glob("*.ipynb"))


def executed(path: Path, folder: Path) -> Any:
    """The notebook after all its cells were run in `folder`."""
    notebook = nbformat.read(path, as_version=4)
    work = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=TIMEOUT, kernel_name="python3", resources=work).execute()
    return notebook


def texts(notebook: Any) -> list[list[str]]:
    """The text that every code cell printed, and its result as text or as a table; progress bars are left out."""
    return [_texts(cell.outputs) for cell in notebook.cells if cell.cell_type == "code"]


def _texts(outputs: list[Any]) -> list[str]:
    # What is printed may arrive in one part or in several.
    printed = "".join(output.text for output in outputs if output.get("name") == "stdout")
    shown = [output["data"] for output in outputs if "data" in output]
    return [printed, *("a picture" if "image/png" in d else d.get("text/html") or d["text/plain"] for d in shown)]


def write(path: Path, folder: Path) -> None:
    """Execute a notebook and replace its outputs; nothing that differs from run to run is kept."""
    notebook = executed(path, folder)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
            for output in cell.outputs:
                output.get("metadata", {}).clear()
                if {"text/html", "image/png"} & set(output.get("data", {})):
                    output["data"].pop("text/plain")
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    nbformat.write(notebook, path)


if __name__ == "__main__":
    import tempfile

    for chosen in [Path(name) for name in sys.argv[1:]] or notebooks():
        with tempfile.TemporaryDirectory() as work:
            write(chosen, Path(work))
        print(chosen.name)
