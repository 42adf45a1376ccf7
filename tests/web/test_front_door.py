"""`docs/front-door.html`: its agents equal the Python ones; the page is light, alive and accessible."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from web_axe import problems
from web_browser import BROWSER, FLAGS, needs_browser

import fwrl
from fwrl.task.rollout import rollout
from fwrl.task.task import Task
from fwrl.web.play.scenario import from_address

PAGE = Path(__file__).resolve().parents[2] / "docs" / "front-door.html"
TEXT = PAGE.read_text(encoding="utf-8")
MOST_BYTES = 300_000
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="no node on this machine")

Step = tuple[int, int, float, int, bool]

# Learn from a trace, then send both tables and all greedy actions; JSON has no infinity.
LEARN = """
const { size, trace, goals } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const agents = { fwrl: new Fwrl(size, 0), ql: new QLearning(size, 0) };
const all = [...Array(size).keys()];
const answer = {};
for (const [name, agent] of Object.entries(agents)) {
  agent.beginEpisode(goals[0]);
  for (const [s, a, r, next, arrived] of trace) agent.observe(s, a, r, next, arrived);
  const table = name === "fwrl" ? agent.F : agent.Q;
  answer[name] = {
    table: Array.from(table, (value) => (value === UNKNOWN ? null : value)),
    greedy: goals.map((goal) => all.map((s) => agent.greedy(s, goal))),
  };
}
console.log(JSON.stringify(answer));
"""
PRACTISE = """
const world = new World(JSON.parse(require("fs").readFileSync(0, "utf8")));
const steps = [];
const writer = { beginEpisode() {}, observe(...step) { steps.push(step); } };
practise(world, [writer], [0, world.size - 1], 20000, 3);
console.log(JSON.stringify(steps));
"""
MOVES = """
const world = new World(JSON.parse(require("fs").readFileSync(0, "utf8")));
console.log(JSON.stringify(world.floor().map((s) => [s, [0, 1, 2, 3].map((a) => world.next(s, a))])));
"""


def algorithm() -> str:
    """The JavaScript that the page shows and runs."""
    found = re.search(r'<script id="algorithm">\n(.*?)</script>', TEXT, re.DOTALL)
    assert found is not None
    return found[1]


def run_js(program: str, given: Any) -> Any:
    """What a program, after the page's algorithm, prints as JSON."""
    assert NODE is not None
    done = subprocess.run(
        [NODE, "-e", algorithm() + program], input=json.dumps(given), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def compare(size: int, trace: list[Step], goals: list[int]) -> None:
    """Let both languages learn from a trace: every value and every greedy action is the same, to the last bit."""
    said = run_js(LEARN, {"size": size, "trace": trace, "goals": goals})
    for name, agent in (
        ("fwrl", fwrl.make_agent("fwrl", size, 4, relaxation="paper")),
        ("ql", fwrl.make_agent("ql", size, 4)),
    ):
        agent.begin_episode(goals[0])
        for step in trace:
            agent.observe(*step)
        ours = agent.tables.F if name == "fwrl" else agent.tables.Q
        theirs = np.array([-np.inf if value is None else value for value in said[name]["table"]])
        np.testing.assert_array_equal(ours.ravel(), theirs)
        assert said[name]["greedy"] == [[agent.greedy(s, goal) for s in range(size)] for goal in goals]
        assert np.isfinite(theirs).any()


@needs_node
@pytest.mark.parametrize(
    ("name", "learner"),
    [
        ("four-rooms", "fwrl"),
        ("four-rooms", "ql"),
        ("windy-four-rooms", "ql"),
        ("windy-four-rooms", "random"),
        ("h-maze", "random"),
        ("muddy-rooms", "fwrl"),
    ],
)
def test_the_javascript_learns_what_python_learns(name, learner):
    world = fwrl.load_world(name)
    goal = world.n_states - 1
    walker = fwrl.make_agent(learner, world.n_states, world.n_actions, seed=1)
    steps = rollout(Task(world), walker, episodes=1, steps=2000, seed=2, goal=goal)
    trace = [(t.state, t.action, t.reward, t.next_state, t.arrived) for t in steps]
    compare(world.n_states, trace, [goal, 0, world.n_states // 2])


def inner_rows(name: str) -> list[str]:
    """A map without its outer wall, as the page has it."""
    path = Path(fwrl.__file__).parent / "worlds" / "maps" / f"{name}.txt"
    rows = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith(";")]
    return [row[1:-1] for row in rows[1:-1]]


@needs_node
def test_the_agents_that_the_page_opens_with_equal_python_on_the_same_practice():
    steps = run_js(PRACTISE, inner_rows("four-rooms"))
    assert len(steps) == 20_000
    compare(81, [tuple(step) for step in steps[10_000:]], [80, 0, 40])  # Q-learning starts over with the second goal
    agent = fwrl.make_agent("fwrl", 81, 4, relaxation="paper")
    for step in steps:
        agent.observe(*step)
    world = fwrl.load_world("four-rooms")
    cells = [(int(x) - 1) + 9 * (int(y) - 1) for x, y in (world.position(s) for s in range(world.n_states))]
    for goal, cell in enumerate(cells):  # FWRL knows the shortest route from everywhere to everywhere
        known = agent.values(cell)[cells] / -2.5e-4
        np.testing.assert_allclose(known, world.distances_to(goal), atol=1e-6)


@needs_node
def test_four_rooms_are_the_same_world():
    world = fwrl.load_world("four-rooms")
    moves = dict(run_js(MOVES, inner_rows("four-rooms")))
    assert len(moves) == world.n_states
    for s in range(world.n_states):
        x, y = (int(part) for part in world.position(s))
        reached = [world.position(world.outcomes(s, a)[0].next_state) for a in range(4)]
        assert moves[x - 1 + 9 * (y - 1)] == [int(i) - 1 + 9 * (int(j) - 1) for i, j in reached]


def test_the_page_is_one_small_file_that_fetches_nothing():
    assert len(TEXT.encode()) < MOST_BYTES
    assert re.findall(r"<(?:script|img|iframe|link|video)[^>]+(?:src|href)=\"(?!data:)", TEXT) == []
    assert re.findall(r"\bimport\b|\bfetch\(|XMLHttpRequest|url\(|sendBeacon|WebSocket", TEXT) == []
    assert 150 < len(algorithm().splitlines()) < 230


def luminance(colour: list[int]) -> float:
    """Relative luminance as in WCAG."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (part / 255 for part in colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_colours_get_darker_all_the_way_so_that_no_hue_is_needed():
    found = re.search(r"const ANCHORS = (\[\[.*?\]\]);", TEXT)
    assert found is not None
    shades = [luminance(colour) for colour in json.loads(found[1])]
    assert all(before > 1.3 * after for before, after in pairwise(shades))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright installed")
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield launched
        launched.close()


class Opened:
    """The page from its file; it may log nothing and ask for nothing but itself."""

    def __init__(self, browser: Any, width: int = 1280, height: int = 800, address: str = "", **options: Any) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": height}, **options)
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", lambda said: self.wrong.append(said.text) if said.type == "error" else None)
        self.page.on("request", lambda request: None if self.own(request.url) else self.wrong.append(request.url))
        self.page.goto(PAGE.as_uri() + (f"#{address}" if address else ""))

    def own(self, url: str) -> bool:
        return url.startswith((PAGE.as_uri(), "data:"))

    def __enter__(self) -> Any:
        return self.page

    def __exit__(self, *raised: object) -> None:
        self.context.close()
        assert self.wrong == []


PHONE: dict[str, Any] = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}


def counts(page: Any) -> list[str]:
    page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    return [text.strip() for text in page.locator(".count").all_inner_texts()]


def pause(page: Any) -> None:
    """Let nobody learn anything while a test looks. Not by the mouse: that scrolls to where the button is at rest."""
    page.evaluate("document.getElementById('play').click()")


def drag(page: Any, x: float, y: float, moves: int = 8) -> None:
    """Drag FWRL's flag to a place of its board, in parts of its width and height; the button stays down."""
    flag, board = page.locator(".flag").first.bounding_box(), page.locator(".board canvas").first.bounding_box()
    page.mouse.move(flag["x"] + flag["width"] / 2, flag["y"] + flag["height"] / 2)
    page.mouse.down()
    page.mouse.move(board["x"] + x * board["width"], board["y"] + y * board["height"], steps=moves)


@needs_browser
@pytest.mark.parametrize("size", [{}, PHONE], ids=["desktop", "phone"])
def test_dragging_the_flag_leaves_fwrl_full_and_q_learning_blank(browser, size):
    with Opened(browser, **size) as page:
        assert counts(page) == ["68 of 68", "68 of 68"]
        pause(page)
        for x, y in ((0.28, 0.28), (0.06, 0.94), (0.94, 0.06)):
            drag(page, x, y)
            assert counts(page) == ["68 of 68", "0 of 68"]
            page.mouse.up()


@needs_browser
def test_a_finger_drags_the_flag_and_not_the_page(browser):
    with Opened(browser, **PHONE) as page:
        pause(page)
        flag, board = page.locator(".flag").first.bounding_box(), page.locator(".board canvas").first.bounding_box()
        touch = page.context.new_cdp_session(page)
        for part in range(6):
            x = flag["x"] + 24 + part / 5 * (board["x"] + board["width"] / 18 - flag["x"] - 24)
            y = flag["y"] + 24 + part / 5 * (board["y"] + board["height"] / 18 - flag["y"] - 24)
            kind = "touchMove" if part else "touchStart"
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        assert counts(page) == ["68 of 68", "0 of 68"]
        assert "goal=1,1" in page.evaluate("location.hash")
        assert page.evaluate("scrollY") == 0


@needs_browser
def test_the_keyboard_moves_the_flag_and_draws_walls(browser):
    with Opened(browser, reduced_motion="reduce") as page:
        page.locator(".flag").first.focus()
        page.keyboard.press("ArrowLeft")
        assert counts(page) == ["68 of 68", "0 of 68"]
        assert "goal=8,9" in page.evaluate("location.hash")
        page.click("#draw")
        page.locator(".pencil").first.focus()
        page.keyboard.press("Enter")  # the middle of the board is a wall; now it is floor
        assert counts(page) == ["68 of 69", "0 of 69"]


@needs_browser
def test_with_reduced_motion_nothing_moves_until_asked(browser):
    with Opened(browser, reduced_motion="reduce") as page:
        assert page.inner_text("#play") == "Play"
        before = page.locator(".route").all_inner_texts()
        page.wait_for_timeout(600)
        assert page.locator(".route").all_inner_texts() == before


@needs_browser
def test_a_wall_in_a_door_is_never_forgotten(browser):
    with Opened(browser) as page:
        assert not page.is_visible("#wall-more")
        page.click("#question-2 [data-answer=once]")
        assert page.is_visible("#wall-more")
        bumps = int(page.inner_text("#bumps").split()[0].replace(",", ""))
        assert bumps > 3900
        board, wall, flag = (
            page.locator(f"#wall-demo {part}").bounding_box() for part in ("canvas", ".new-wall", ".mark")
        )
        marks = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in (wall, flag)]
        cells = [
            (int(9 * (x - board["x"]) / board["width"]), int(9 * (y - board["y"]) / board["height"])) for x, y in marks
        ]
        assert cells == [(7, 4), (8, 8)]  # the right door, and the flag at the bottom right


@needs_browser
def test_a_step_from_nothing_shows_both_rules_in_numbers(browser):
    with Opened(browser) as page:
        page.click("#reset")
        assert counts(page) == ["1 of 68", "0 of 68"]  # at the flag there is nothing to know
        page.click("#step")
        counts(page)
        assert "0.00025" in page.inner_text("#fwrl-edge")
        assert page.inner_text("#fwrl-changed") == "This step raised 1 value."
        assert page.inner_text("#ql-changed") == "This step changed 1 value."


@needs_browser
def test_a_link_opens_as_it_was_and_fwrl_play_reads_it(browser):
    with Opened(browser, reduced_motion="reduce") as page:
        page.click("#draw")
        board = page.locator(".board canvas").first
        box = board.bounding_box()
        board.click(position={"x": box["width"] * 7.5 / 9, "y": box["height"] * 4.5 / 9})  # the right door
        page.click("#draw")
        drag(page, 0.06, 0.06)
        page.mouse.up()
        address, seen = page.evaluate("location.hash").removeprefix("#"), counts(page)
        offered = page.inner_text("#play-address")
    assert seen[1] == "0 of 67"
    assert offered == f"http://127.0.0.1:8765/#{address}"
    with Opened(browser, address=address, reduced_motion="reduce") as page:
        assert counts(page) == seen
    scenario = from_address(address)
    assert scenario.goal == scenario.world.state_at(1, 1)
    assert [agent.name for agent in scenario.agents] == ["fwrl", "ql"]
    assert scenario.steps == 16_000


@needs_browser
@pytest.mark.parametrize("address", ["", "goal=99,1", "map=abc&goal=1,1", "goal=2,2&map=%23", "%%%", "goal=6,1"])
def test_a_link_that_makes_no_sense_opens_all_the_same(browser, address):
    with Opened(browser, address=address) as page:
        assert counts(page)[0] == "68 of 68"


@needs_browser
def test_a_link_to_agents_without_practice_opens_on_agents_who_know_nothing(browser):
    with Opened(browser, address="goal=1,1&steps=0", reduced_motion="reduce") as page:
        assert counts(page)[0] == "1 of 68"


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [{}, PHONE], ids=["desktop", "phone"])
def test_axe_finds_nothing(browser, scheme, size):
    with Opened(browser, color_scheme=scheme, reduced_motion="reduce", **size) as page:
        assert problems(page) == []
        page.click("#question-1 [data-answer=both]")
        page.click("#question-2 [data-answer=never]")
        page.click("#reset")
        page.click("#draw")
        for _ in range(3):
            page.click("#step")
        assert problems(page) == []


