"""Navigators with a hand, on a tabletop with known geometry and known shortest plans."""

from __future__ import annotations

import functools
import itertools
import operator
import pickle
from typing import Any
from unittest.mock import Mock

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import fwrl
from fwrl.envs.tabletop import REACH, Tabletop
from fwrl.navigator.attachment import fit_attachments, middle_of
from fwrl.navigator.hand_graph import hand_graph, plan_to
from fwrl.navigator.hand_pursuit import Followable, HandPursuit
from fwrl.navigator.motion import LinearMotion, Steering
from fwrl.navigator.moves import Moments, Rides, Rules, order_of_moves
from fwrl.navigator.navigator import Navigator
from fwrl.navigator.nested_cells import fit_nested
from fwrl.navigator.operators import Operators, learn_operators, nearest, reachable, search, smallest_set
from fwrl.navigator.poses import difference, moved

HAND: dict[str, Any] = {"hand": fwrl.Pose((0, 1)), "opening": (2,)}


def things_of(table, moved=lambda indices: indices):
    things = {f"block {i}": fwrl.Pose((3 + 2 * i, 4 + 2 * i)) for i in range(table.blocks)}
    if table.drawer is not None:
        things["drawer"] = fwrl.Pose((3 + 2 * table.blocks,))
    return things


def switches_of(table):
    first = 3 + 2 * table.blocks + (table.drawer is not None)
    return {f"button {i}": (first + i,) for i in range(len(table.buttons))}


def fitted(table, episodes, **options):
    data = table.demonstrate(episodes, 300)
    return fwrl.fit_navigator(data, **HAND, things=things_of(table), switches=switches_of(table), **options)


def put(table, places, hand=(8.0, 4.0, 1.0)):
    """Put blocks and hand somewhere; return the observation."""
    table.reset(np.random.default_rng(0))
    table.places, table.hand = np.array(places, float), np.array(hand)
    return table.observation()


def moves_to(navigator, table, goal, limit=400):
    """How often a goal took hold of a thing until everything was at its place, let go; None if it took too long."""
    n = 2 * table.blocks
    taken, before, seen = 0, -1, table.observation()
    navigator.aim(goal)
    for _ in range(limit):
        seen = table.step(navigator.act(seen))
        taken += table.held >= 0 > before
        before = table.held
        slid = table.drawer is None or abs(seen[3 + n] - goal[3 + n]) < REACH
        there = np.abs(seen[3 : 3 + n] - goal[3 : 3 + n]).max(initial=0.0) < REACH and slid
        if (
            there
            and table.held < 0
            and (seen[len(seen) - len(table.buttons) :] == goal[len(goal) - len(table.buttons) :]).all()
        ):
            return taken
    return None


@pytest.fixture(scope="module")
def one():
    return fitted(Tabletop(1), 40)


@pytest.fixture(scope="module")
def two():
    return fitted(Tabletop(2), 80)


def test_attachment_is_the_geometry_of_the_hand(one):
    found = one.hand.things[0].attachment
    np.testing.assert_allclose(found.matrix, np.eye(2), atol=0.01)
    np.testing.assert_allclose(found.offset, 0.0, atol=0.05)
    assert found.spread < REACH  # the fingers take a block from nowhere farther


def test_a_drawer_is_a_line_from_its_closed_handle():
    found = fitted(Tabletop(0, drawer=6.0), 40).hand.things[0].attachment
    np.testing.assert_allclose(found.matrix, [[1.0], [0.0]], atol=0.03)
    np.testing.assert_allclose(found.offset, [6.0, 3.0], atol=0.1)


def test_cells_are_held_only_with_closed_fingers_around_the_thing(one):
    thing = one.hand.things[0]
    centres = thing.cells.centres[thing.held]
    assert len(centres) > 0
    np.testing.assert_allclose(centres[:, 2], 0.4, atol=0.01)  # the opening around a block
    assert np.linalg.norm(centres[:, :2], axis=1).max() < REACH


def test_a_block_is_taken_to_any_place_in_one_move(one):
    table = Tabletop(1)
    for start, goal in np.random.default_rng(0).uniform(1, 9, (8, 2)):
        wanted = put(table, [[goal, 0.5]])
        put(table, [[start, 0.5]])
        if abs(start - goal) > 1.0:
            assert moves_to(one, table, wanted) == 1, (start, goal)


@pytest.mark.parametrize(
    ("start", "goal", "moves"),
    [
        ([[2, 0.5], [7, 0.5]], [[7, 1.5], [7, 0.5]], 1),  # onto the other
        ([[2, 0.5], [7, 0.5]], [[5, 0.5], [5, 1.5]], 2),  # a new stack: the lower block first
        ([[2, 0.5], [7, 0.5]], [[7, 0.5], [2, 0.5]], 3),  # swap: park one
        ([[7, 1.5], [7, 0.5]], [[7, 0.5], [7, 1.5]], 4),  # turn a stack over where it is: both must leave
    ],
)
def test_stacking_and_swapping_take_the_least_possible_number_of_moves(two, start, goal, moves):
    table = Tabletop(2)
    wanted = put(table, goal)
    put(table, start)
    assert moves_to(two, table, wanted) == moves


