"""The report's numbers, recomputed from the raw rows by a few lines of NumPy that share no code with it."""

import json
import re
import shutil
import sqlite3
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from fwrl.agents import make_agent
from fwrl.experiment import EXPERIMENTS, Store, run_experiments
from fwrl.experiment.catalogue import (
    FOUR_ROOMS,
    FOUR_ROOMS_LONG,
    FWRL,
    FWRL_EXACT,
    H_MAZE,
    MBRL,
    MUDDY,
    PLAYER,
    VISUAL_ABSTRACT,
    WINDY,
)
from fwrl.report import StoredResults, findings, write_report
from fwrl.report.finding import result_of_share, share_of_runs
from fwrl.report.room_exit import room_exit
from fwrl.report.statements import statements
from fwrl.report.straight_lines import straight_line_reward
from fwrl.task import Task, run
from fwrl.task.expectation import best_rewards
from fwrl.task.oracle_player import OraclePlayer
from fwrl.worlds import load_world

SEEDS = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    with Store(folder / "results.sqlite") as store:
        run_experiments(store, EXPERIMENTS, seeds=SEEDS, workers=1)
        write_report(store, folder)
    return folder


@pytest.fixture(scope="module")
def stored(folder):
    with Store(folder / "results.sqlite") as store:
        yield StoredResults(store)


@pytest.fixture(scope="module")
def found(stored):
    """What the report finds."""
    return findings(stored)


def raw(folder, sql):
    db = sqlite3.connect(folder / "results.sqlite")
    rows = db.execute(sql).fetchall()
    db.close()
    return rows


def column(folder, experiment, agent, name):
    sql = (
        f"SELECT {name} FROM episodes WHERE experiment = '{experiment.id}' AND agent = '{agent}' ORDER BY seed, episode"
    )
    return np.array([value for (value,) in raw(folder, sql)], dtype=float).reshape(SEEDS, -1)


@pytest.mark.parametrize("experiment", [FOUR_ROOMS, WINDY], ids=lambda e: e.id)
def test_summaries_follow_from_the_raw_rows(folder, stored, experiment):
    goals = column(folder, experiment, FWRL.label, "goal").astype(int)
    task = Task(load_world(experiment.world))
    by_goal = {g: best_rewards(task, [g], 400).reward[0] for g in np.unique(goals).tolist()}
    oracle = np.vectorize(by_goal.get)(goals)
    player = column(folder, experiment, PLAYER.label, "reward")
    assert player.mean() == pytest.approx(oracle.mean(), abs=5 * (player - oracle).std() / np.sqrt(oracle.size))
    for agent in experiment.agents:
        summary = stored.summary(experiment, agent.label)
        reward = column(folder, experiment, agent.label, "reward")
        distance, shortest = (column(folder, experiment, agent.label, c) for c in ("distance", "shortest"))
        visited = shortest > 0
        assert summary.reward.value == np.median(reward)
        assert summary.reward_mean.value == pytest.approx(reward.mean())
        ordered = np.sort(reward.ravel())
        cut = len(ordered) // 4
        assert summary.reward_iqm.value == pytest.approx(ordered[cut : len(ordered) - cut].mean())
        assert summary.inefficiency.value == pytest.approx(np.median(distance[visited] / shortest[visited]))
        assert summary.without_visit == int((~visited).sum())
        assert summary.share.value == pytest.approx(reward.sum() / oracle.sum())
        assert summary.share.low <= summary.share.value <= summary.share.high


