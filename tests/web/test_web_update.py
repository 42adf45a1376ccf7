"""One update: the triangles are those of Floyd and Warshall, and lead to what the agent knows afterwards."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import floyd_warshall
from web_match import match_of

from fwrl.web.play.match import Match
from fwrl.web.play.menus import AgentChoice
from fwrl.web.play.runner import EpisodeSettings
from fwrl.web.play.session import Session
from fwrl.web.play.update import relaxed
from fwrl.worlds import load_world

edges = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.floats(0.5, 4.0)), max_size=25)


@settings(max_examples=100)
@given(edges=edges)
def test_relaxing_edge_by_edge_gives_all_shortest_paths(edges):
    V = np.full((6, 6), -np.inf)
    np.fill_diagonal(V, 0.0)
    costs = np.full((6, 6), np.inf)
    for u, v, cost in edges:
        V, triangles = relaxed(V, u, v, -cost, closed=True)
        assert all(len({t.i, t.k, t.j}) == 3 for t in triangles)
        costs[u, v] = min(costs[u, v], cost)
    np.fill_diagonal(costs, 0.0)
    np.testing.assert_allclose(-V, floyd_warshall(costs))


def stepped(*choices, steps=120, world="four-rooms"):
    """The updates of single steps from the first one on."""
    session = Session(Match(load_world(world), choices))
    for _ in range(steps):
        session.step()
        yield session


@pytest.mark.parametrize("options", [(), (("relaxation", "paper"),), (("objective", "steps"),)])
def test_the_triangles_lead_from_what_fwrl_knew_to_what_it_knows(options):
    improved = 0
    for session in stepped(AgentChoice("fwrl", options), AgentChoice("qlcat"), steps=150):
        update = session.updates[0]
        told = update.to_json()
        if update.last.arrived or told["from"] == told["to"]:
            assert told["tried"] == 0
            continue
        old, new = told["pairs"]
        assert new - old == sum(t.improves and not np.isfinite(t.old) for t in update.triangles) + (
            not np.isfinite(update._before.V[tuple(np.searchsorted(update._cells, [told["from"], told["to"]]))])
        )
        improved += told["improved"]
    assert improved > 200


@pytest.mark.parametrize("once", [False, True])
def test_the_last_step_of_an_episode_is_told_like_the_others(once):
    session = Session(match_of("four-rooms", settings=EpisodeSettings(goal=12, steps=7, once=once)))
    for steps in range(1, 8):
        session.step()
        for runner, update in zip(session.match.runners, session.updates, strict=True):
            assert (runner.total_steps, update.to_json()["from"]) == (steps, update.last.observed[0])
            assert update.last is runner.last
    assert session.match.finished is once
    assert session.match.runners[0].step == (7 if once else 0)


def test_q_learning_changes_one_number_by_its_rule():
    for session in stepped(AgentChoice("fwrl"), AgentChoice("qlcat"), steps=60):
        told = session.updates[1].to_json()
        assert told["changed"] <= 1
        assert told["tried"] == 0
        assert told["matrix" if "matrix" in told else "pairs"] is None
        if not told["arrived"]:
            assert told["new"] == pytest.approx(told["reward"] + told["ahead"], abs=1e-12)


def test_triangles_are_shown_one_by_one_to_the_next_improvement_and_to_the_end():
    *_, session = stepped(AgentChoice("fwrl"), AgentChoice("qlcat"), steps=40)
    while session.updates[0].improved < 2:
        session.step()
    update = session.updates[0]
    matrix = update.matrix()
    assert matrix is not None
    assert (len(matrix), matrix[0][0]) == (68, 0.0)
    first = update.show("next")
    assert (first["shown"], first["triangle"]["k"]) == (1, update.triangles[0].k)
    seen = first["improved"]
    second = update.show("improvement")
    assert second["improved"] == seen + 1
    assert second["triangle"]["improves"]
    last = update.show("finish")
    assert (last["shown"], last["improved"]) == (last["tried"], update.improved)
    assert update.show("next")["shown"] == last["shown"]


def test_known_pairs_are_those_that_can_be_connected():
    match = match_of("h-maze")
    session = Session(match)
    assert session.knowledge_message()["sides"][0]["known"] == 0
    match.advance(1500)
    left, right = session.knowledge_message()["sides"]
    # Of the goal nothing is known but how to get there: a step on it leads to a new start.
    assert (left["known"], left["pairs"]) == (36, 42)
    assert [left["counts"][cell] for cell in match.floor] == [6] * 6 + [0]
    assert right["known"] == 6  # of one goal
    match.move_goal(0)
    match.advance(1500)
    assert [side["known"] for side in session.knowledge_message()["sides"]] == [42, 12]