def test_two_rooms_cannot_exchange_things():
    table = Tabletop(1, wall=5.0)
    navigator = fitted(table, 60)
    inside, across = put(table, [[3.5, 0.5]], hand=(3.0, 4.0, 1.0)), put(table, [[8.0, 0.5]], hand=(8.0, 4.0, 1.0))
    put(table, [[1.5, 0.5]], hand=(3.0, 4.0, 1.0))
    assert moves_to(navigator, table, inside) == 1
    navigator.aim(across)
    with pytest.raises(fwrl.NoPlanError):
        navigator.act(inside)


def test_a_locked_drawer_needs_its_button():
    table = Tabletop(1, buttons=(2.0, 5.0), drawer=6.0, lock=0)
    navigator = fitted(table, 60)
    block, drawer = navigator.hand.things
    assert (block.mask, block.needed) == (0, 0)
    assert (drawer.mask, drawer.needed) == (1, 1)  # the first switch must be 1, the other doesn't matter
    put(table, [[8.0, 0.5]])
    table.slid, table.switches = 1.5, np.array([0, 1])
    wanted = table.observation()
    table.slid = 0.2  # closed and locked: unlock, slide, lock again
    assert moves_to(navigator, table, wanted) is not None


def test_translation_rotation_and_scaling_change_nothing():
    table = Tabletop(1)
    data = table.demonstrate(40, 300)
    turn = np.array([[np.cos(0.7), np.sin(0.7)], [-np.sin(0.7), np.cos(0.7)]])

    def seen(observation):
        changed = np.array(observation, float)
        for columns in ([0, 1], [3, 4]):
            changed[..., columns] = 3.0 * np.asarray(observation)[..., columns] @ turn + [40.0, -7.0]
        return changed

    def done(action):
        return np.concatenate([np.asarray(action)[..., :2] @ turn, np.asarray(action)[..., 2:]], axis=-1)

    changed = [(seen(o), done(a)) for o, a in data]
    navigator = fwrl.fit_navigator(changed, **HAND, things=things_of(table))
    plain = fwrl.fit_navigator(data, **HAND, things=things_of(table))
    assert navigator.hand is not None
    assert plain.hand is not None
    assert navigator.hand.things[0].attachment.spread == pytest.approx(3.0 * plain.hand.things[0].attachment.spread)
    arrived = 0
    for start, goal in ((2.0, 7.0), (8.0, 3.0), (5.0, 1.5), (1.5, 8.5)):
        wanted = seen(put(table, [[goal, 0.5]]))
        observation = put(table, [[start, 0.5]])
        navigator.aim(wanted)
        for _ in range(200):
            action = navigator.act(seen(observation))
            observation = table.step(np.concatenate([action[:2] @ turn.T, action[2:]]))
            if abs(observation[3] - goal) < REACH and table.held < 0:
                arrived += 1
                break
    assert arrived == 4


def free(flips, before=(), kind=()):
    """Operators without preconditions, and counted edges."""
    flips = np.array(flips)
    none = np.zeros(len(flips), np.int64)
    trusted = np.full(len(flips), len(before) == 0)
    return Operators(flips, none, none, trusted, np.array(before, np.int64), np.array(kind, np.int64))


def flipped_by(flips, chosen):
    return functools.reduce(operator.xor, (flips[o] for o in chosen), 0)


@given(st.lists(st.integers(1, 63), max_size=8), st.integers(0, 63))
def test_the_smallest_set_of_operators_equals_trying_all(flips, wanted):
    sets = (chosen for k in range(len(flips) + 1) for chosen in itertools.combinations(range(len(flips)), k))
    first = next((chosen for chosen in sets if flipped_by(flips, chosen) == wanted), None)
    found = smallest_set(np.array(flips, np.int64), wanted)
    assert (found is None) == (first is None)
    if found is not None and first is not None:
        assert (len(found), flipped_by(flips, found)) == (len(first), wanted)


def test_a_plan_for_24_switches_that_flip_their_neighbours_too():
    places = list(itertools.product(range(4), range(6)))
    near = [[abs(a - x) + abs(b - y) <= 1 for x, y in places] for a, b in places]
    flips = [sum(1 << k for k, flip in enumerate(row) if flip) for row in near]
    kinds = search(free(flips), 0, 2**24 - 1)
    assert kinds is not None
    assert flipped_by(flips, kinds) == 2**24 - 1
    assert len(kinds) == len(set(kinds))


@pytest.mark.parametrize("seed", range(8))
def test_search_from_both_ends_equals_breadth_first_search(seed):
    rng = np.random.default_rng(seed)
    bits = int(rng.integers(3, 8))
    flips = np.unique(rng.integers(1, 2**bits, int(rng.integers(2, 7))))
    mask = rng.integers(0, 2**bits, len(flips)) & rng.integers(0, 2**bits, len(flips))
    needed = mask & rng.integers(0, 2**bits, len(flips))
    before, kind = rng.integers(0, 2**bits, 10), rng.integers(0, len(flips), 10)
    operators = Operators(flips, mask, needed, rng.random(len(flips)) < 0.7, before, kind)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(2**bits))
    for state, o in itertools.product(range(2**bits), range(len(flips))):
        if operators.trusted[o] and state & mask[o] == needed[o]:
            graph.add_edge(state, state ^ int(flips[o]))
    graph.add_edges_from((int(s), int(s ^ flips[o])) for s, o in zip(before, kind, strict=True))
    for start, goal in rng.integers(0, 2**bits, (40, 2)).tolist():
        kinds = search(operators, start, goal)
        if kinds is None:
            assert not nx.has_path(graph, start, goal)
        else:
            assert len(kinds) == nx.shortest_path_length(graph, start, goal)
            state = start
            for o in kinds:
                assert graph.has_edge(state, state ^ int(flips[o]))
                state ^= int(flips[o])
            assert state == goal
    assert set(reachable(operators, 0).tolist()) == {0, *nx.descendants(graph, 0)}


