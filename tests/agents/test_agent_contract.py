"""The contract of every registered agent."""

from typing import Any

import numpy as np
import pytest

import fwrl
from fwrl.agents import Agent, agent_class, agent_names, load
from fwrl.errors import FileError, FwrlError, OptionError, PositiveCycleError, UnknownNameError
from fwrl.task import Task, rollout

VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in agent_names()),
    ("fwrl", {"relaxation": "paper"}),
    ("fwrl", {"storage": "columns"}),
    ("fwrl", {"backup": "expected"}),
    ("fwrl", {"explorer": "optimistic"}),
    ("fwrl", {"backup": "expected", "explorer": "optimistic"}),
    ("mbrl", {"explorer": "optimistic"}),
    ("fwrl", {"objective": "rate"}),
    ("fwrl", {"objective": "rate", "explorer": "optimistic"}),
    ("fwrl", {"objective": "rate", "backup": "expected", "explorer": "optimistic"}),
    ("fwrl", {"objective": "rate", "backup": "expected"}),
    ("uvfa", {"training": "two-stage"}),
    ("sweeping", {"explorer": "optimistic"}),
]
every_agent = pytest.mark.parametrize(
    ("name", "options"), VARIANTS, ids=["-".join([n, *map(str, o.values())]) for n, o in VARIANTS]
)


def made(name, options, world, seed=0):
    return fwrl.make_agent(name, world.n_states, world.n_actions, seed=seed, **options)


def arrays(tables):
    for part in tables:
        yield from arrays(part) if isinstance(part, tuple) else [part]


def steps_of(trajectory):
    return list(zip(*(column.tolist() for column in trajectory[1:]), strict=True))


@every_agent
@pytest.mark.parametrize("world", ["windy-four-rooms", "muddy-rooms"])
def test_the_two_loops_make_the_same_trajectory_and_the_same_agent(name, options, world):
    task = Task(fwrl.load_world(world))
    compiled, readable = made(name, options, task.world), made(name, options, task.world)
    result = fwrl.run(task, compiled, episodes=3, steps=300, seed=5, trajectory=True)
    walked = [tuple(step[2:]) for step in rollout(task, readable, episodes=3, steps=300, seed=5)]
    assert walked == steps_of(result.trajectory)
    for ours, theirs in zip(arrays(compiled.tables), arrays(readable.tables), strict=True):
        n = min(len(ours), len(theirs))  # capacity may differ, content may not
        np.testing.assert_array_equal(ours[:n], theirs[:n])


@every_agent
def test_same_seed_same_result(name, options):
    world = fwrl.load_world("windy-four-rooms")
    first, second = (
        fwrl.run(world, made(name, options, world, seed=3), episodes=4, steps=200, seed=3) for _ in range(2)
    )
    np.testing.assert_array_equal(first.reward, second.reward)
    np.testing.assert_array_equal(first.visit_distance, second.visit_distance)


@every_agent
def test_a_loaded_agent_continues_bit_for_bit(name, options, tmp_path):
    world = fwrl.load_world("windy-four-rooms")
    agent = made(name, options, world)
    task = Task(world)
    steps = list(rollout(task, agent, episodes=1, steps=150, seed=1))
    agent.save(tmp_path / "half.fwrl")
    loaded = fwrl.load(tmp_path / "half.fwrl")
    assert isinstance(loaded, Agent)
    assert repr(loaded) == repr(agent)
    # On with the same episode: same actions, same learning.
    state = steps[-1].next_state
    actions = []
    for each in (agent, loaded):
        rng = np.random.default_rng(0)
        s, taken = state, []
        for _ in range(300):
            a = each.act(s)
            o = world.outcomes(s, a)
            _, n, r = o[rng.integers(len(o))]
            each.observe(s, a, r, n)
            taken.append(a)
            s = n
        actions.append(taken)
    assert actions[0] == actions[1]
    agent.save(tmp_path / "a.fwrl")
    loaded.save(tmp_path / "b.fwrl")
    assert (tmp_path / "a.fwrl").read_bytes() == (tmp_path / "b.fwrl").read_bytes()


