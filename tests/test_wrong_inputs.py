"""The battery: what a careless user, a newcomer or an attacker gives to commands and to Python.

Every wrong command ends with exit code 2, one sentence on standard error, nothing on standard output and no new file;
every wrong call raises an error of fwrl with one sentence. What is odd but right works, and shows nothing raw.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import fwrl
from fwrl.experiment import Store
from fwrl.experiment.export import _no_formula, export_results
from fwrl.files import open_archive, write_archive
from fwrl.planner import read_positions
from systems import unix

COMMAND = (sys.executable, "-m", "fwrl")


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    """A folder with a log, a planner, an agent, and things that look like them."""
    folder = tmp_path_factory.mktemp("kit")
    planner = fwrl.fit([("A", "B"), ("B", "C"), ("x\x1b[31mred", "y\nz"), ("B", "-2+3"), ("\u202eevil", "A")])
    planner.save(folder / "p.fwrl")
    agent = fwrl.make_agent("ql", 7, 4)
    agent.save(folder / "a.fwrl")
    text = {
        "log.csv": "state,next_state\nA,B\nB,C\n",
        "times.csv": "state,next_state,time\nA,B,2024-03-01 08:00\nB,C,2024-03-01 08:05\n",
        "ragged.csv": "state,next_state\nA,B\nB\nC,D,E,F\n",
        "empty.csv": "",
        "header.csv": "state,next_state\n",
        "other.csv": "colour,size\nred,3\n",
        "nan.csv": "state,next_state,reward\nA,B,many\n",
        "positive.csv": "state,next_state,reward\nA,B,1\nB,A,1\n",
        "places.csv": "state,x,y\nA,0,0\nB,1,0\nC,2,0\n",
        "far.csv": "state,x,y\nA,inf,0\n",
        "lonlat.csv": "stop,east,north\nA,0,0\nB,1,0\nC,2,0\n",
        "words.csv": "state,x,y\nA,0,0\nB,left,0\n",
        "thousands.csv": "state;x;y\nA;0;0\nB;1,500;0\n",
        "strangers.csv": "state,x,y\nQ,0,0\n",
        "lesson.toml": "title = [",
        "map.txt": "..\n.?\n",
        "blank.txt": "\n\n",
        "maze.map": "type octile\nheight 3\nwidth x\nmap\n",
        "lines.txt": "A\nnowhere\n",
    }
    for name, content in text.items():
        (folder / name).write_text(content)
    data = planner_bytes = (folder / "p.fwrl").read_bytes()
    (folder / "cut.fwrl").write_bytes(data[: len(data) // 2])
    (folder / "flipped.fwrl").write_bytes(bytes([*planner_bytes[:60], planner_bytes[60] ^ 8, *planner_bytes[61:]]))
    (folder / "newer.fwrl").write_bytes(data[:8] + (9).to_bytes(4, "little") + data[12:])
    (folder / "zero.fwrl").write_bytes(b"")
    (folder / "random.npz").write_bytes(b"PK\x03\x04" + bytes(range(200)))
    (folder / "binary.csv").write_bytes(bytes(range(256)) * 4)
    (folder / "latin.txt").write_bytes(b"caf\xe9\n")
    (folder / "latin.csv").write_bytes(b"state,x,y\nA,0,0\ncaf\xe9,1,1\n")
    (folder / "fake.parquet").write_bytes(b"PAR1 not a table PAR1")
    (folder / "fake.csv.gz").write_bytes(b"\x1f\x8b\x08 not packed")
    write_archive(folder / "kind.fwrl", "recipe", {}, {"x": np.zeros(1)})
    (folder / "folder").mkdir()
    return folder


BAD = """
worlds nothing-there | unknown world
worlds | extra: a b | unexpected extra argument
worlds p.fwrl | expected the path of a .txt or .map file
worlds map.txt | map.txt
worlds blank.txt | blank.txt
worlds maze.map | maze.map
worlds folder | unknown world
worlds missing.map | missing.map
worlds maze-4x4-1 | odd
worlds maze-5x5-x | unknown world
worlds door-corridor-2 | expected a probability above 0 and at most 1
worlds door-corridor-0 | expected a probability
worlds riverswim-0 | expected
worlds riverswim--3 | unknown world
worlds combination-lock-0-0 | expected
worlds four-rooms-2 | expected
worlds gymnasium:Nothing-v9 | Nothing
worlds gymnasium:CartPole-v1 | CartPole
agents --jsn | no such option
agents please | unexpected extra argument
train | missing argument
train h-maze --episodes 1e9 | '--episodes': expected a whole number
train h-maze --episodes 0 | '--episodes'
train h-maze --episodes -5 | '--episodes'
train h-maze --steps 0.5 | '--steps': expected a whole number
train h-maze --steps 99999999999 | expected steps
train h-maze --seed one | '--seed'
train h-maze --seed -1 | '--seed'
train h-maze --agent FWRL | did you mean 'fwrl'
train h-maze --agent mine | register_agent
train h-maze --agent agql --option replays=1000000000 | from 0 to 10,000
train h-maze --agent agql --option capacity=100000000000 | from 1 to 10,000,000
train h-maze --agent agql --option replays=2.5 | expected replays
train h-maze --agent agql --option replays=true | expected replays
train h-maze --agent sweeping --option backups=0 | expected backups
train h-maze --agent her --option k=-1 | expected k
train h-maze --agent uvfa --option rank=1e3 | expected rank
train h-maze --agent tdm --option horizon=[] | expected horizon
train h-maze --agent ql --option learning_rate=nan | expected
train h-maze --agent ql --option =3 | write an option as NAME=VALUE
train h-maze --option explorer=bold | expected explorer to be one of
train h-maze --option give_up=3 | give_up needs backup='expected'
train h-maze --out folder | is a folder
train h-maze --out folder/deep/a.fwrl | its folder doesn't exist
train h-maze --out log.csv | wasn't saved by fwrl
train h-maze --out /dev/null | is a device
train h-maze --resume p.fwrl | not an agent
train h-maze --resume log.csv | is not a file saved by fwrl
train h-maze --resume cut.fwrl | cut.fwrl
train four-rooms --resume a.fwrl | name the world it was trained in
evaluate h-maze a.fwrl | the agent comes first
evaluate a.fwrl four-rooms | name the world it was trained in
evaluate a.fwrl h-maze --goal 99 | expected a goal
evaluate a.fwrl h-maze --goal 1,9 | isn't a floor cell
evaluate a.fwrl h-maze --steps 0 | '--steps'
evaluate p.fwrl h-maze | not an agent
evaluate a.fwrl | missing argument
show h-maze a.fwrl --goal 0 | the agent comes first
show a.fwrl h-maze | missing option
show a.fwrl h-maze --goal x | expected a goal
show a.fwrl h-maze --goal 0 --start 1e3 | expected a start
show a.fwrl h-maze --goal 0 --picture way.pdf | .png or .svg
show a.fwrl h-maze --goal 0 --picture nowhere/way.png | its folder doesn't exist
check | missing argument
check nothing.fwrl | there is no such file
check p.fwl | did you mean 'p.fwrl'
check folder | choose a file in it
check zero.fwrl | is not a file saved by fwrl
check cut.fwrl | cut.fwrl
check flipped.fwrl | is damaged
check newer.fwrl | format version 9
check kind.fwrl | kind.fwrl
check random.npz | is not a file saved by fwrl
check log.csv | is not a file saved by fwrl
fit | missing argument
fit log.csv | missing option
fit nothing.csv -o n.fwrl | nothing.csv
fit empty.csv -o n.fwrl | empty.csv
fit header.csv -o n.fwrl | the log has none
fit other.csv -o n.fwrl | --columns
fit nan.csv -o n.fwrl | nan.csv
fit positive.csv -o n.fwrl | positive
fit binary.csv -o n.fwrl | binary.csv
fit random.npz -o n.fwrl | random.npz
fit fake.parquet -o n.fwrl | fake.parquet
fit fake.csv.gz -o n.fwrl | fake.csv.gz
fit p.fwrl -o n.fwrl | p.fwrl
fit folder -o n.fwrl | folder
fit no*.csv -o n.fwrl | no*.csv
fit log.csv log.csv -o n.fwrl | --allow-duplicates
fit log.csv -o folder | is a folder
fit log.csv -o places.csv | wasn't saved by fwrl
fit log.csv -o /dev/full | is a device
fit log.csv -o n.fwrl --add | can't add to
fit log.csv -o n.fwrl --memory lots | expected an amount of memory
fit log.csv -o n.fwrl --memory 1 | memory
fit log.csv -o n.fwrl --columns state | OURS=THEIRS
fit log.csv -o n.fwrl --columns state=nowhere | nowhere
fit log.csv -o n.fwrl --columns place=state | place
fit log.csv -o n.fwrl --shape circle | --shape transitions or --shape visits
fit log.csv -o n.fwrl --shape visits | visits
fit log.csv -o n.fwrl --cost money | can only be elapsed
fit log.csv -o n.fwrl --cost elapsed | time
fit log.csv -o n.fwrl --min-trips 0 | min_trips
fit log.csv -o n.fwrl --half-life soon | half
fit log.csv -o n.fwrl --since 2024-01-01 | no times
fit times.csv -o n.fwrl --since yesterday | expected a moment as 2024-03-31
fit times.csv -o n.fwrl --hours 25-26 | expected hours as 7-9
fit times.csv -o n.fwrl --weekdays someday | expected weekdays as mon-fri
fit log.csv -o n.fwrl --encoding klingon | klingon
fit log.csv -o n.fwrl --decimal x | decimal
fit log.csv -o n.fwrl --cells x | cells
fit log.csv -o n.fwrl --cells x,y | x
fit log.csv -o n.fwrl --cluster nowhere | nowhere
fit log.csv - -o n.fwrl | can't read standard input and files together
merge | missing argument
merge p.fwrl | missing option
merge p.fwrl a.fwrl -o m.fwrl | a.fwrl
merge p.fwrl nothing.fwrl -o m.fwrl | nothing.fwrl
merge p.fwrl p.fwrl -o log.csv | wasn't saved by fwrl
states nothing.fwrl | there is no such file
states a.fwrl | a.fwrl
states p.fwrl --by size | '--by': 'size' is not one of
states p.fwrl --limit -1 | '--limit'
states p.fwrl --min-trips 0 | '--min-trips'
plan p.fwrl A | missing argument
plan p.fwrl A nowhere | fwrl states
plan p.fwrl A a | a
plan p.fwrl C A | no route
plan p.fwrl A -2+3 | put -- before
plan p.fwrl A -.5 | put -- before
plan p.fwrl A C --backup mean | backup
plan p.fwrl A C --avoid A | is both a stop and in avoid
plan p.fwrl A C --avoid nowhere | nowhere
plan p.fwrl A C --avoid B | no route
plan p.fwrl A C --give-up 0 | positive cost
plan p.fwrl A C --give-up much | '--give-up': expected a number
plan p.fwrl A C --give-up nan | positive cost
plan p.fwrl A C --cautious 2 | confidence
plan p.fwrl A C --alternatives 0 | '--alternatives'
plan p.fwrl A C --alternatives 2 | alternatives need backup 'best'
plan p.fwrl A C --alternatives 2 --backup best --via B | don't work together
plan p.fwrl A C --at 08:30 | --at 08:30
plan p.fwrl A C --position-columns state=id | needs --positions
plan p.fwrl A C --positions nothing.csv | nothing.csv
plan p.fwrl A C --positions other.csv | expected state, x and y
plan p.fwrl A C --positions strangers.csv | no position of any state
plan p.fwrl A C --positions far.csv | expected a state and two finite numbers
plan p.fwrl A C --positions places.csv --position-columns height=z | height
plan a.fwrl A C | a.fwrl
plan log.csv A C | is not a file saved by fwrl
explain p.fwrl A C --picture way.png | needs --positions
explain p.fwrl A C --positions places.csv --picture way.bmp | .png, .svg or .geojson
explain p.fwrl A C --positions places.csv --picture nowhere/way.png | its folder doesn't exist
explain p.fwrl A C --encoding utf-8-sig | needs --log
explain p.fwrl A C --log nothing.csv | nothing.csv
explain p.fwrl A C --log other.csv | other.csv
matrix p.fwrl | missing option
matrix p.fwrl --from A | missing option
matrix p.fwrl --from zz* --to C | no state matches
matrix p.fwrl --from A --to @nothing.txt | nothing.txt
matrix p.fwrl --from A --to @latin.txt | isn't UTF-8
matrix p.fwrl --from A --to @lines.txt | nowhere
matrix p.fwrl --from A --to @folder | folder
reachable p.fwrl A far | 'COST': expected a number
reachable p.fwrl A nan | cost
reachable p.fwrl nowhere 3 | nowhere
reachable p.fwrl A -- -1 | a cost of at least 0
within p.fwrl C nan | cost
within p.fwrl C -- -1 | a cost of at least 0
within p.fwrl C | missing argument
quantiles p.fwrl A C -q 2 | between 0 and 1
quantiles p.fwrl A C -q nan | between 0 and 1
quantiles p.fwrl C A | no route
quantiles p.fwrl A C --log empty.csv | empty.csv
reproduce --seeds 0 | '--seeds'
reproduce --seeds 99999999999 | '--seeds'
compare h-maze --seeds 99999999999 | '--seeds'
reproduce --only nothing | nothing
reproduce --workers 0 | '--workers'
reproduce --out log.csv | a file has that name
reproduce --only h-maze --cluster local:0 | local:0
compare nowhere | unknown world
compare h-maze --agents nobody | register_agent
compare h-maze --agents ql:learning_rate | NAME=VALUE
compare h-maze --agents ql:learning_rate=7 | learning_rate
compare h-maze --agents oracle | nothing to compare with the oracle
compare h-maze --episodes 1 | '--episodes'
compare h-maze --start 99 | from 0 to
compare h-maze --goal 99 | from 0 to
compare h-maze --agents ql --out log.csv | a file has that name
compare h-maze --workers 2 --cluster local:2 | leave out --workers or --cluster
export nothing | fwrl reproduce --out nothing
export log.csv | is a file
export folder | results.sqlite
explore | missing argument
explore nothing.fwrl | there is no such file
explore a.fwrl | a.fwrl
explore p.fwrl --positions nothing.csv | nothing.csv
play --lesson nothing.toml | nothing.toml
play --lesson lesson.toml | lesson.toml
play --port 99999999 | '--port': expected at most 65535
play --host nowhere.invalid | a host that this computer has
play --host a..b | a host that this computer has
play --host LONG | a host that this computer has
fit log.csv -o n.fwrl --encoding base64 | expected an encoding
fit log.csv -o n.fwrl --encoding rot13 | expected an encoding
fit LONG -o n.fwrl | the name is too long
train h-maze --agent= | unknown agent ''
train LONG | the name is too long
check LONG | the name is too long
plan p.fwrl A C --positions words.csv | row 2: expected a state and two finite numbers, got 'B', 'left', '0'
plan p.fwrl A C --positions thousands.csv | got 'B', '1,500', '0'
plan p.fwrl A C --positions latin.csv | latin.csv, line 3: not text in UTF-8
plan p.fwrl A C --positions other.csv | --position-columns
matrix p.fwrl --from A --to @empty.csv | names no state
"""
WRONG = [tuple(part.strip() for part in line.rsplit("|", 1)) for line in BAD.strip().splitlines()]
WRONG = [(line.replace("| extra: ", "").replace("LONG", 300 * "x"), said) for line, said in WRONG]


@pytest.mark.parametrize(("line", "said"), WRONG, ids=[line for line, _ in WRONG])
def test_a_wrong_command_gets_one_sentence(call, kit, monkeypatch, line, said):
    before = sorted(kit.rglob("*"))
    monkeypatch.chdir(kit)
    code, out, err = call(*line.split())
    assert (code, out) == (2, ""), err
    assert err.startswith("fwrl: ")
    assert err.count("\n") == 1, err
    assert said in err
    assert sorted(kit.rglob("*")) == before


CALLS = """
fwrl.run(agent, world)
fwrl.run(world, "ql")
fwrl.run(world, None)
fwrl.run(3, agent)
fwrl.run(world, agent, episodes="5")
fwrl.run(world, agent, episodes=2.5)
fwrl.run(world, agent, steps=None)
fwrl.run(world, agent, seed=-1)
fwrl.run(world, agent, seed="x")
fwrl.run(world, agent, goal="3")
fwrl.run(world, agent, goal=1.5)
fwrl.run(world, agent, start=(1, 1))
fwrl.run(world, agent, goal_reward="much")
fwrl.run(world, agent, goal_threshold="far")
fwrl.run(world, agent, callback=3)
fwrl.learn(env, rooms, 100)
fwrl.learn(rooms, env, "100")
fwrl.learn(rooms, env, 10.5)
fwrl.learn(rooms, env, 100, callback=3)
fwrl.learn(rooms, env, 100, seed=-1)
fwrl.learn(rooms, env, 100, goal_reward="x")
fwrl.learn(rooms, None, 100)
fwrl.learn(None, env, 100)
fwrl.learn(rooms, "fwrl/FourRooms-v0", 100)
fwrl.load_world(None)
fwrl.load_world(["h-maze"])
fwrl.load_world("h-maze", wind="x")
fwrl.load_world("")
fwrl.load_world("a\\0b.txt")
fwrl.make_agent("fwrl", 2.5, 4)
fwrl.make_agent("fwrl", "3", 4)
fwrl.make_agent("fwrl", True, 4)
fwrl.make_agent("fwrl", 3, None)
fwrl.make_agent("fwrl", world, 4)
fwrl.make_agent(None, 3, 4)
fwrl.make_agent("fwrl", 3, 4, seed=-1)
fwrl.make_agent("fwrl", 3, 4, seed=1.5)
fwrl.make_agent("fwrl", 10**12, 4)
fwrl.agent_for("fwrl", world)
fwrl.agent_for(world, "fwrl", seed=-5)
fwrl.register_agent("mine")
fwrl.register_agent(dict)
fwrl.register_world(3, lambda: world)
fwrl.register_world("zzz", 3)
fwrl.register_world("", lambda: world)
fwrl.wrap("FrozenLake-v1")
fwrl.wrap(lake, key=3)
fwrl.wrap(lake, success=True)
fwrl.wrap(lake, step_cost="x")
fwrl.load(None)
fwrl.load(b"x")
fwrl.fit(None)
fwrl.fit({"a": 1})
fwrl.fit([1, 2])
fwrl.fit([("a", "b")], into="p.fwrl")
fwrl.fit([("a", "b")], progress=3)
fwrl.fit([("a", "b")], columns=3)
fwrl.fit([("a", "b")], min_trips="x")
fwrl.fit([("a", "b")], colums={})
planner.plan("a", "c", avoid=3)
planner.plan("a", "c", via="b")
planner.plan("a", "c", positions=3)
planner.plan("c", "a", positions="places.csv")
planner.alternatives("a", "c", 2, positions=[[0, 0]])
planner.explain("a", "c", positions=[[0, 0, 0]] * 4)
planner.plan("a", "c", dead_ends=7)
planner.plan("a", "c", give_up="x")
planner.plan("a", "c", cautious="x")
planner.plan(None, "c")
planner.alternatives("a", "c", "2")
planner.explain("a", "c", log_options=3, log="x.csv")
planner.matrix("a", "c")
planner.matrix(3, ["c"])
planner.matrix(["a"], ["c"], avoid=["b"])
planner.value("a", "c", giveup=3)
planner.reachable("a", 3, colour="red")
planner.reachable("a", "far")
planner.within("c", None)
planner.within("c", -1)
planner.reachable("a", -0.5)
planner.cost_quantiles("a", "c", 2)
planner.cost_quantiles("a", "c", ("x",))
planner.merge("q.fwrl")
planner.save(None)
planner.with_min_trips("x")
planner.find_states(3)
agent.observe(0, 0, "x", 1)
agent.begin_episode(0, "x")
agent.begin_episode(0, 2.5)
agent.grow("x")
agent.grow(1)
agent.save(None)
fwrl.Task("h-maze")
fwrl.Task(world, goal_reward=None)
list(fwrl.rollout(world, agent, episodes=1, steps=1))
fwrl.fit_navigator(3)
fwrl.make_navigator("MountainCar-v0")
world.state_at("x", 1)
fwrl.Planner(3)
fwrl.make_agent("ql", huge, 4)
fwrl.make_agent("ql", unwritable, 4)
fwrl.make_agent("ql", coloured, 4)
fwrl.make_agent("ql", 2**31 - 1, 2**31 - 1)
fwrl.make_agent("ql", 3, 4, learning_rate=huge)
fwrl.make_agent("fwrl", 3, 4, backup="expected", give_up=huge)
fwrl.make_agent("uvfa", 3, 4, features=[[huge]] * 3)
fwrl.register_agent(coloured)
fwrl.run(world, agent, episodes=huge)
fwrl.run(world, agent, steps=huge)
fwrl.run(world, agent, seed=np.random.SeedSequence(1))
fwrl.run(world, agent, goal_reward=huge)
fwrl.rollout(3, agent, episodes=1, steps=1)
fwrl.learn(rooms, env, 10, goal_reward=float("nan"))
fwrl.learn(rooms, env, 10, goal_reward=huge)
fwrl.learn(fwrl.make_navigator(gymnasium.make("MountainCar-v0")), env, 10)
fwrl.load("x" * 300)
fwrl.load("\\ud800")
fwrl.load_world("x" * 300)
fwrl.load_world("four-rooms", step_reward=huge)
fwrl.load_world("four-rooms", step_reward="x")
fwrl.wrap(lake, step_cost=huge)
fwrl.wrap(lake).step("left")
fwrl.wrap(lake).step(99)
fwrl.wrap(lake).observation_of([1])
fwrl.wrap(lake).reset(options=3)
fwrl.wrap(lake).aim(True)
env.reset(options=3)
fwrl.fit("")
fwrl.fit("x" * 300)
fwrl.fit([("a", "b")], cells=3)
fwrl.fit([("a", "b")], cells="xy")
fwrl.fit(points, cells=("x", "y"), cell_width="x")
fwrl.fit(points, cells=("x", "y"), cell_width=huge)
fwrl.fit(points, cells=("x", "y"), resolution="x")
fwrl.fit([("a", "b")], columns={"state": 3})
fwrl.fit([("a", "b")], memory=huge)
fwrl.fit([("a", "b")], memory="9" * 400)
fwrl.fit([("a", "b")], min_trips=huge)
fwrl.fit([("a", "b")], at=8)
fwrl.fit([("a", "b")], hours=7)
fwrl.fit([("a", "b")], encoding=3)
fwrl.fit([("a", "b")], encoding="hex")
fwrl.fit([("a", "b")], dates=3)
fwrl.fit([("a", "b")], missing="NA")
fwrl.fit([("a", "b")], header="yes")
planner.plan("a", "c", cautious=huge)
planner.plan("a", "c", give_up=huge)
planner.plan("a", "c", avoid_roads=["ab"])
planner.plan("a", "c", avoid_roads=[("a",)])
planner.plan("a", "c", avoid_roads=[3])
planner.plan("a", coloured)
planner.plan("a", unwritable)
planner.plan("a", b"c")
planner.plan("c", "a", positions=[[huge, 0]] * 4)
planner.reachable("a", huge)
planner.cost_quantiles("a", "c", [huge])
planner.explain("a", "c", log="x.csv", progress="x")
planner.with_min_trips(huge)
agent.act(huge)
agent.observe(0, 0, huge, 1)
agent.observe_many([0], [0], ["x"], [1])
agent.observe_many([0], [0], [huge], [1])
agent.begin_episode(0, huge)
agent.grow(huge)
agent.save("x" * 300)
agent.plot(0, "h-maze")
world.label("x")
world.outcomes("x", 0)
world.outcomes(0, "x")
world.distances_to("x")
world.state_at(huge, 0)
""".strip().splitlines()


class _Unwritable:
    def __repr__(self):
        raise RuntimeError


class _Coloured:
    def __repr__(self):
        return "two\nlines, \x1b[31mred"


@pytest.fixture(scope="module")
def names():
    world = fwrl.load_world("h-maze")
    return {
        "fwrl": fwrl,
        "world": world,
        "agent": fwrl.make_agent("ql", world.n_states, world.n_actions),
        "planner": fwrl.fit([("a", "b"), ("b", "c"), ("x", "b")]),
        "env": gymnasium.make("fwrl/FourRooms-v0"),
        "rooms": fwrl.make_agent("ql", 68, 4),
        "lake": gymnasium.make("FrozenLake-v1"),
        "gymnasium": gymnasium,
        "np": np,
        "points": {"trip": [1, 1], "time": [1, 2], "x": [1.0, 2.0], "y": [2.0, 2.0]},
        "huge": 10**5000,  # more digits than Python writes, and no float
        "unwritable": _Unwritable(),
        "coloured": _Coloured(),
    }


@pytest.mark.parametrize("line", CALLS)
def test_a_wrong_call_gets_one_sentence_of_ours(names, line):
    with pytest.raises(fwrl.FwrlError) as error:
        eval(line, dict(names))
    assert str(error.value).isprintable()


ODD = ["states", "check", "plan A C", "explain A C", "matrix --from A --from x* --to y*", "reachable A 9", "within C 9"]


@pytest.mark.parametrize("line", ODD)
def test_names_show_escapes_and_never_move_the_cursor(call, kit, monkeypatch, line):
    monkeypatch.chdir(kit)
    command, *rest = line.split()
    code, out, err = call(command, "p.fwrl", *rest)
    assert code == 0, err
    assert all(part.isprintable() for part in out.split("\n"))
    if command in ("states", "matrix"):
        assert "x\\x1b[31mred" in out
        assert "y\\nz" in out


SPOILT = "e\x1b[31msc.txt"


@unix
@pytest.mark.parametrize(
    "line",
    [
        "worlds MAP",
        "train MAP --agent random --episodes 5 --steps 50 --out s.fwrl",
        "evaluate r.fwrl MAP",
        "show r.fwrl MAP --goal 0 --start 3",
        "compare MAP --agents random --seeds 1 --episodes 5 --steps 20",
    ],
)
def test_names_and_descriptions_of_worlds_show_escapes(call, tmp_path, line):
    (tmp_path / SPOILT).write_text("; a \x1b[31mred\x1b[0m map\n...\n.#.\n...\n")
    fwrl.agent_for(fwrl.load_world(str(tmp_path / SPOILT)), "random").save(tmp_path / "r.fwrl")
    code, out, err = call(*(SPOILT if word == "MAP" else word for word in line.split()))
    assert code == 0, err
    assert "e\\x1b[31msc" in out
    assert "\x1b" not in out + err


@unix
@pytest.mark.parametrize("line", ["states p.fwrl", "worlds", "check p.fwrl", "--help"])
def test_closed_pipes_are_quiet_and_full_disks_and_closed_outputs_are_told(kit, line):
    done = subprocess.run(
        f"set -o pipefail; {sys.executable} -m fwrl {line} | true",
        shell=True,
        executable="/bin/bash",
        cwd=kit,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, *line.split()], stdout=full, stderr=subprocess.PIPE, cwd=kit, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (2, "fwrl: cannot write the output: no space left on device\n")
    with Path("/dev/full").open("w") as full:
        untold = subprocess.run([*COMMAND, *line.split()], stdout=full, stderr=full, cwd=kit, check=False)
    assert untold.returncode == 2


WRITERS = ["fit log.csv -o n.fwrl --add", "train h-maze --agent random --episodes 5 --out n.fwrl"]


@pytest.mark.parametrize("line", WRITERS)
def test_commands_that_write_the_same_file_at_the_same_time_leave_a_valid_one(kit, tmp_path, line):
    before = (kit / "log.csv").read_text()
    for number in range(2):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}" / "log.csv").write_text(f"{before}C,D{number}\n")
    if "--add" in line:
        fwrl.fit([("A", "B")]).save(tmp_path / "n.fwrl")
    line = line.replace("n.fwrl", str(tmp_path / "n.fwrl"))
    both = [
        subprocess.Popen([*COMMAND, *line.split()], cwd=tmp_path / f"{number}", stderr=subprocess.PIPE, text=True)
        for number in range(2)
    ]
    said = [process.communicate(timeout=300)[1] for process in both]
    codes = [process.returncode for process in both]
    assert set(codes) <= {0, 2}, said
    assert 0 in codes
    assert all(err.count("\n") == 1 for err, code in zip(said, codes, strict=True) if code == 2), said
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["n.fwrl"]
    saved = fwrl.load(tmp_path / "n.fwrl")
    if "--add" in line:
        assert isinstance(saved, fwrl.Planner)
        added = {f"D{number}" for number in range(2) if codes[number] == 0}
        assert added <= set(saved.states)


@unix
def test_a_closed_output_is_no_success(kit):
    done = subprocess.run(
        f"{sys.executable} -m fwrl worlds >&-", shell=True, cwd=kit, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.startswith("fwrl: standard output is closed")) == (2, True)


@unix
def test_a_file_name_that_is_not_utf_8_is_told(kit, tmp_path):
    name = os.fsencode(tmp_path) + b"/bad\xff.csv"
    Path(os.fsdecode(name)).write_text("state,next_state\nA,B\n")
    done = subprocess.run([*COMMAND, "fit", name, "-o", "n.fwrl"], cwd=kit, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"isn't UTF-8" in done.stderr
    assert done.stderr.count(b"\n") == 1


@unix
def test_a_link_to_nothing_is_not_suggested_instead_of_itself(call, tmp_path):
    (tmp_path / "rooms.fwrl").symlink_to("nowhere.fwrl")
    err = call("check", "rooms.fwrl").err
    assert err == "fwrl: cannot read 'rooms.fwrl': there is no such file\n"


def test_ctrl_c_while_the_command_is_imported_is_no_traceback(tmp_path):
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([*COMMAND, "worlds"], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "fwrl: stopped\n")


@unix
def test_ctrl_c_ends_workers_quietly(tmp_path):
    arguments = ("reproduce", "--only", "four-rooms-50x400", "--workers", "2", "--out", "r")
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while not (tmp_path / "r" / "results.sqlite").exists() and process.poll() is None:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    err = process.communicate(timeout=300)[1]
    assert process.returncode == 130
    assert "Traceback" not in err
    assert err.endswith("fwrl: stopped\n")


DRAWING_FOR_HOURS = """
import sys, time
from fwrl.cli import main
from fwrl.report import writing