def test_counted_edges_alone_plan_only_what_was_seen():
    operators = free([1, 2], before=[0, 1], kind=[0, 1])
    assert search(operators, 0, 3) == [0, 1]
    assert search(operators, 3, 0) is None
    assert nearest(reachable(operators, 3), 1) == 3


def learned(contradicted):
    rng = np.random.default_rng(0)
    states = rng.integers(0, 8, 200)
    # The button at 0 flips switch 0; that at 5 flips switch 1, and switch 2 as well while switch 0 is on.
    place = rng.choice([0.0, 5.0], 200)
    flips = np.where(place == 0.0, 1, np.where(states & 1, 6, 2))
    if contradicted:
        flips[np.flatnonzero(place == 0.0)[7]] = 5  # just once, for no reason that can be seen
    episode = np.arange(200) // 4
    return learn_operators(states, flips, episode, place[:, None] + rng.normal(0, 0.1, (200, 1)), states, 3)[0]


def test_preconditions_are_what_never_varied():
    operators = learned(contradicted=False)
    rules = dict(
        zip(operators.flips.tolist(), zip(operators.mask.tolist(), operators.needed.tolist(), strict=True), strict=True)
    )
    assert rules == {1: (0, 0), 2: (1, 0), 6: (1, 1)}
    assert operators.trusted.all()


def test_a_pattern_that_was_ever_contradicted_is_no_operator():
    operators = learned(contradicted=True)
    trusted = dict(zip(operators.flips.tolist(), operators.trusted.tolist(), strict=True))
    assert not trusted[1]
    assert trusted[2]
    assert trusted[6]


def test_buttons_that_flip_several_switches_are_pressed_in_the_right_states():
    table = Tabletop(0, buttons=(1.0, 3.0, 5.0, 7.0), flips=((0, 1), (1, 2), (2, 3), (3,)))
    navigator = fitted(table, 30)
    for seed in range(4):
        wanted = table.reset(np.random.default_rng(seed))
        table.reset(np.random.default_rng(seed + 100))
        assert moves_to(navigator, table, wanted) == 0  # nothing to hold


def test_an_unreachable_state_of_switches_is_refused_with_the_nearest_one():
    table = Tabletop(0, buttons=(2.0, 6.0), flips=((0, 1), (0, 1)))
    navigator = fitted(table, 30)
    put(table, [])
    table.switches = np.array([0, 0])
    start = table.observation()
    table.switches = np.array([0, 1])
    navigator.aim(table.observation())
    with pytest.raises(fwrl.NoPlanError, match="button") as refused:
        navigator.act(start)
    assert refused.value.nearest in ({"button 0": 0, "button 1": 0}, {"button 0": 1, "button 1": 1})


def test_a_saved_navigator_acts_and_explains_as_before(two, tmp_path):
    two.save(tmp_path / "two.fwrl")
    loaded = fwrl.load(tmp_path / "two.fwrl")
    assert isinstance(loaded, Navigator)
    assert repr(loaded) == repr(two)
    wanted, start = put(Tabletop(2), [[7, 0.5], [2, 0.5]]), put(Tabletop(2), [[2, 0.5], [7, 0.5]])
    for navigator in (two, loaded):
        navigator.aim(wanted)
    assert loaded.explain(start) == two.explain(start)
    table = Tabletop(2)
    seen = put(table, [[2, 0.5], [7, 0.5]])
    for _ in range(30):
        action = two.act(seen)
        np.testing.assert_allclose(loaded.act(seen), action, atol=1e-9)
        seen = table.step(action)


def test_many_errands_run_side_by_side_with_predict(two):
    tables, goals = [Tabletop(2), Tabletop(2)], []
    for table, places in zip(tables, ([[7, 0.5], [2, 0.5]], [[4, 0.5], [7, 0.5]]), strict=True):
        goals.append(put(table, places))
        put(table, [[2, 0.5], [7, 0.5]])
    state, steps, ended = None, 0, np.zeros(2, np.int64)
    while (ended == 0).any() and steps < 300:
        seen = np.stack([table.observation() for table in tables])
        actions, state = two.predict({"achieved_goal": seen, "desired_goal": np.stack(goals)}, state)
        steps += 1
        for i, (table, action, goal) in enumerate(zip(tables, actions, goals, strict=True)):
            ended[i] = ended[i] or steps * (np.abs(table.step(action)[3:7] - goal[3:7]).max() < REACH)
    assert 0 < ended[1] < ended[0]  # one move, three moves


def test_value_and_arrival_of_an_errand_are_about_what_happens(two):
    table = Tabletop(2)
    goal, start = put(table, [[7, 0.5], [2, 0.5]]), put(table, [[2, 0.5], [7, 0.5]])
    two.aim(goal)
    seen, steps = start, 0
    while np.abs(seen[3:7] - goal[3:7]).max() > REACH:
        seen, steps = table.step(two.act(seen)), steps + 1
    assert -two.value(start, goal) == pytest.approx(steps, rel=0.5)
    assert 0.9 < two.arrival(start, goal) <= 1.0
    assert 0.0 < two.confidence(start, goal) < two.arrival(start, goal)
    assert (two.value(goal, goal), two.arrival(goal, goal)) == (0.0, 1.0)


