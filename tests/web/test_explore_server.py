"""The server behind the explore page: what a page is sent, malformed messages, safety, and the command's refusals."""

import json
import random
import signal
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from web_server import TIMEOUT, running
from web_town import write_town
from websockets.exceptions import InvalidStatus

import fwrl
from fwrl.web.explore.controller import HANDLERS
from fwrl.web.explore.state_map import HEADER
from fwrl.web.origin_guard import HEADERS

STATIC = Path(fwrl.__file__).parent / "web" / "explore" / "static"


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    return write_town(tmp_path_factory.mktemp("town"))


@pytest.fixture(scope="module")
def server(town):
    with running(str(town.planner), "--positions", str(town.positions), "--port", "0", command="explore") as server:
        yield server


def ask(page, start, goal, **more):
    usual = {"via": [], "avoid": [], "roads": [], "backup": "expected", "view": "route"}
    page.send("ask", start=start, goal=goal, **usual | more)
    return page.receive("answer")


def test_a_new_page_is_sent_the_log_its_map_and_the_answer_of_its_address(server):
    with server.page(address="from=home&to=shop") as page:
        assert (page.receive("hello")["states"], HEADER.unpack_from(page.frame())[2]) == (11, 11)
        answer = page.receive("answer")
        assert answer["address"] == "from=home&to=shop"
        assert answer["sentence"].startswith("4 steps, arrives 94 %")
        again = ask(page, answer["from"][0], answer["to"][0], backup="best")
        assert again["address"] == "from=home&to=shop&backup=best"
        page.send("address", address="view=coverage")
        assert page.receive("answer")["view"] == "coverage"
        page.send("coverage")
        assert page.receive("coverage")["counts"]["dead ends"] == 2


def test_hours_of_the_page_take_the_place_of_a_time_of_day_of_the_command(town):
    arguments = (str(town.log), "--at", "09:00", "--around", "30min", "--port", "0")
    with running(*arguments, command="explore") as server, server.page() as page:
        assert page.receive("hello")["states"] == 2  # square and shop
        page.send("filter", hours="8-10", weekdays="", since="", until="", min_trips="")
        assert page.receive("hello")["states"] > 2


def test_a_link_that_cannot_be_shown_gives_an_error_and_an_empty_question(server):
    with server.page(address="from=nowhere&to=shop") as page:
        assert "unknown state 'nowhere'" in page.receive("error")["message"]
        assert page.receive("answer")["from"] is None


def test_a_page_must_begin_once_and_first(server):
    with server.page(begin=False) as page:
        page.send("coverage")
        assert "'begin' first" in page.receive("error")["message"]
        page.send("begin", address="")
        page.receive("answer")
        page.send("begin", address="")
        assert "'begin' first" in page.receive("error")["message"]


BAD = [
    {"type": "ask", "start": 0, "goal": 1},
    {"type": "ask", "start": 0, "goal": 99, "via": [], "avoid": [], "roads": [], "backup": "best", "view": "route"},
    {"type": "ask", "start": 0, "goal": 1, "via": ["x"], "avoid": [], "roads": [], "backup": "best", "view": "route"},
    {"type": "ask", "start": 0, "goal": 1, "via": [True], "avoid": [], "roads": [], "backup": "best", "view": "route"},
    {
        "type": "ask",
        "start": 0,
        "goal": 1,
        "via": [],
        "avoid": [0] * 101,
        "roads": [],
        "backup": "best",
        "view": "route",
    },
    {"type": "ask", "start": 0, "goal": 1, "via": [], "avoid": [], "roads": [], "backup": "__class__", "view": "route"},
    {"type": "ask", "start": 0, "goal": 1, "via": [], "avoid": [], "roads": [], "backup": "best", "view": "../"},
    {"type": "ask", "start": -2, "goal": 1, "via": [], "avoid": [], "roads": [], "backup": "best", "view": "route"},
    {"type": "ask", "start": 0, "goal": 1, "via": [], "avoid": [], "roads": [1], "backup": "best", "view": "route"},
    {"type": "reach", "state": 99, "toward": True},
    {"type": "filter", "hours": "7-9", "weekdays": "", "since": "", "until": "", "min_trips": ""},
    {"type": "names", "states": [2**70]},
    {"type": "names", "states": [0] * 501},
    {"type": "names", "states": "abc"},
    {"type": "look", "state": -1},
    {"type": "look", "state": 1.5},
    {"type": "search", "text": "x" * 201},
    {"type": "search", "text": None},
    {"type": "address", "address": "from=%ff"},
    {"type": "address", "address": "nonsense=1"},
    {"type": "copy", "what": "/etc/passwd"},
    {"type": "begin", "address": ""},
    {"type": "open", "text": ""},
]