def test_sample_efficiency_follows_from_the_raw_rows(folder, stored):
    """The oracle's expected reward is replaced by its own mean over many simulated episodes."""
    task = Task(load_world(FOUR_ROOMS.world))
    goals = column(folder, FOUR_ROOMS, FWRL.label, "goal")
    player = OraclePlayer(task)
    expected, random = stored.reference(FOUR_ROOMS)[:2]
    for goal in np.unique(goals)[:6].astype(int).tolist():
        simulated = run(task, player, episodes=60, steps=400, seed=1, goal=goal).reward
        error = simulated.std() / np.sqrt(len(simulated))
        assert abs(expected[goals == goal][0] - simulated.mean()) < 5 * error
    ratio = (column(folder, FOUR_ROOMS, MBRL.label, "reward") - random) / (expected - random)
    lost = np.cumsum(1 - ratio, axis=1)
    np.testing.assert_allclose(stored.regret(FOUR_ROOMS, MBRL.label), lost)
    assert stored.summary(FOUR_ROOMS, MBRL.label).regret.value == pytest.approx(lost[:, -1].mean())
    for run_ratio, found in zip(ratio, stored.efficiency(FOUR_ROOMS, MBRL.label), strict=True):
        means = [run_ratio[e : e + 5].mean() for e in range(len(run_ratio) - 4)]
        learned = [e + 1 for e in range(len(means)) if means[e] >= 0.9]
        assert found == (learned[0] if learned else np.inf)


def claim(found, words):
    return next(f for f in found if words in f.claim)


def numbers_in(text):
    return [float(n.replace(",", "")) for n in re.findall(r"-?\d[\d,]*\.?\d*", text)]


def test_the_gap_in_reward_follows_from_the_raw_rows(folder, found):
    finding = claim(found, "Windy four rooms: FWRL earns more")
    ours = column(folder, WINDY, FWRL.label, "reward").mean()
    for agent in ("QL", "QLCAT", "MBRL (straight lines)", "MBRL"):
        gap = ours - column(folder, WINDY, agent, "reward").mean()
        assert f"{agent}: {gap:,.1f} [" in finding.numbers


def test_the_factor_over_the_next_best_follows_from_the_raw_rows(folder, found):
    finding = claim(found, "Four rooms: twice the median of a turning planner")
    factor = np.median(column(folder, FOUR_ROOMS, FWRL.label, "reward")) / np.median(
        column(folder, FOUR_ROOMS, MBRL.label, "reward")
    )
    assert numbers_in(finding.numbers)[0] == pytest.approx(factor, abs=0.005)
    assert finding.result == ("confirmed" if numbers_in(finding.numbers)[1] >= 2 else "not confirmed")


def test_a_factor_far_from_the_published_one_is_said_to_be_unexplained(folder, found):
    for words, experiment in (("Four rooms: twice", FOUR_ROOMS), ("Windy four rooms: twice", WINDY)):
        published, turning = (f for f in found if f.claim.startswith(words))
        assert "free to turn" not in published.reason
        assert "free to turn" in turning.reason
        assert ("unexplained" in published.reason) == (numbers_in(published.numbers)[1] > 4)
        means = [column(folder, experiment, label, "reward").mean() for label in (FWRL.label, MBRL.label)]
        assert f"by means {means[0] / means[1]:.2f} [" in turning.numbers


def test_the_straight_line_planner_with_perfect_knowledge_earns_little():
    """Counted by hand: the planner plays a world whose steps it has all seen, with everything but straight lines."""
    world = load_world("four-rooms")
    agent = make_agent("mbrl-straight", world.n_states, world.n_actions, seed=0)
    pairs = np.arange(world.n_states * world.n_actions)
    s, a = np.divmod(pairs, world.n_actions)
    landed = [world.outcomes(x, b)[0].next_state for x, b in zip(s.tolist(), a.tolist(), strict=True)]
    agent.observe_many(s, a, np.full(len(s), -2.5e-4), landed)
    earned = run(world, agent, episodes=300, steps=400, seed=1, learn=False, explore=False).reward
    expected = straight_line_reward(world, 400)
    assert abs(earned.mean() - expected) < 5 * earned.std() / np.sqrt(len(earned))


def test_every_finding_has_a_result_of_four_and_numbers(found):
    assert {f.result for f in found} <= {"confirmed", "partly confirmed", "not confirmed", "undecided"}
    assert all(re.search(r"\d", f.numbers) and re.search(r"\d", f.number) for f in found)
    assert len({f.claim for f in found}) == len(found)