SMALL = """() => [...document.querySelectorAll("button, input")]
    .filter((part) => part.offsetParent && !part.classList.contains("pencil"))
    .map((part) => [part.outerHTML.slice(0, 60), part.getBoundingClientRect()])
    .filter(([, box]) => Math.min(box.width, box.height) < 44).map(([html]) => html)"""


@needs_browser
def test_on_a_phone_everything_is_large_enough_to_touch_and_boards_stack(browser):
    with Opened(browser, **PHONE) as page:
        assert page.evaluate(SMALL) == []
        first, second = (board.bounding_box() for board in page.locator(".side .board").all())
        assert second["y"] > first["y"] + first["height"]
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


FRAMES = """() => new Promise((counted) => {
    let frames = 0;
    const begun = performance.now();
    const frame = (now) => {
        frames += 1;
        if (now - begun < 3000) requestAnimationFrame(frame);
        else counted(frames / ((now - begun) / 1000));
    };
    requestAnimationFrame(frame);
    const flag = document.querySelector(".flag");
    const box = document.querySelector(".board canvas").getBoundingClientRect();
    const send = (kind, x, y) => flag.dispatchEvent(new PointerEvent(kind, { clientX: x, clientY: y, pointerId: 1 }));
    flag.setPointerCapture = () => {};
    send("pointerdown", box.left, box.top);
    const move = () => {
        const turn = performance.now() / 150;
        const at = (part) => 0.5 + 0.45 * part;
        send("pointermove", box.left + at(Math.sin(turn)) * box.width, box.top + at(Math.cos(turn * 1.3)) * box.height);
        if (performance.now() - begun < 3000) requestAnimationFrame(move);
    };
    requestAnimationFrame(move);
})"""
FIRST_PICTURE = """Math.max(...["first-contentful-paint", "alive"].map(
    (name) => performance.getEntriesByName(name)[0].startTime))"""  # text, and boards


@needs_browser
@pytest.mark.stress
def test_it_is_fast_on_a_slow_phone(browser, capsys):
    """The only assertions about time: they run with `make stress`, not on a machine that is shared."""
    with Opened(browser, **PHONE) as page:
        page.wait_for_timeout(500)
        first = page.evaluate(FIRST_PICTURE)
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
        page.reload()
        page.wait_for_timeout(2000)
        slow = page.evaluate(FIRST_PICTURE)
        rate = page.evaluate(FRAMES)
    with capsys.disabled():
        print(f"first picture after {first:.0f} ms, {slow:.0f} ms when four times slower; {rate:.0f} frames a second")
    assert first < 1000
    assert rate >= 30


@needs_browser
def test_arrows_are_drawn_over_the_route(browser):
    with Opened(browser, reduced_motion="reduce", address="world=four-rooms&goal=3,3") as page:
        # The dot begins at the lower left, and its route goes through the door above: a light cell with a dark arrow.
        middle = """(canvas) => {
            const side = canvas.width / 9;
            return [...canvas.getContext("2d").getImageData(1.5 * side, 4.5 * side, 1, 1).data].slice(0, 3);
        }"""
        assert max(page.locator(".board canvas").first.evaluate(middle)) < 60