def test_nothing_is_expected_of_what_was_never_seen():
    table = Tabletop(1, wall=5.0)
    navigator = fitted(table, 60)
    inside, across = put(table, [[1.5, 0.5]], hand=(3.0, 4.0, 1.0)), put(table, [[8.0, 0.5]], hand=(8.0, 4.0, 1.0))
    assert navigator.value(inside, across) == -navigator.penalty
    assert navigator.arrival(inside, across) == navigator.confidence(inside, across) == 0.0


def test_worker_processes_take_a_navigator_with_a_hand(two):
    goal, start = put(Tabletop(2), [[7, 0.5], [2, 0.5]]), put(Tabletop(2), [[2, 0.5], [7, 0.5]])
    expected = two.value(start, goal)  # fills what it keeps
    assert pickle.loads(pickle.dumps(two)).value(start, goal) == expected


def test_explain_tells_why_a_block_must_leave_first(two):
    table = Tabletop(2)
    wanted = put(table, [[7, 0.5], [2, 0.5]])
    two.aim(wanted)
    told = two.explain(put(table, [[2, 0.5], [7, 0.5]]))
    first, second, third = told.split("; then block")
    assert "out of the way" in first
    assert "nobody put it like that with things where they are now" in second
    assert third.count("(") >= 1


def test_options_of_hands_are_checked():
    data = Tabletop(1).demonstrate(2, 50)
    block: dict[str, Any] = {"things": {"block 0": fwrl.Pose((3, 4))}}
    with pytest.raises(fwrl.OptionError, match="need a hand"):
        fwrl.fit_navigator(data, **block)
    with pytest.raises(fwrl.OptionError, match="don't go with a hand"):
        fwrl.fit_navigator(data, **HAND, **(block | {"coordinates": (0, 1)}))
    with pytest.raises(fwrl.OptionError, match="name things, switches or both"):
        fwrl.fit_navigator(data, **HAND)
    with pytest.raises(fwrl.OptionError, match="other values"):
        fwrl.fit_navigator(data, **HAND, switches={"lamp": (3,)})
    with pytest.raises(fwrl.FwrlError, match="from 0 to 4"):
        fwrl.fit_navigator(data, hand=fwrl.Pose((0, 1)), things={"far": fwrl.Pose((30, 31))})


def test_to_the_plan_all_held_cells_are_one(one):
    thing = one.hand.things[0]
    held = np.flatnonzero(thing.held)
    assert len(held) > 1
    assert set(thing.graph.source) & set(held) == {held[0]} == set(thing.graph.target) & set(held)


def test_six_episodes_teach_to_let_go_wherever_a_block_was_taken():
    """Few held cells were seen to let go: what lets go in one does so in the others."""
    table = Tabletop(2)
    navigator, rng = fitted(table, 6), np.random.default_rng(1)
    taken = []
    for _ in range(20):
        x = rng.permutation(np.arange(1.5, 9.5, 1.6))[:4]
        wanted = put(table, [[x[0], 0.5], [x[1], 0.5]])
        put(table, [[x[2], 0.5], [x[3], 0.5]])
        taken.append(moves_to(navigator, table, wanted))
    assert taken.count(2) >= 15  # one before


def test_a_block_that_was_pushed_onto_the_next_one_goes_first(two):
    table = Tabletop(2)
    wanted = put(table, [[4.0, 0.5], [8.0, 0.5]])
    put(table, [[4.0, 0.5], [2.0, 0.5]])
    two.aim(wanted)
    assert "Grasp block 1" in two.explain(table.step(two.act(table.observation())))
    table.places = np.array([[2.0, 1.5], [2.0, 0.5]])
    assert "Grasp block 0" in two.explain(table.step(two.act(table.observation())))


def test_a_hand_less_than_a_cell_from_a_held_one_has_the_thing_and_no_other_has(one):
    table, thing = Tabletop(1), one.hand.things[0]
    held = thing.cells.centres[thing.held]
    for apart, expected in ((0.0, True), (1.5, False)):
        hand = held[np.argmax(held[:, 1])] + [0.0, apart * thing.unit, 0.0]
        seen = one.hand.scene.seen(put(table, [[5.0, 0.5]], hand=(5.0 + hand[0], 0.5 + hand[1], hand[2])))
        assert thing.is_held(seen, 0) == expected


def test_a_circle_of_better_and_better_cells_is_left_by_a_detour():
    """Every window but the last gets on, and the last one throws the hand back to the first cell."""
    centres = np.array([[0.0], [1.0], [2.0], [8.0]])
    cells, _ = fit_nested(centres, np.ones(1), np.zeros((1, 1)), 100.0)
    source, first = np.array([0, 1, 2]), np.zeros(3, np.int64)
    graph = hand_graph(4, 0, source, first, source + 1, first, np.zeros((3, 1)), centres[source + 1])
    plan = plan_to(graph, np.arange(4) == 3, 1, 0.0)
    actions = np.array([[1.0], [-1.0]])
    steering = Steering(LinearMotion.of(actions, np.zeros((2, 1)), actions), np.ones(1), np.ones(1))
    drawn = Mock(wraps=np.random.default_rng(0))
    pursuit = HandPursuit(Followable(cells, plan, steering, 1), 0, drawn, {})
    for step in range(60):
        pursuit.act(centres[step % 3], np.zeros(1))
    assert drawn.integers.call_count > 10