@every_agent
def test_a_state_never_seen_gets_any_action(name, options):
    agent = fwrl.make_agent(name, 50, 4, **options)
    agent.begin_episode(goal=7)
    assert {agent.act(30) for _ in range(200)} == {0, 1, 2, 3}
    assert agent.greedy(30, 7) == 0


@every_agent
def test_one_action_worlds_behave(name, options):
    ring = fwrl.worlds.from_outcomes("ring", [[[(1.0, (s + 1) % 3, -1.0)]] for s in range(3)])
    agent = made(name, options, ring)
    result = fwrl.run(ring, agent, episodes=2, steps=100, seed=0)
    # From anywhere to anywhere the only way is round the ring: nothing to do wrong.
    np.testing.assert_array_equal(result.distance, result.shortest)
    assert result.visits.min() > 20


@every_agent
def test_nothing_is_learned_from_asking(name, options, tmp_path):
    world = fwrl.load_world("four-rooms")
    agent = made(name, options, world)
    fwrl.run(world, agent, episodes=2, steps=100)
    agent.save(tmp_path / "before.fwrl")
    agent.value(3, 40), agent.greedy(3, 40), agent.values(12), agent.action_values(9, 9)
    agent.predict({"observation": np.array([3, 4]), "desired_goal": np.array([40, 40])})
    agent.save(tmp_path / "after.fwrl")
    assert (tmp_path / "before.fwrl").read_bytes() == (tmp_path / "after.fwrl").read_bytes()


@every_agent
def test_bad_steps_are_refused_in_words(name, options):
    agent = fwrl.make_agent(name, 5, 2, **options)
    with pytest.raises(FwrlError, match="state from 0 to 4, got 5"):
        agent.observe(5, 0, -1.0, 0)
    with pytest.raises(FwrlError, match="state from 0 to 4, got -1"):
        agent.observe(0, 0, -1.0, -1)
    with pytest.raises(FwrlError, match="action from 0 to 1, got 2"):
        agent.observe(0, 2, -1.0, 0)
    with pytest.raises(FwrlError, match="finite reward, got nan"):
        agent.observe(0, 1, float("nan"), 0)
    with pytest.raises(FwrlError, match=r"up to 1e\+100 in size, got -1e\+308; scale rewards down"):
        agent.observe(0, 1, -1e308, 0)
    with pytest.raises(FwrlError, match=r"up to 1e\+100 in size, but transition 1 has 1e\+101; scale them down"):
        agent.observe_many([0, 1], [0, 0], [-1.0, 1e101], [1, 2])
    with pytest.raises(FwrlError, match="begin_episode"):
        agent.act(0)
    with pytest.raises(FwrlError, match="goal from 0 to 4, got 9"):
        agent.begin_episode(9)
    with pytest.raises(FwrlError, match="finite rewards, but transition 1"):
        agent.observe_many([0, 1], [0, 0], [-1.0, np.inf], [1, 2])
    with pytest.raises(FwrlError, match="same length"):
        agent.observe_many([0, 1], [0, 0], [-1.0], [1, 2])
    with pytest.raises(FwrlError, match="next states from 0 to 4"):
        agent.observe_many([0], [0], [-1.0], [5])


@every_agent
def test_predict_answers_one_observation_or_a_batch(name, options):
    world = fwrl.load_world("four-rooms")
    agent = made(name, options, world)
    fwrl.run(world, agent, episodes=3, steps=400)
    goal = agent.goal
    single = agent.predict({"observation": 5, "desired_goal": goal})
    assert single == (agent.greedy(5, goal), None)
    states, goals = np.arange(10), np.full(10, goal)
    expected = [agent.greedy(s, goal) for s in range(10)]
    assert agent.predict({"observation": states, "desired_goal": goals})[0].tolist() == expected
    columns = {"observation": states[:, None], "desired_goal": goals[:, None]}
    assert agent.predict(columns)[0].tolist() == expected
    with pytest.raises(FwrlError, match="desired_goal"):
        agent.predict({"observation": 5})


