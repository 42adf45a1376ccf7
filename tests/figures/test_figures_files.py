"""Figures as files: valid, complete, and the same bytes from the same input."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from fwrl.errors import FileError
from fwrl.figures import Strip, results, save
from fwrl.figures.style import figure_of, sheet
from fwrl.metrics import box_plot


def tiny() -> Figure:
    rng = np.random.default_rng(1)
    reward = {"QL": rng.normal(20, 5, (2, 30)), "FWRL (exact)": rng.normal(400, 30, (2, 30))}
    detours = {label: 1 + rng.random((2, 30)) for label in reward}
    left, right = ({label: Strip(x, box_plot(x)) for label, x in metric.items()} for metric in (reward, detours))
    return results("Four rooms", left, right, seeds=2)


def test_the_png_is_an_opaque_white_sheet_of_200_dots_an_inch(tmp_path: Path) -> None:
    figure = tiny()
    with Image.open(save(figure, tmp_path, "one").png) as picture:
        assert picture.format == "PNG"
        assert picture.size == tuple(round(200 * inches) for inches in figure.get_size_inches())
        assert picture.convert("RGBA").getpixel((0, 0)) == (255, 255, 255, 255)


def test_the_svg_is_one(tmp_path: Path) -> None:
    root = ElementTree.parse(save(tiny(), tmp_path, "one").svg).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    figure = tiny()
    first, again, anew = (save(f, tmp_path, name) for f, name in ((figure, "a"), (figure, "b"), (tiny(), "c")))
    for k in range(2):
        assert first[k].read_bytes() == again[k].read_bytes() == anew[k].read_bytes()


def test_a_users_own_settings_change_nothing(tmp_path: Path) -> None:
    usual = save(tiny(), tmp_path, "usual")
    with matplotlib.rc_context({"font.size": 30, "figure.facecolor": "red", "axes.grid": True}):
        other = save(tiny(), tmp_path, "other")
        assert matplotlib.rcParams["font.size"] == 30
    assert usual.png.read_bytes() == other.png.read_bytes()
    assert usual.svg.read_bytes() == other.svg.read_bytes()


def test_a_missing_folder_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"one\.png"):
        save(tiny(), tmp_path / "missing", "one")


def test_no_file_but_the_two_is_left(tmp_path: Path) -> None:
    save(tiny(), tmp_path, "one")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.png", "one.svg"]


def test_drawing_needs_no_pyplot_and_importing_fwrl_no_matplotlib() -> None:
    code = (
        "import sys, fwrl; fwrl.load_world('h-maze'); assert 'matplotlib' not in sys.modules\n"
        "from fwrl.figures import world_map; world_map([fwrl.load_world('h-maze')])\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_names_with_dollars_are_drawn_as_they_are(tmp_path: Path) -> None:
    """They come from logs; matplotlib would parse what is between two dollars as mathematics."""

    @figure_of
    def named() -> Figure:
        figure = sheet(2, 1)
        figure.text(0.5, 0.5, "from $5_ to ^$7")
        return figure

    save(named(), tmp_path, "dollars")