@given(arrays(float, (5, 4), elements=st.floats(-3, 3)), arrays(float, (5, 4), elements=st.floats(-3, 3)))
def test_moved_undoes_difference(to, start):
    for points in (to, start):
        points[:, 1:3] = np.stack([np.cos(points[:, 1]), np.sin(points[:, 1])], axis=1)
    np.testing.assert_allclose(moved(start, difference(to, start, 1, 2), 1, 2), to, atol=1e-12)


@pytest.fixture(scope="module")
def tray():
    return fitted(Tabletop(1, drawer=5.0, tray=True), 60)


def in_tray(table, x, slid):
    put(table, [[x, 0.5]], hand=(2.0, 4.0, 1.0))
    table.slid = slid
    return table.observation()


def test_a_passenger_does_not_tell_where_the_hand_has_it(tray):
    """A block in the tray follows the hand on the handle, 2.5 above it."""
    for thing, place in zip(tray.hand.things, ([0.0, 0.0], [5.0, 3.0]), strict=True):
        np.testing.assert_allclose(thing.attachment.offset, place, atol=0.1)
        assert thing.attachment.spread < REACH
        assert np.linalg.norm(thing.cells.centres[thing.held][:, :2], axis=1).max() < REACH


def test_a_block_in_the_tray_comes_along_and_one_beside_it_does_not(tray):
    block = tray.hand.things[0]
    assert len(block.rides.near(1, np.array([0.0, -2.5]), block.unit)) > 0
    assert len(block.rides.near(1, np.array([1.5, -2.5]), block.unit)) == 0
    np.testing.assert_allclose(
        block.rides.moved(1, np.array([0.0, -2.5]), np.array([-1.5, 0.0]), block.unit), [-1.5, 0.0], atol=0.1
    )


def test_a_block_gets_into_the_cabinet_by_a_ride_in_three_moves(tray):
    """Open the drawer, put the block into the tray, close the drawer: no hand reaches into the cabinet."""
    table = Tabletop(1, drawer=5.0, tray=True)
    for start in (1.5, 2.0, 9.0):
        wanted = in_tray(table, 5.0, 0.0)
        in_tray(table, start, 0.0)
        assert moves_to(tray, table, wanted) == 3


def test_of_things_that_follow_the_hand_has_the_nearest():
    """The hand carries thing 0 for ten windows, thing 1 for ten, and thing 1 with thing 0 on board for ten."""
    rng = np.random.default_rng(0)
    place, step = rng.uniform(0, 9, (30, 2)), rng.uniform(0.5, 1.0, (30, 2))
    carried, rides = np.repeat([0, 1, 1], 10), np.repeat([False, False, True], 10)
    rows = []
    for thing in (0, 1):
        away = np.where(carried == thing, 0.0, 2.0)[:, None] + rng.normal(0, 0.01, (30, 2))
        goes = (carried == thing) | (rides & (thing == 0))
        rows.append(np.stack([place + away, place + away + step * goes[:, None]], axis=1).reshape(60, 2))
    hand = np.stack([place, place + step], axis=1).reshape(60, 2)
    start = np.arange(0, 60, 2)
    found, has = fit_attachments(["zero", "one"], rows, hand, start, start + 1)
    np.testing.assert_allclose([attachment.offset for attachment in found], 0.0, atol=0.1)
    assert np.array_equal(has, [carried == 0, carried == 1])


def test_a_window_in_which_another_thing_moves_does_not_show_a_free_hand():
    """To press, nobody carries the drawer: windows in which it slides farther than a cell don't count."""
    data = Tabletop(0, buttons=(1.0, 3.0), drawer=6.0).demonstrate(40, 300)
    navigator = fitted(Tabletop(0, buttons=(1.0, 3.0), drawer=6.0), 40)
    k, unit = navigator.settings.window, navigator.hand.things[0].unit
    slid = np.concatenate([np.abs(seen[k:, 3] - seen[:-k, 3]) for seen, _ in data])
    assert (slid > 1.1 * unit).sum() > 100
    counted = navigator.hand.switches.graph.times.sum()
    assert (slid <= 0.9 * unit).sum() <= counted <= (slid <= 1.1 * unit).sum()  # J is 1 to within a percent


def test_the_hand_has_a_thing_only_in_its_near_zone():
    """In four episodes a block happens to move like the hand, 3 away from it. Nobody picked it up there."""
    table = Tabletop(1)
    data = table.demonstrate(40, 300)
    actions = np.tile([[0.5, 0.0, 0.0]], (20, 1))
    hand = np.stack([1.0 + 0.125 * np.arange(21), np.full(21, 4.0), np.ones(21)], axis=1)
    parallel = np.concatenate([hand, hand[:, :2] + [3.0, -0.5]], axis=1)
    navigator = fwrl.fit_navigator(data + [(parallel, actions)] * 4, **HAND, things=things_of(table))
    assert navigator.hand is not None
    assert navigator.hand.things[0].picked.episode.max() < 40


def test_what_moves_along_was_held_only_if_the_hand_was_where_things_are_held():
    """In two episodes a block moves like the hand, 0.8 away from it: too few to learn another way to hold it."""
    table = Tabletop(1)
    data = table.demonstrate(40, 300)
    actions = np.tile([[0.5, 0.0, 0.0]], (20, 1))
    hand = np.stack([1.0 + 0.125 * np.arange(21), np.full(21, 1.3), np.ones(21)], axis=1)
    parallel = np.concatenate([hand, hand[:, :2] + [0.0, -0.8]], axis=1)
    still = np.repeat(parallel[-1:], 20, axis=0)
    ended = (np.concatenate([parallel, still]), np.concatenate([actions, np.zeros((20, 3))]))
    navigator = fwrl.fit_navigator([*data, ended, ended], **HAND, things=things_of(table))
    assert navigator.hand is not None
    thing = navigator.hand.things[0]
    assert thing.cells.near > 0.8
    assert thing.picked.episode.max() < 40