def knows_a_ring():
    """An agent that knows a ring of five states, with a way forth and a way back."""
    agent = fwrl.make_agent("fwrl", 5, 2)
    s = np.arange(5)
    for action, step in ((0, 1), (1, -1)):
        agent.observe_many(s, np.full(5, action), np.full(5, -1.0), (s + step) % 5)
    return agent


@pytest.mark.parametrize("columns", [(), ("observation",), ("desired_goal",), ("observation", "desired_goal")])
def test_predict_pairs_each_state_with_its_own_goal_whatever_the_shapes(columns):
    asked = {"observation": np.array([0, 0, 3]), "desired_goal": np.array([1, 4, 2])}
    shaped = {key: values[:, None] if key in columns else values for key, values in asked.items()}
    assert knows_a_ring().predict(shaped)[0].tolist() == [0, 1, 1]


@pytest.mark.parametrize("shape", [(0,), (0, 1)])
def test_predict_answers_no_observations_with_no_actions(shape):
    actions, _ = knows_a_ring().predict({"observation": np.zeros(shape), "desired_goal": np.zeros(shape)})
    assert actions.shape == (0,)
    assert actions.dtype == np.int64


@pytest.mark.parametrize(
    ("states", "goals", "problem"),
    [
        (2.7, 1, "expected observation as one state, .* got float64"),
        (2, [1.0], "expected desired_goal as one state, .* got float64"),
        ([[1, 2]], [3], r"expected observation as one state, .* of shape \(1, 2\)"),
        ([1, 2], [1, 2, 3], "got 2 states but 3 goals"),
    ],
)
def test_predict_refuses_what_are_no_pairs_of_states_and_goals(states, goals, problem):
    with pytest.raises(FwrlError, match=problem):
        knows_a_ring().predict({"observation": states, "desired_goal": goals})


@every_agent
@pytest.mark.parametrize("state", [-7, 5, 99])
def test_a_state_that_does_not_exist_has_no_answer_even_as_its_own_goal(name, options, state):
    agent = fwrl.make_agent(name, 5, 2, **options)
    for answer in (agent.value, agent.arrival, agent.greedy, agent.action_values):
        with pytest.raises(FwrlError, match=rf"from 0 to 4, got {state}"):
            answer(state, state)


