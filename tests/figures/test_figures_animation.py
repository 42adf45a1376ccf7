"""The film of the H-maze: every frame there, small, and the same bytes each time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fwrl.errors import FileError, FwrlError
from fwrl.figures import Frame, Scene, h_maze_animation
from fwrl.figures.h_maze_animation import END, MOST, PACE, PAUSE, thinned
from fwrl.worlds import load_world

H = load_world("h-maze")


def frames_of(film: Image.Image) -> int:
    return int(getattr(film, "n_frames"))  # noqa: B009 (Pillow leaves it out of its types)


def story(*chapters: tuple[str, int]) -> list[Frame]:
    """Two agents, of which the first stands still and the second walks and learns."""
    frames = []
    for title, length in chapters:
        for k in range(length):
            learned = np.where(np.arange(7) <= k, -1.0 - np.arange(7), -np.inf)
            still = Scene("QLCAT", np.ones(7), 5, 5, 6, "stuck")
            frames.append(Frame(title, (still, Scene("FWRL", learned, k % 7, 0, 6, f"step {k}"))))
    return frames


def test_every_frame_of_a_short_story_is_in_the_gif_and_chapters_end_with_a_pause(tmp_path: Path) -> None:
    path = h_maze_animation(H, story(("training 1", 3), ("test", 4)), tmp_path / "film.gif")
    with Image.open(path) as film:
        assert (film.format, frames_of(film), film.info["loop"]) == ("GIF", 7, 0)
        times = []
        for k in range(frames_of(film)):
            film.seek(k)
            times.append(film.info["duration"])
    assert times == [PACE, PACE, PAUSE, PACE, PACE, PACE, END]


def test_frames_that_do_not_differ_are_all_kept(tmp_path: Path) -> None:
    frame = story(("test", 1))[0]
    with Image.open(h_maze_animation(H, [frame] * 5, tmp_path / "film.gif")) as film:
        assert frames_of(film) == 5


def test_a_long_story_is_thinned_and_stays_small(tmp_path: Path) -> None:
    path = h_maze_animation(H, story(("training 1", 300), ("test", 40)), tmp_path / "film.gif")
    with Image.open(path) as film:
        assert frames_of(film) == MOST
    assert path.stat().st_size < 2_000_000


def test_thinning_keeps_short_chapters_whole_and_the_ends_of_long_ones() -> None:
    frames = story(("training 1", 400), ("training 2", 30), ("test", 5))
    kept = thinned(frames)
    assert [frame for frame in kept if frame.title != "training 1"] == frames[400:]
    long = [frame for frame in kept if frame.title == "training 1"]
    assert (len(long), long[0], long[-1]) == (MOST - 35, frames[0], frames[399])


def test_the_same_frames_give_the_same_bytes(tmp_path: Path) -> None:
    films = [h_maze_animation(H, story(("test", 4)), tmp_path / f"{k}.gif").read_bytes() for k in range(2)]
    assert films[0] == films[1]


def test_the_agents_dot_moves(tmp_path: Path) -> None:
    """Black where the agent is, not where it was: cell centres of states 0 and 2 on the right-hand board."""
    walk = [Frame("test", (Scene("FWRL", np.ones(7), state, 5, 6),)) for state in (0, 2)]
    with Image.open(h_maze_animation(H, walk, tmp_path / "film.gif")) as film:
        shots = []
        for k in range(2):
            film.seek(k)
            shots.append(np.asarray(film.convert("L")).astype(int))
    changed = np.abs(shots[0] - shots[1]) > 60
    rows = np.flatnonzero(changed[: -film.size[1] // 20].any(axis=1))
    third = 0.74 * film.size[1] / 3
    assert third * 0.8 < rows.max() - rows.min() < third * 1.6


def test_no_frames_is_an_error_and_a_folder_no_file(tmp_path: Path) -> None:
    with pytest.raises(FwrlError, match="at least one frame"):
        h_maze_animation(H, [], tmp_path / "film.gif")
    with pytest.raises(FileError, match="folder"):
        h_maze_animation(H, story(("test", 1)), tmp_path)
    assert list(tmp_path.iterdir()) == []