def towers(seen):
    """Rules of a table with n places in a line: carrying costs 1, and `seen` says how unlike a put is."""
    return Rules(
        pick=lambda i, places: 0,
        put=seen,
        carry=lambda i, a, b: 1.0,
        ready=lambda i, bits: True,
        park=lambda i: np.zeros((0, 1)),
        apart=lambda i, a, b: float(np.abs(a - b).sum()),
        after=lambda i, to, places: [to if j == i else y for j, y in enumerate(places)],
        rides=lambda i, places: False,
        aboard=lambda i, carrier, places: [],
        press=1.0,
        give_up=100.0,
        operators=None,
    )


def test_a_stack_that_nobody_built_is_built_from_below():
    goal = [np.array([30.0]), np.array([20.0]), np.array([10.0])]  # 2 below 1 below 0

    def seen(i, place, places):
        missing = sum(not np.array_equal(places[j], goal[j]) for j in range(i + 1, 3))
        return 1 + missing  # nobody built it; each block that isn't there yet is one more reason

    moves = order_of_moves(towers(seen), [np.array([float(i)]) for i in range(3)], goal, 0, 0)
    assert moves is not None
    assert [move.thing for move in moves] == [2, 1, 0]
    assert all(move.unlike for move in moves)


def test_how_unlike_counts_the_things_that_were_never_there():
    episodes, n = np.arange(6), 6
    around = np.tile([[[0.0, -1.0], [4.0, 0.0]]], (n, 1, 1))
    moments = Moments(np.zeros((n, 2)), around, np.zeros((n, 2), np.bool_), episodes)
    rest = np.zeros(2, np.bool_)
    own = np.zeros(2)
    assert moments.unlike(own, around[0], rest, 0.5) == 0
    assert moments.unlike(own, np.array([[0.0, 1.0], [4.0, 0.0]]), rest, 0.5) == 2  # one is elsewhere
    assert moments.unlike(own, np.array([[0.0, 1.0], [-4.0, 0.0]]), rest, 0.5) == 3
    assert moments.unlike(own, around[0], np.array([True, False]), 0.5) == 2  # it lay there, but not on board
    assert moments.unlike(own + 9.0, around[0], rest, 0.5) == 3  # nobody put it there


def test_only_a_passenger_may_end_farther_from_its_goal_than_a_cell():
    """A thing 3 from its goal that can't be moved: enough if it's on board of another, no plan otherwise."""
    rules = towers(lambda i, place, places: 0)._replace(carry=lambda i, a, b: float(np.inf))
    start, goal = [np.array([0.0])], [np.array([3.0])]
    assert order_of_moves(rules, start, goal, 0, 0) is None
    assert order_of_moves(rules._replace(rides=lambda i, places: True), start, goal, 0, 0) == []
    aboard_at_goal = rules._replace(rides=lambda i, places: bool(places[0][0] == 3.0))
    assert order_of_moves(aboard_at_goal, start, goal, 0, 0) is None


def test_a_ride_needs_half_of_the_times_and_three_episodes():
    def rides(along, episode):
        n = len(along)
        before, after = np.zeros((n, 2, 1)), np.ones((n, 2, 1))
        return Rides(np.zeros(n, np.int64), before, after, np.array(along), np.array(episode))

    here = np.zeros(1)
    assert len(rides([True, True, True, False], [0, 1, 2, 3]).near(0, here, 0.5)) == 3
    assert len(rides([True, True, True], [0, 1, 1]).near(0, here, 0.5)) == 0
    assert len(rides([True, True, True] + [False] * 4, range(7)).near(0, here, 0.5)) == 0
    assert rides([True] * 3, range(3)).moved(0, here + 2.0, here, 0.5) is None


def test_a_lost_hand_goes_to_the_cell_that_is_fewest_of_its_own_widths_away():
    """Cells at 1 and 40: the second is 16 wide, so 10 from it is nearer than 9 from the first."""
    centres = np.array([[1.0], [40.0]])
    cells, _ = fit_nested(centres, np.ones(1), np.zeros((1, 1)), 2.0)
    source, first = np.array([0, 1]), np.zeros(2, np.int64)
    graph = hand_graph(2, 1, source, first, np.array([2, 2]), first, np.zeros((2, 1)), centres)
    plan = plan_to(graph, np.arange(3) == 2, 1, 0.0)
    actions = np.array([[1.0], [-1.0]])
    steering = Steering(LinearMotion.of(actions, np.zeros((2, 1)), actions), np.ones(1), np.ones(1))
    assert Followable(cells, plan, steering, 1).nearest(np.array([10.0]), 1).tolist() == [1]
    assert Followable(cells, plan, steering, 1).nearest(np.array([1.5]), 1).tolist() == [0]


def test_a_block_comes_to_its_place_from_above_because_nobody_slid_one_along_the_table(one):
    table = Tabletop(1)
    for beside in (-0.6, -0.5, 0.6, 0.8):
        one.aim(put(table, [[5.0, 0.5]]))
        seen = put(table, [[5.0 + beside, 0.5]], hand=(5.0 + beside, 0.5, 0.4))
        table.held = 0
        assert one.act(seen)[1] > 0.5  # up