def test_malformed_messages_are_answered_by_an_error_and_change_nothing(server):
    rng = random.Random(0)
    with server.page(address="from=home&to=shop") as page:
        page.receive("answer")
        for message in BAD:
            page.socket.send(json.dumps(message))
            assert page.receive("error")["message"]
        for _ in range(100):
            kind = rng.choice(sorted(HANDLERS))
            wrong: dict[str, Any] = {
                "type": kind,
                rng.choice(["state", "text", "x"]): rng.choice([None, {}, -1, 1e300, []]),
                "y": 1,
            }
            page.socket.send(json.dumps(wrong))
            assert page.receive("error")["message"]
        page.send("copy", what="command")
        assert page.receive("copied")["text"].endswith("home shop")


def test_searches_with_every_wild_character_are_answered(server):
    with server.page() as page:
        for text in ("*", "?", "[", "[a-", "\\", "**", "\u0000", "\U0001f600", " "):
            page.send("search", text=text)
            assert page.receive("found")["text"] == text


def test_all_answers_carry_the_security_headers_and_foreign_requests_are_refused(server):
    for path, code in (("", 200), ("main.js", 200), ("/nothing", 404), ("static/look.css", 200)):
        try:
            with urllib.request.urlopen(server.url + path) as answer:
                got, headers = answer.status, answer.headers
        except urllib.error.HTTPError as error:
            got, headers = error.code, error.headers
        assert got == code
        assert {name: headers[name] for name in HEADERS} == HEADERS
    request = urllib.request.Request(server.url, headers={"Origin": "http://evil.example"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request)
    assert refused.value.code == 403
    with pytest.raises(InvalidStatus), server.page(origin="http://evil.example"):
        pass


def test_the_page_preloads_every_module_that_it_imports():
    index = (STATIC / "index.html").read_text()
    own = {path.name for path in STATIC.glob("*.js")} - {"main.js"}
    assert {name for name in own if f'<link rel="modulepreload" href="{name}">' in index} == own
    imported = {
        line.split('"/static/')[1].split('"')[0]
        for path in STATIC.glob("*.js")
        for line in path.read_text().splitlines()
        if line.startswith("import") and '"/static/' in line
    }
    assert imported
    assert {name for name in imported if f'<link rel="modulepreload" href="/static/{name}">' in index} == imported


def test_ctrl_c_ends_it(town):
    with running(str(town.planner), "--port", "0", command="explore") as server, server.page() as page:
        page.receive("answer")
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(timeout=TIMEOUT) == 130
        assert server.output() == "fwrl: stopped\n"


def test_files_that_hold_no_planner_are_refused_before_anything_is_served(call, town, tmp_path):
    agent = tmp_path / "agent.fwrl"
    fwrl.make_agent("ql", 3, 2).save(agent)
    damaged = tmp_path / "damaged.fwrl"
    damaged.write_bytes(town.planner.read_bytes()[:100])
    for arguments, problem in (
        ((str(agent),), "planner"),
        ((str(damaged),), "damaged"),
        ((str(town.planner), "--cost", "elapsed"), "give the log instead"),
        ((str(town.planner), str(town.log)), "fwrl merge"),
        (("none.fwrl",), "none.fwrl"),
        ((str(town.planner), "--positions", "none.csv"), "none.csv"),
        ((str(town.planner), "--position-columns", "x=east"), "needs --positions"),
        ((str(town.planner), "--old-after", "soon"), "expected an age as 30d"),
        ((str(town.planner), "--host", "192.0.2.1"), "192.0.2.1"),
    ):
        code, out, err = call("explore", *arguments, "--no-browser")
        assert (code, out) == (2, ""), arguments
        assert problem in " ".join(err.split()), err
        assert "Traceback" not in err


def test_the_limit_for_old_steps_is_an_option(town):
    arguments = (str(town.planner), "--port", "0", "--old-after", "3d")
    with running(*arguments, command="explore") as server, server.page() as page:
        assert page.receive("hello")["old"] == "3 days"