def draw_figures(*_):
    print("drawing", flush=True)
    time.sleep(10_000)
    yield

if __name__ == "__main__":
    writing.draw_figures = draw_figures
    sys.argv = "fwrl reproduce --only h-maze --seeds 1 --workers 2 --out r".split()
    main()
"""


@unix
def test_ctrl_c_during_the_report_ends_the_other_process_quietly(tmp_path):
    """Theory is checked in another process while figures are drawn."""
    (tmp_path / "drawing.py").write_text(DRAWING_FOR_HOURS)
    process = subprocess.Popen(
        [sys.executable, "drawing.py"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "drawing\n"
    os.killpg(process.pid, signal.SIGINT)
    err = process.communicate(timeout=300)[1]
    assert process.returncode == 130
    assert "Traceback" not in err


def test_coordinates_may_be_called_lon_and_lat(call, kit, monkeypatch):
    monkeypatch.chdir(kit)
    named = "state=stop,lon=east,lat=north"
    assert call("plan", "p.fwrl", "A", "C", "--positions", "lonlat.csv", "--position-columns", named).code == 0


def test_positions_may_have_decimal_commas(kit):
    (kit / "comma.csv").write_text("state;x;y\nA;11,5862;48,1\nB;11,5;48\nC;-0,25;7\n")
    planner = fwrl.load(kit / "p.fwrl")
    assert isinstance(planner, fwrl.Planner)
    read = dict(zip(planner.states, read_positions(kit / "comma.csv", planner.states).tolist(), strict=True))
    assert [read[name] for name in "ABC"] == [[11.5862, 48.1], [11.5, 48.0], [-0.25, 7.0]]


def test_a_narrow_terminal_lists_agents_line_by_line(call, monkeypatch):
    call("worlds")
    monkeypatch.setenv("COLUMNS", "20")
    out = call("agents").out
    assert "\n  relaxation=exact\n" in out


def test_an_environment_that_ends_at_its_goal_for_nothing_is_warned_of():
    env = fwrl.wrap(gymnasium.make("CliffWalking-v1", max_episode_steps=1000))
    agent = fwrl.make_agent("random", env.n_states, env.n_actions)
    with pytest.warns(fwrl.FwrlWarning, match=r"none of \d+ episodes counts as a success, .*success=lambda"):
        fwrl.learn(agent, env, total_timesteps=20_000, seed=0)


def test_an_empty_result_is_told():
    env = fwrl.wrap(gymnasium.make("CliffWalking-v1", max_episode_steps=None))
    agent = fwrl.make_agent("random", env.n_states, env.n_actions)
    with pytest.warns(fwrl.FwrlWarning, match=r"no episode ended within 1,000 steps.*goal 0.*env.aim\(\)"):
        assert len(fwrl.learn(agent, env, total_timesteps=1000, seed=0).reward) == 0


def test_a_full_disk_leaves_no_part_of_an_export(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fwrl.experiment.export.csv.writer", full)
    with (
        Store(tmp_path / "results.sqlite") as store,
        pytest.raises(fwrl.FileError, match="No space left on device; nothing was exported"),
    ):
        export_results(store, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_spreadsheet_reads_no_formula_from_an_export(tmp_path):
    cells = ["=1+1.txt", "+A1", "@sum", "four-rooms", -3.5]
    assert [_no_formula(cell) for cell in cells] == ["'=1+1.txt", "'+A1", "'@sum", "four-rooms", -3.5]


@pytest.mark.parametrize("shape", [[0, 2**47, 2**47], [2**47, 2**47, 0, 3]])
def test_forged_sizes_are_refused(kit, tmp_path, shape):
    data = (kit / "kind.fwrl").read_bytes()
    begin, length = data.index(b"{"), int.from_bytes(data[12:16], "little")
    header = json.loads(data[begin : begin + length])
    header["sections"][0]["shape"] = shape
    text = json.dumps(header).encode()
    path = tmp_path / "forged.fwrl"
    path.write_bytes(struct.pack("<8sII32s", data[:8], 1, len(text), hashlib.sha256(text).digest()) + text + bytes(99))
    with pytest.raises(fwrl.FileError, match="header is not valid"):
        open_archive(path)