@every_agent
def test_every_cut_of_a_saved_file_is_refused(name, options, tmp_path):
    agent = fwrl.make_agent(name, 4, 2, **options)
    agent.begin_episode(2)
    agent.observe_many([0, 1], [0, 1], [-1.0, -2.0], [1, 2])
    path = tmp_path / "agent.fwrl"
    agent.save(path)
    whole = path.read_bytes()
    for cut in range(0, len(whole) - 1, max(1, len(whole) // 60)):
        path.write_bytes(whole[:cut])
        with pytest.raises(FileError, match=r"agent\.fwrl"):
            fwrl.load(path)


@pytest.mark.parametrize("name", ["fwrl", "mbrl"])
@pytest.mark.parametrize("steps", [[(1, 1, 0.5, 1)], [(0, 0, 1.0, 1), (1, 1, -0.5, 0)]])
def test_a_positive_cycle_is_refused_and_leaves_the_agent_unchanged(name, steps, tmp_path):
    agent = fwrl.make_agent(name, 3, 2)
    agent.begin_episode(2)
    agent.observe(1, 0, -1.0, 2)
    for step in steps[:-1]:
        agent.observe(*step)
    agent.save(tmp_path / "before.fwrl")
    with pytest.raises(PositiveCycleError, match="would close a positive cycle"):
        agent.observe(*steps[-1])
    values = agent.values(2)
    np.testing.assert_array_equal(load(tmp_path / "before.fwrl").values(2), values)


MARKING = [
    {},
    {"storage": "columns"},
    {"explorer": "optimistic"},
    {"backup": "expected"},
    {"backup": "expected", "explorer": "optimistic"},
]
every_marking_agent = pytest.mark.parametrize("options", MARKING)


def test_a_refused_step_does_not_mark_where_it_ended_as_terminated():
    agent, twin = (fwrl.make_agent("fwrl", 4, 2, backup="expected") for _ in range(2))
    for each in (agent, twin):
        each.begin_episode(3)
        each.observe(0, 0, 1.0, 1)
        each.observe(1, 0, -0.5, 0)
    with pytest.raises(PositiveCycleError):
        agent.observe(0, 1, -2.0, 3, terminated=True)
    assert not agent.tables.terminated.any()
    assert [agent.act(s) for s in range(4)] == [twin.act(s) for s in range(4)]


@pytest.mark.parametrize("options", MARKING[3:])
def test_a_refused_step_to_the_goal_does_not_mark_it_as_terminated(options):
    """A positive cycle is known; the step that would connect it with the goal is refused."""
    agent = fwrl.make_agent("fwrl", 4, 2, **options)
    agent.begin_episode(3)
    agent.observe(0, 0, 1.0, 1)
    agent.observe(1, 0, 1.0, 0)
    with pytest.raises(PositiveCycleError):
        agent.observe(0, 1, -1.0, 3, terminated=True)
    assert not agent.tables.terminated.any()
    assert agent.values(3).tolist() == [-np.inf, -np.inf, -np.inf, 0.0]
    agent.begin_episode(2)
    agent.observe(3, 0, -1.0, 2)
    assert agent.value(3, 2) == -1.0


@every_marking_agent
@pytest.mark.parametrize("refused", [1, 2])
def test_transitions_that_are_not_learned_leave_no_terminated_marks(options, refused):
    """The way back from 3 to 0 gains: it is refused."""
    agent = fwrl.make_agent("fwrl", 5, 2, **options)
    agent.begin_episode(4)
    agent.observe_many([0, 3], [0, 0], [-1.0, -1.0], [3, 4])
    steps = [(0, 1, -1.0, 1), (4, 0, -1.0, 2), (4, 1, -1.0, 2)]
    steps.insert(refused, (3, 1, 5.0, 0))
    states, actions, rewards, next_states = zip(*steps, strict=True)
    with pytest.raises(PositiveCycleError, match=f"transition {refused}: .*the {refused} before it were learned"):
        agent.observe_many(states, actions, rewards, next_states, terminated=[n in (1, 2) for n in next_states])
    assert np.flatnonzero(agent.tables.terminated).tolist() == [1, 2][:refused]


@pytest.mark.parametrize(("name", "options"), [*(("fwrl", o) for o in MARKING), ("sweeping", {}), ("rmax", {})])
def test_many_terminated_transitions_are_learned_as_one_by_one(name, options):
    rng = np.random.default_rng(4)
    s, a, n = rng.integers(0, (6, 2, 6), (60, 3)).T
    r, ended = rng.choice([-1.0, -0.5], 60), rng.random(60) < 0.3
    at_once, one_by_one = (fwrl.make_agent(name, 6, 2, **options) for _ in range(2))
    for agent in (at_once, one_by_one):
        agent.begin_episode(5)
    at_once.observe_many(s, a, r, n, terminated=ended)
    for step in zip(s, a, r, n, [False] * 60, ended, strict=True):
        one_by_one.observe(*step)
    np.testing.assert_allclose(at_once.values(5), one_by_one.values(5), rtol=1e-9)
    assert [at_once.act(s) for s in range(6)] == [one_by_one.act(s) for s in range(6)]


def test_a_cycle_that_gains_by_rounding_only_is_no_positive_cycle():
    agent = fwrl.make_agent("fwrl", 3, 1)
    agent.observe(0, 0, 0.1, 1)
    agent.observe(1, 0, 0.2, 2)
    agent.observe(2, 0, -0.3, 0)  # 0.1 + 0.2 - 0.3 > 0 in floating point
    assert agent.value(0, 2) == pytest.approx(0.3)


def test_positive_rewards_are_legal_without_a_positive_cycle():
    for name in ("fwrl", "mbrl"):
        agent = fwrl.make_agent(name, 3, 1)
        agent.observe_many([0, 1], [0, 0], [5.0, -1.0], [1, 2])
        assert agent.value(0, 2) == 4.0


def test_fwrl_and_mbrl_ignore_the_arriving_step_and_q_learning_learns_from_it():
    for name in ("fwrl", "mbrl", "mbrl-straight"):
        agent = fwrl.make_agent(name, 3, 1)
        agent.begin_episode(1)
        agent.observe(1, 0, 10.0, 2, arrived=True)
        assert agent.value(1, 2) == -np.inf
    for name in ("ql", "qlcat"):
        agent = fwrl.make_agent(name, 3, 2)
        agent.begin_episode(1)
        agent.observe(1, 0, 10.0, 2, arrived=True)
        agent.observe(0, 1, -0.5, 1)
        assert agent.action_values(1, 1).tolist() == [10.0, 1.0]
        assert agent.action_values(0, 1).tolist() == [1.0, 9.5]


def test_ql_is_reset_when_the_goal_changes_and_qlcat_keeps_each_goal_apart():
    ql, qlcat = fwrl.make_agent("ql", 4, 1), fwrl.make_agent("qlcat", 4, 1)
    for agent in (ql, qlcat):
        agent.begin_episode(1)
        agent.observe(1, 0, 10.0, 2, arrived=True)
        agent.begin_episode(3)
    assert ql.value(1, 1) == 1.0
    assert qlcat.value(1, 1) == 10.0
    assert qlcat.value(1, 3) == qlcat.value(1, 0) == 1.0


def test_the_straight_planner_cannot_turn():
    # 0 -right-> 1 -right-> 2, and 2 -down-> 3: straight to 2 is known, round the corner to 3 is not.
    agent, turning = fwrl.make_agent("mbrl-straight", 4, 2), fwrl.make_agent("mbrl", 4, 2)
    for each in (agent, turning):
        each.observe_many([0, 1, 2], [0, 0, 1], [-1.0, -1.0, -1.0], [1, 2, 3])
    assert agent.action_values(0, 2).tolist() == [-2.0, -np.inf]
    assert agent.value(0, 3) == -np.inf
    assert turning.value(0, 3) == -3.0


def test_unknown_agents_and_options_get_close_matches():
    with pytest.raises(UnknownNameError, match="did you mean 'qlcat'"):
        fwrl.make_agent("qlcta", 3, 2)
    with pytest.raises(OptionError, match="did you mean 'relaxation'"):
        fwrl.make_agent("fwrl", 3, 2, relaxtion="paper")
    with pytest.raises(OptionError, match="one of \\('exact', 'paper'\\), got 'fast'"):
        fwrl.make_agent("fwrl", 3, 2, relaxation="fast")
    with pytest.raises(OptionError, match="0 < learning_rate <= 1, got 0"):
        fwrl.make_agent("ql", 3, 2, learning_rate=0)
    with pytest.raises(OptionError, match="expected n_states as a whole number"):
        fwrl.make_agent("fwrl", 0, 2)
    with pytest.raises(OptionError, match="GiB"):
        fwrl.make_agent("fwrl", 1_000_000, 4, storage="dense")


@every_agent
def test_an_agent_has_a_name_and_a_description(name, options):
    cls = agent_class(name)
    assert cls.name == name
    assert cls.description
    assert name in repr(fwrl.make_agent(name, 2, 1, **options))


def test_a_positive_cycle_seen_before_any_goal_is_refused_when_an_episode_begins(tmp_path):
    agent = fwrl.make_agent("mbrl", 4, 2)
    agent.observe_many([0, 1, 1], [0, 0, 1], [1.0, 1.0, -1.0], [1, 0, 2])
    with pytest.raises(PositiveCycleError, match="the observed steps to goal 2 have a positive cycle"):
        agent.begin_episode(2)
    with pytest.raises(PositiveCycleError, match="the observed steps to goal 2"):
        agent.value(0, 2)
    assert agent.goal is None
    agent.begin_episode(3)
    agent.observe(2, 0, -1.0, 2)
    agent.save(tmp_path / "a.fwrl")
    assert load(tmp_path / "a.fwrl").value(3, 3) == 0.0


@every_agent
@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int32, np.int64, int])
def test_any_kind_of_integer_is_a_state(name, options, kind):
    agent = fwrl.make_agent(name, 5, 2, **options)
    agent.begin_episode(kind(3))
    reward: Any = np.float32(-1.0)
    arrived: Any = np.bool_(False)
    agent.observe(kind(0), kind(1), reward, kind(3), arrived)
    assert agent.act(kind(0)) in (0, 1)
    assert agent.value(kind(0), kind(3)) == agent.value(0, 3)
    verbs: list[Any] = [agent.verbs.act, agent.verbs.observe]
    for verb in verbs:
        assert len({signature[1:] for signature in verb.signatures}) <= 1  # compiled once, whatever came in