@pytest.mark.parametrize(
    ("words", "result"),
    [
        ("Q(s, a) = sum", "not confirmed"),
        ("F(i, a, j) >=", "partly confirmed"),
        ("horizon independent", "confirmed"),
        ("maximises the total reward of an episode", "partly confirmed"),
        ("Rewards lie in", "confirmed"),
        ("Dijkstra", "partly confirmed"),
    ],
)
def test_statements_without_an_experiment_have_their_row(words, result):
    (found,) = (f for f in statements() if words in f.claim)
    assert found.result == result
    assert found.reading


def test_few_runs_leave_a_share_undecided():
    assert result_of_share(share_of_runs(3, 3), 0.9) == "undecided"
    assert result_of_share(share_of_runs(100, 100), 0.9) == "confirmed"
    assert result_of_share(share_of_runs(5, 100), 0.9) == "not confirmed"
    exact = binomtest(45, 100).proportion_ci(0.95, method="exact")
    assert share_of_runs(45, 100) == pytest.approx((0.45, exact.low, exact.high))


def test_the_h_maze_counts_follow_from_the_raw_steps(folder, stored, found):
    world = load_world("h-maze")
    start, goal = world.state_at(0, 2), world.state_at(2, 2)
    for agent, words in ((FWRL.label, "Algorithm 1) takes the shortest"), (FWRL_EXACT.label, "(exact) takes the")):
        straight = 0
        for seed in range(SEEDS):
            sql = (
                "SELECT state, next_state, arrived FROM steps WHERE experiment = 'h-maze' "
                f"AND agent = '{agent}' AND seed = {seed} AND episode = 2 ORDER BY step"
            )
            rows = raw(folder, sql)
            moves = [row for row in rows if not row[2]]
            assert rows[0][0] == start
            straight += len(rows) == 5 and len(moves) == 4 and moves[-1][1] == goal
        assert f"shortest path in {straight} of {SEEDS} runs" in claim(found, words).numbers
    assert stored.seeds(H_MAZE) == SEEDS


def test_the_muddy_costs_follow_from_the_raw_audits(folder, found):
    finding = claim(found, "Muddy rooms")
    for statistic in (np.mean, np.median):
        costs = []
        for agent in (FWRL_EXACT.label, "FWRL (fewest steps)"):
            sql = f"SELECT value FROM audits WHERE experiment = '{MUDDY.id}' AND agent = '{agent}' ORDER BY seed, goal"
            by_run = np.array([v for (v,) in raw(folder, sql)]).reshape(SEEDS, -1)
            costs.append(statistic(by_run, axis=1).mean() / -2.5e-4)
            assert f"{costs[-1]:.2f}" in finding.numbers
        assert f"FWRL saves {costs[1] - costs[0]:.2f} [" in finding.numbers


def test_a_random_walkers_stay_follows_from_simulation():
    world = load_world("four-rooms")
    leaving = room_exit(world)
    rng = np.random.default_rng(0)
    rooms = {}
    for s in range(world.n_states):
        x, y = world.position(s)
        rooms[s] = None if 5 in (x, y) else (x > 5, y > 5)
    inside = [s for s in rooms if rooms[s] is not None]
    times = []
    for _ in range(1500):
        s = first = int(rng.choice(inside))
        steps = 0
        while rooms[s] in (None, rooms[first]):
            s = world.outcomes(s, int(rng.integers(4)))[0].next_state
            steps += 1
        times.append(steps)
    assert abs(np.mean(times) - leaving.random) < 5 * np.std(times) / np.sqrt(len(times))


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.sources, self.names, self.text = [], [], []

    def handle_starttag(self, tag, attributes):
        self.sources += [v for k, v in attributes if k in ("src", "href")]
        self.names += [v for k, v in attributes if k == "id"]

    def handle_data(self, data):
        self.text.append(data)


