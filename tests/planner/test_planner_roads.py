"""Roads to avoid: routes without them, against networkx on the same graph without these edges."""

import json

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fwrl
from fwrl.errors import FwrlError
from fwrl.planner import NoRouteError

STEPS = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef"), st.integers(1, 9)), min_size=1, max_size=18
)


@given(steps=STEPS, data=st.data())
@settings(max_examples=80, deadline=None)
@pytest.mark.parametrize("backup", ["expected", "best"])
def test_routes_without_roads_are_those_of_networkx(backup, steps, data):
    cost = {(a, b): c for a, b, c in steps if a != b}
    if not cost:
        return
    planner = fwrl.fit([(a, b, -float(c), b) for (a, b), c in cost.items()], connections=False)
    closed = data.draw(st.lists(st.sampled_from(sorted(cost)), unique=True, max_size=3))
    graph = nx.DiGraph()
    graph.add_nodes_from({end for pair in cost for end in pair})
    graph.add_weighted_edges_from((a, b, c) for (a, b), c in cost.items() if (a, b) not in closed)
    start, goal = data.draw(st.sampled_from(sorted(graph))), data.draw(st.sampled_from(sorted(graph)))
    options = {"backup": backup, "avoid_roads": closed}
    if not nx.has_path(graph, start, goal):
        with pytest.raises(NoRouteError):
            planner.plan(start, goal, **options)
        return
    route = planner.plan(start, goal, **options)
    assert not {(step.state, step.next_state) for step in route.steps} & set(closed)
    assert -route.value == nx.dijkstra_path_length(graph, start, goal)
    if start != goal:
        found = planner.alternatives(start, goal, 3, avoid_roads=closed)
        lengths = [
            nx.path_weight(graph, path, "weight") for path in nx.shortest_simple_paths(graph, start, goal, "weight")
        ]
        assert [-other.value for other in found] == lengths[:3]


def slippery():
    """From a, `short` reaches the goal three times in four and slides to the ditch once; `long` never slides."""
    rows = [("a", "short", -1.0, "goal")] * 3 + [("a", "short", -1.0, "ditch"), ("ditch", "out", -1.0, "goal")]
    return fwrl.fit([*rows, ("a", "long", -9.0, "goal")])


def test_an_action_that_may_lead_along_an_avoided_road_fails_there():
    planner = slippery()
    assert planner.plan("a", "goal").steps[0].action == "short"
    route = planner.plan("a", "goal", avoid_roads=[("a", "ditch")])
    assert (route.steps[0].action, route.arrival, route.value) == ("long", 1.0, -9.0)
    assert planner.plan("a", "goal").value == pytest.approx(-1.25)  # nothing is remembered of the closed road


def test_a_road_that_the_log_lacks_is_refused_and_no_route_names_the_road():
    planner = fwrl.fit([("a", "b"), ("b", "c")])
    with pytest.raises(FwrlError, match="can't avoid the road from 'b' to 'a'"):
        planner.plan("a", "c", avoid_roads=[("b", "a")])
    with pytest.raises(NoRouteError, match="without the road 'a' to 'b'"):
        planner.plan("a", "c", avoid_roads=[("a", "b")])


def test_the_shell_avoids_roads_even_of_names_with_arrows(call, tmp_path):
    saved = str(tmp_path / "log.fwrl")
    fwrl.fit([("a", "x->y"), ("x->y", "c"), ("a", "b"), ("b", "d"), ("d", "c")]).save(saved)
    code, out, _ = call("plan", saved, "a", "c", "--json")
    assert (code, len(json.loads(out)["steps"])) == (0, 2)
    for command in ("plan", "explain"):
        code, out, _ = call(command, saved, "a", "c", "--avoid-road", "a -> x->y", "--json")
        assert (code, len(json.loads(out)["steps"])) == (0, 3)
    code, out, err = call("plan", saved, "a", "c", "--avoid-road", "a,b")
    assert (code, out) == (2, "")
    assert "write a road as 'A -> B'" in err