@every_agent
@pytest.mark.parametrize("state", [1.5, 1.0, "1", None, [1]])
def test_what_is_no_integer_is_no_state(name, options, state):
    agent = fwrl.make_agent(name, 5, 2, **options)
    agent.begin_episode(3)
    with pytest.raises(FwrlError, match="expected a state from 0 to 4, got"):
        agent.act(state)
    with pytest.raises(FwrlError, match="expected an action from 0 to 1, got"):
        agent.observe(0, state, -1.0, 1)
    with pytest.raises(FwrlError, match="expected a goal from 0 to 4, got"):
        agent.begin_episode(state)


@every_agent
def test_best_actions_have_the_largest_value_and_greedy_takes_the_first(name, options):
    world = fwrl.load_world("windy-four-rooms")
    agent = made(name, options, world)
    fwrl.run(world, agent, episodes=3, steps=300)
    for goal in (agent.goal, 12):
        assert goal is not None
        best = agent.best_actions(goal)
        assert best.shape == (world.n_states, world.n_actions)
        for s, tied in enumerate(best):
            values = agent.action_values(s, goal)
            expected = [v >= values.max() - 1e-9 * max(1e-3, abs(values.max())) for v in values]
            if agent.value_kind is None or not np.isfinite(values.max()):
                assert tied.tolist() == (expected if np.isfinite(values.max()) else [True] * len(values))
            assert tied.any()
            assert not (tied & ~np.array(expected)).any() or not np.isfinite(values.max())
            assert agent.greedy(s, goal) == int(np.argmax(tied))