def test_a_grasp_counts_no_window_in_which_another_thing_moves():
    table = Tabletop(1, drawer=6.0)
    data = table.demonstrate(40, 300)
    navigator = fitted(table, 40)
    k, unit = navigator.settings.window, navigator.hand.things[0].unit
    slid = np.concatenate([np.abs(seen[k:, 5] - seen[:-k, 5]) for seen, _ in data])
    assert (slid > 1.1 * unit).sum() > 100
    counted = navigator.hand.things[0].graph.times.sum()
    assert (slid <= 0.9 * unit).sum() <= counted <= (slid <= 1.1 * unit).sum()


def test_when_a_block_falls_from_the_hand_the_moves_are_planned_again(one, monkeypatch):
    table = Tabletop(1)
    one.aim(put(table, [[7.0, 0.5]]))
    seen = put(table, [[3.0, 0.5]])
    for _ in range(4):
        while table.held < 0:
            seen = table.step(one.act(seen))
        seen = table.step(one.act(seen))
    table.held, table.places[0] = -1, [1.5, 0.5]
    planned = Mock(wraps=one.hand.moves)
    monkeypatch.setattr(one.hand, "moves", planned)
    seen = table.observation()
    for _ in range(2 * one.settings.window):
        seen = table.step(one.act(seen))
    planned.assert_called()


def test_a_thing_is_not_moved_to_where_it_is():
    """Thing 0 may go to its goal once thing 1 is not exactly where it was; half a cell away is where it was."""
    start, goal = [np.array([0.0]), np.array([5.0])], [np.array([9.0]), np.array([5.2])]
    rules = towers(lambda i, place, places: int(i == 0 and places[1][0] < 5.3))._replace(
        park=lambda i: np.array([[5.5], [5.8]])
    )
    moves = order_of_moves(rules, start, goal, 0, 0)
    assert moves is not None
    assert [(move.thing, move.unlike) for move in moves] == [(0, True)]


def test_running_off_with_half_open_fingers_is_no_release():
    """In 40 episodes a hand opens its fingers at full speed and leaves immediately, so the block is dragged along."""
    table = Tabletop(1)
    data = table.demonstrate(40, 300)
    rng = np.random.default_rng(0)
    for _ in range(40):
        put(table, [[3.0, 0.5]], hand=(3.0 + rng.uniform(-0.1, 0.1), 0.5, 0.4))
        table.held = 0
        actions = [[1.0, 0.0, -1.0]] * 4 + [[1.0, 0.0, 1.0]] + [[1.0, 0.0, 0.0]] * 8
        seen = [table.observation(), *[table.step(action) for action in actions]]
        data.append((np.array(seen), np.array(actions)))
    navigator = fwrl.fit_navigator(data, **HAND, things=things_of(table))
    assert navigator.hand is not None
    thing = navigator.hand.things[0]
    held = int(np.argmax(thing.held))
    outcomes = (thing.graph.source[thing.graph.pair] == held) & (thing.graph.action[:, 0] > 0.7)
    assert outcomes.any()
    assert (thing.graph.target[outcomes] == held).all()


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_middle_and_its_spread_are_those_of_a_normal_distribution_whatever_the_outliers(d):
    rng = np.random.default_rng(d)
    points = rng.normal(5.0, 2.0, (20_000, d))
    expected = float(np.quantile(np.linalg.norm(points - 5.0, axis=1), 0.9))
    middle, spread = middle_of(points)
    np.testing.assert_allclose(middle, 5.0, atol=0.1)
    assert spread == pytest.approx(expected, rel=0.03)
    points[:2_000] = 40.0  # one in ten
    middle, spread = middle_of(points)
    np.testing.assert_allclose(middle, 5.0, atol=0.3)
    assert spread == pytest.approx(expected, rel=0.2)


def test_pushes_in_passing_do_not_widen_the_cells_of_a_drawer():
    """In every episode the hand also slides the drawer along with its back, 1 to 3 above the handle."""
    table, rng = Tabletop(0, drawer=6.0), np.random.default_rng(0)
    plain = table.demonstrate(40, 300)
    data = []
    for seen, actions in plain:
        height = rng.uniform(1.0, 3.0)
        by = 0.2 * rng.choice([-1.0, 1.0]) * np.arange(1, 21)
        x, slid = seen[-1, 0], seen[-1, 3]
        pushed = np.stack([x + by, np.full(20, 3.0 + height), np.ones(20), slid + by], axis=1)
        data.append((np.vstack([seen, pushed]), np.vstack([actions, np.tile([[0.8, 0.0, 0.0]], (20, 1))])))
    spreads = []
    for episodes in (plain, data):
        hand = fwrl.fit_navigator(episodes, **HAND, things=things_of(table)).hand
        assert hand is not None
        spreads.append(hand.things[0].attachment.spread)
    assert spreads[1] < 1.5 * spreads[0]


def test_a_block_in_the_air_at_the_end_of_an_episode_was_not_put_there():
    table = Tabletop(1)
    navigator = fitted(table, 40)
    put_at = navigator.hand.things[0].put.own
    np.testing.assert_allclose(put_at[:, 1], 0.5, atol=0.15)  # on the table
    ends = [seen[-1] for seen, _ in table.demonstrate(40, 300)]
    assert any(seen[4] > 1.0 for seen in ends)  # some episodes do end so