def test_the_page_is_one_file_with_every_claim_and_picture(folder, found):
    text = (folder / "report.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    pictures = [source for source in page.sources if not source.startswith("#")]
    assert len(pictures) == 11
    assert all(source.startswith("data:image/") for source in pictures)
    assert {source[1:] for source in page.sources if source.startswith("#")} <= set(page.names)
    assert "http" not in re.sub(r"base64,[A-Za-z0-9+/=]+", "", text)
    shown = "".join(page.text)
    for finding in found:
        assert finding.claim in shown
        assert finding.numbers in shown


def test_the_markdown_shows_the_same_results_and_its_pictures_exist(folder, found):
    text = (folder / "report.md").read_text(encoding="utf-8")
    for finding in found:
        claim = finding.claim.replace("|", "\\|")
        assert f"| {claim} | **{finding.result}** | {finding.number} |" in text
        assert f"**{finding.claim}: {finding.result}.** {finding.numbers}" in text
    for name in re.findall(r"\]\((figures/[^)]+)\)", text):
        assert (folder / Path(name)).is_file()


def test_the_report_does_not_depend_on_when_it_is_written(folder, tmp_path):
    with Store(folder / "results.sqlite") as store:
        write_report(store, tmp_path)
    assert (tmp_path / "report.html").read_bytes() == (folder / "report.html").read_bytes()


def test_a_single_experiment_makes_a_smaller_report(tmp_path):
    with Store(tmp_path / "x.sqlite") as store:
        run_experiments(store, [H_MAZE], seeds=1)
        report = write_report(store, tmp_path)
    assert sum(finding.claim.startswith("H-maze") for finding in report.findings) == 4
    assert {figure.name for section in report.sections for figure in section.figures} == {"h-maze"}
    json.dumps([finding._asdict() for finding in report.findings])


@pytest.fixture(scope="module")
def interrupted(folder, tmp_path_factory):
    """The same results, of which some agents lack a seed, as after a run that was stopped."""
    path = tmp_path_factory.mktemp("interrupted") / "results.sqlite"
    shutil.copy(folder / "results.sqlite", path)
    lacking = [
        (MUDDY.id, FWRL_EXACT.label, 1),
        (FOUR_ROOMS_LONG.id, "QL", 2),
        (H_MAZE.id, FWRL.label, 0),
        (VISUAL_ABSTRACT.id, FWRL_EXACT.label, 0),
    ]
    db = sqlite3.connect(path)
    with db:
        for run_ in lacking:
            for table in ("runs", "episodes", "visits", "steps", "audits"):
                db.execute(f"DELETE FROM {table} WHERE experiment = ? AND agent = ? AND seed = ?", run_)
    db.close()
    with Store(path) as store:
        yield store


def test_audits_are_compared_by_the_seeds_that_every_agent_has(stored, interrupted):
    for agent in MUDDY.audit:
        left = StoredResults(interrupted).audited(MUDDY, agent, "value")
        np.testing.assert_array_equal(left, stored.audited(MUDDY, agent, "value")[[0, 2]])


def test_visits_are_those_of_the_seeds_that_every_agent_has(folder, interrupted):
    with Store(folder / "results.sqlite") as store:
        runs = store.visits(FOUR_ROOMS_LONG.id, FWRL.label)
        numbers = store.episodes(FOUR_ROOMS_LONG.id, FWRL.label, "visits")[:2].astype(int)
    assert list(runs) == [0, 1, 2]
    distance, shortest = (np.concatenate([runs[seed][k] for seed in (0, 1)]) for k in range(2))
    first = np.cumsum(numbers.ravel()) - numbers.ravel()
    ratios = np.delete(distance / shortest, first[numbers.ravel() > 0])
    _, inefficiency = StoredResults(interrupted).logged_quartiles(FOUR_ROOMS_LONG, FWRL.label)
    assert inefficiency.median == pytest.approx(np.median(ratios))


def test_a_report_without_the_run_that_figures_show_lacks_those_figures(interrupted, tmp_path):
    write_report(interrupted, tmp_path)
    drawn = {path.stem for path in (tmp_path / "figures").iterdir()}
    assert drawn.isdisjoint({"h-maze", "intuition"})
    assert "worlds" in drawn