@every_agent
def test_arrival_is_a_probability_or_unknown(name, options):
    world = fwrl.load_world("windy-four-rooms")
    agent = made(name, options, world)
    fwrl.run(world, agent, episodes=3, steps=300)
    arrivals = agent.arrivals(12)
    np.testing.assert_array_equal([agent.arrival(s, 12) for s in range(world.n_states)], arrivals)
    assert np.isnan(arrivals).all() or ((arrivals >= 0) & (arrivals <= 1 + 1e-9)).all()


def test_values_are_of_the_kind_that_the_agent_declares():
    kinds = {(name, str(options)): fwrl.make_agent(name, 3, 2, **options).value_kind for name, options in VARIANTS}
    assert {name for (name, _), kind in kinds.items() if kind == "return"} == {"ql", "qlcat", "her"}
    assert {name for (name, _), kind in kinds.items() if kind == "steps"} == {"dg", "trl"}
    assert {name for (name, _), kind in kinds.items() if kind is None} == {"random", "tdm", "uvfa"}
    every: list[dict[str, Any]] = [{}, {"relaxation": "paper"}, {"storage": "columns"}, {"backup": "expected"}]
    for options in every:
        agent = fwrl.make_agent("fwrl", 3, 2, objective="steps", **options)
        agent.observe_many([0, 1], [0, 0], [-5.0, -7.0], [1, 2])
        assert (agent.value_kind, agent.value(0, 2)) == ("steps", -2.0)
        assert agent.estimated_path_rewards(2, step_reward=-0.5).tolist() == [-1.0, -0.5, 0.0]


@pytest.mark.parametrize("name", ["ql", "qlcat", "agql", "her"])
def test_a_whole_number_is_a_value_like_any_other(name):
    whole, decimal = (fwrl.make_agent(name, 3, 2, initial_value=value, learning_rate=1) for value in (1, 1.0))
    for agent in (whole, decimal):
        agent.begin_episode(1)
        agent.observe(0, 0, -0.25, 1)
    np.testing.assert_array_equal(whole.action_table(1), decimal.action_table(1))