def test_what_is_aboard_at_its_goal_is_not_put_there_before_the_carrier_is():
    """Thing 0 rides on thing 1 at the goal. Thing 1 goes to its goal first, although thing 0 is cheaper to move now."""
    goal = [np.array([9.0]), np.array([9.0])]
    rules = towers(lambda i, place, places: 0)._replace(
        rides=lambda i, places: bool(i == 0 and abs(places[0][0] - places[1][0]) < 1.0)
    )
    moves = order_of_moves(rules, [np.array([0.0]), np.array([4.0])], goal, 0, 0)
    assert moves is not None
    assert [move.thing for move in moves] == [1, 0]


def test_what_is_put_aboard_is_brought_there_as_others_were(tray):
    """To the tray, only from where blocks were put into the tray; to the table, as blocks were put on the table."""
    block, plan = tray.hand.things[0], tray.hand.plan(0, "carry")
    codes = np.unique(block.approach.cells.centres[:, 2].round(3))
    assert len(codes) == 2
    on, off = in_tray(Tabletop(1, drawer=5.0, tray=True), 6.5, 1.5), in_tray(Tabletop(1, drawer=5.0, tray=True), 2.0, 0)
    for seen, code in ((on, codes[1]), (off, codes[0])):
        now = tray.hand.see(seen)
        assert tray.hand.aboard(0, now.things[0], now.things) == pytest.approx(code)
    centres = block.approach.cells.centres[:, 2]
    edges = centres[plan.plan.graph.source[plan.plan.graph.pair]], centres[plan.plan.graph.target]
    np.testing.assert_allclose(*edges, atol=1.0)  # no window leads from one kind of place to the other


def test_the_ride_that_was_taken_most_often_is_proposed_first(tray):
    hand, table = tray.hand, Tabletop(1, drawer=5.0, tray=True)
    goal = hand.see(in_tray(table, 5.0, 0.0))
    found = hand.rules().aboard(0, 1, goal.things)
    places = np.array([[*own, *carrier] for own, carrier in found])
    near = [(np.abs(places - one) <= hand.things[0].unit).all(axis=1).sum() for one in places]
    assert near[0] >= np.median(near)
    assert near[0] > near[-1]


def test_a_block_that_does_not_come_closer_is_let_go(one):
    """Nothing moves. The hand opens after the number of steps that carrying a block usually takes."""
    table = Tabletop(1)
    one.aim(put(table, [[8.0, 0.5]]))
    put(table, [[4.0, 0.5]], hand=(4.0, 0.5, 0.4))
    table.held = 0
    stuck = table.observation()
    opens = [bool(one.act(stuck)[2] > 0.0) for _ in range(200)]
    data = table.demonstrate(40, 300)
    longest = max(np.diff(np.flatnonzero(np.abs(seen[:, 2] - 0.4) > 0.01)).max() for seen, _ in data)
    assert opens.index(True) <= longest
    assert not any(opens[: opens.index(True) // 2])


def test_an_approach_that_pushed_another_block_away_is_not_tried_again(two):
    """Each time the hand sets out from the same place to the same block, the other one moves by more than a cell."""
    table, taken = Tabletop(2), set()
    two.aim(put(table, [[8.0, 0.5], [5.6, 0.5]]))
    for k in range(4):
        seen = put(table, [[2.0, 0.5], [5.35 + 0.5 * (k % 2), 0.5]], hand=(5.0, 2.0, 1.0))
        taken.add(tuple(two.act(seen).round(6)))
        assert "Grasp block 0" in two.explain(seen)
    assert len(taken) > 1


def test_a_carrier_less_than_a_cell_from_where_a_ride_began_is_there_already():
    """Thing 0 goes to 9 on board of thing 1 only: put at 4 while thing 1 is at 5. It's at 5.2, which counts as 5."""
    goal = [np.array([9.0]), np.array([10.0])]

    def after(i, to, places):
        found = [to if j == i else y for j, y in enumerate(places)]
        if i == 1 and places[1][0] - places[0][0] == 1.0:
            found[0] = to - 1.0
        return found

    rules = towers(lambda i, place, places: int(i == 0 and not (place[0] == 4.0 and places[1][0] == 5.0)))._replace(
        after=after, aboard=lambda i, carrier, places: [(np.array([4.0]), np.array([5.0]))] if i == 0 else []
    )
    moves = order_of_moves(rules, [np.array([0.0]), np.array([5.2])], goal, 0, 0)
    assert moves is not None
    assert [(move.thing, float(move.place[0])) for move in moves] == [(0, 4.0), (1, 10.0)]
    assert not any(move.unlike for move in moves)


def test_a_block_for_the_tray_goes_all_the_way_as_others_did(tray):
    """They were lifted over the tray's edge first, and came down from above: no block ever went past it low."""
    table = Tabletop(1, drawer=5.0, tray=True)
    tray.aim(in_tray(table, 5.0, 0.0))
    put(table, [[2.5, 0.5]], hand=(2.5, 0.5, 0.4))
    table.slid, table.held = 1.5, 0
    seen = table.observation()
    path = [seen[3:5]]
    while table.held == 0:
        seen = table.step(tray.act(seen))
        path.append(seen[3:5])
    x, z = np.array(path).T
    assert abs(x[-2] - table.handle()[0]) < 0.5
    assert z[(x > 3.5) & (x < 6.0)].min() > 2.0
