"""The stated confidence: in closed form on counts made by hand, and against success in a maze with a portal."""

import warnings

import numpy as np
import pytest
from continuous_maze import Maze, pursue
from scipy.stats import spearmanr

import fwrl
from fwrl.errors import FwrlWarning
from fwrl.navigator.action_labels import Headings
from fwrl.navigator.fitted import FittedCells
from fwrl.navigator.motion import LinearMotion
from fwrl.navigator.navigator import Navigator, Settings
from fwrl.navigator.transitions import Transitions

K = 5
FAR = (20, 21, False, 1)  # with more cells, giving up costs more
RIGHT = 2  # of the headings -1, 0, 1 in one dimension


def navigator(rows, backup="expected"):
    """On a line of cells at 0, 10, 20, ...; rows are (cell, next cell, jump, number of windows), all to the right."""
    source, target, jump, times = (np.array(column) for column in zip(*rows, strict=True))
    times = times.astype(float)
    n = int(max(source.max(), target.max())) + 1
    counts = Transitions(source, np.full(len(source), RIGHT), target, jump, times, K * times, 0.0 * times)
    motion = LinearMotion.of([[1.0], [-1.0]], [[0.0], [0.0]], [[1.0], [-1.0]])
    cells = FittedCells(10.0 * np.arange(n)[:, None], 1.0)
    return Navigator(cells, motion, Headings(1), counts, Settings(K, prior=0.0, way_back=0.0, backup=backup))


@pytest.mark.parametrize("jumps", [1, 2, 9, 100])
def test_after_n_jumps_the_next_one_leads_to_an_unseen_exit_once_in_n_plus_1(jumps):
    nav = navigator([(0, 1, True, K * jumps)])
    assert nav.arrival([0.0], [10.0]) == 1.0
    assert nav.confidence([0.0], [10.0]) == pytest.approx(jumps / (jumps + 1))


def test_moves_are_not_doubted_and_portals_in_a_row_multiply():
    nav = navigator([(0, 1, False, 1), (1, 2, True, 3 * K), (2, 3, False, 1), (3, 4, True, K)])
    assert nav.confidence([0.0], [10.0]) == 1.0
    assert nav.confidence([0.0], [20.0]) == pytest.approx(3 / 4)
    assert nav.confidence([0.0], [40.0]) == pytest.approx(3 / 4 / 2)


def test_a_step_that_often_fails_is_repeated_and_is_doubted_once():
    nav = navigator([(0, 0, False, 40), (0, 1, True, 4 * K), FAR])
    assert nav.confidence([0.0], [10.0]) == pytest.approx(4 / 5)


def test_the_papers_backup_is_judged_on_mean_outcomes():
    rows = [(0, 1, True, 2 * K), (0, 2, True, 6 * K), FAR]
    best = navigator(rows, "best")
    assert best.arrival([0.0], [10.0]) == 1.0
    assert best.confidence([0.0], [10.0]) == pytest.approx(2 / 9)
    assert navigator(rows).confidence([0.0], [10.0]) == pytest.approx(2 / 9)


def test_ends_that_no_episode_visited_count_for_less():
    nav = navigator([(0, 1, False, 9), (1, 0, False, 9)])
    assert nav.confidence([0.9], [10.9]) == 1.0
    assert nav.confidence([-4.0], [10.0]) == pytest.approx(1 / 4)
    assert nav.confidence([-4.0], [12.0]) == pytest.approx(1 / 8)


def test_a_goal_that_the_data_hardly_support_is_warned_of():
    nav = navigator([(0, 1, False, 9), (1, 0, False, 9)])
    with pytest.warns(FwrlWarning, match=r"mean confidence 25%, no episode came near it"):
        nav.aim([14.0])
    with pytest.warns(FwrlWarning, match="few episodes show how to get there"):
        navigator([(n, n + 1, True, K) for n in range(6)]).aim([60.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nav.aim([10.0])


def test_printing_a_navigator_says_how_sure_it_is():
    assert "mean confidence between visited places 100%" in repr(navigator([(0, 1, False, 9), (1, 0, False, 9)]))
    # From 0 and to 1: 1, 1/2, 1 and 0 on average.
    assert "mean confidence between visited places 62%" in repr(navigator([(0, 1, True, K)]))


# A portal at the end of a winding corridor leads to its beginning or into a closed square.
CORRIDOR = Maze(
    ("###########", "#...#.....#", "#.#.#.###.#", "#.#...#...#", "#.#####.###", "#.......#.#", "###########"),
    portals=(((7.5, 5.5), 0.3),),
    exits=((1.5, 1.5), (9.5, 5.5)),
)


def measured(episodes, seed):
    """Stated confidence and success for starts and goals drawn among all squares."""
    rng = np.random.default_rng([seed, episodes])
    nav = fwrl.fit_navigator(CORRIDOR.walks(episodes, 60, seed))
    squares, stated, reached = CORRIDOR.cells(), [], []
    for _ in range(20):
        start, goal = (np.array(squares[rng.integers(len(squares))]) + 0.5 for _ in range(2))
        stated.append(nav.confidence(start, goal))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FwrlWarning)
            reached.append(pursue(nav, CORRIDOR, start, goal, seed=seed) is not None)
    return stated, reached


def test_the_stated_confidence_ranks_cases_by_measured_success():
    cases = [measured(episodes, seed) for episodes in (3, 10, 30, 100, 300) for seed in (0, 1, 2)]
    stated, reached = (np.array([case[k] for case in cases], float) for k in (0, 1))
    assert spearmanr(stated.mean(axis=1), reached.mean(axis=1)).statistic > 0.6
    sure, unsure = stated > 0.8, stated < 0.3
    assert min(sure.sum(), unsure.sum()) > 20
    assert reached[sure].mean() > reached[unsure].mean() + 0.5
