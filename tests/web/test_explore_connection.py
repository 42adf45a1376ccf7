"""The explore page when answers are late, refused or lost with the connection."""

import pytest
from explore_visitor import asks, click, place, says
from web_browser import needs_browser, visiting
from web_town import write_town
from web_visitor import holds, settled

pytestmark = needs_browser

# Keeps the page's websocket at hand. `instead` says what goes out in place of messages of a type: null for nothing,
# as if the connection had broken. After `hold()`, messages come in by `release()`, up to and with the next answer.
TAP = """
const send = WebSocket.prototype.send;
window.instead = {};
WebSocket.prototype.send = function (text) {
  window.socket = this;
  const { type } = JSON.parse(text);
  const sent = type in instead ? instead[type] : text;
  if (sent !== null) send.call(this, sent);
};
window.hold = () => {
  const deliver = socket.onmessage;
  const isAnswer = ({ data }) => JSON.parse(data).type === "answer";
  window.held = [];
  window.answers = () => held.filter(isAnswer).length;
  window.release = () => held.splice(0, held.findIndex(isAnswer) + 1).forEach(deliver);
  socket.onmessage = (event) => held.push(event);
};
"""


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    town = write_town(tmp_path_factory.mktemp("town"))
    with visiting(str(town.planner), "--positions", str(town.positions), command="explore") as visits:
        yield visits


@pytest.fixture
def tapped(opened):
    """Open a page whose websocket is tapped, with messages of some types replaced from the beginning."""

    def tap(address="", instead="{}"):
        page = opened(1440, 900, address=address)
        page.add_init_script(TAP + f"window.instead = {instead};")
        page.reload()
        page.wait_for_selector("#sentence[data-found]")
        page.click("#fit")
        return page

    return tap


def reconnect(page):
    page.evaluate("instead = {}; socket.close()")
    page.click("#reconnect")


def test_a_late_answer_does_not_undo_what_was_clicked_meanwhile(tapped):
    page = tapped("from=home")
    asks(page, "from home")
    page.evaluate("hold()")
    click(page, "shop")
    page.keyboard.down("Shift")
    click(page, "lane")
    page.keyboard.up("Shift")
    holds(page, "answers() === 2")
    page.evaluate("release()")
    asks(page, "from home", "to shop")
    click(page, "mill", button="right")
    holds(page, "answers() === 2")
    page.evaluate("release(); release()")
    asks(page, "from home", "to shop", "via lane", "avoid mill")


def test_after_a_refused_question_answers_count_again(tapped):
    page = tapped("from=home", """{ ask: '{"type":"ask"}' }""")
    click(page, "shop")
    settled(page, page.locator("#notice").is_visible, True)
    page.evaluate("instead = {}")
    click(page, "park")
    asks(page, "from home", "to park")
    page.go_back()
    asks(page, "from home")
    click(page, "mill", button="right")
    asks(page, "from home", "avoid mill")


def test_after_a_lost_question_answers_count_again(tapped):
    page = tapped("from=home", "{ ask: null }")
    click(page, "shop")
    reconnect(page)
    click(page, "park")
    asks(page, "from home", "to park")
    page.go_back()
    asks(page, "from home")
    click(page, "mill", button="right")
    asks(page, "from home", "avoid mill")


def test_names_that_were_lost_with_the_connection_are_asked_for_again(tapped):
    page = tapped(instead="{ names: null }")
    reconnect(page)
    lane = place(page, "lane")

    def tip():
        page.mouse.move(*lane)
        return page.text_content("#tip")

    settled(page, tip, "lane")


def test_weak_spots_that_were_lost_with_the_connection_are_asked_for_again(tapped):
    page = tapped(instead="{ coverage: null }")
    page.click("#views [data-tool=coverage]")
    says(page, "Looking for weak spots")
    reconnect(page)
    says(page, "10 bridges")


def test_after_an_error_coverage_can_be_asked_for_again(tapped):
    page = tapped(instead="""{ coverage: '{"type":"coverage","of":1}' }""")
    page.click("#views [data-tool=coverage]")
    settled(page, page.locator("#notice").is_visible, True)
    page.evaluate("instead = {}")
    page.click("#views [data-tool=coverage]")
    says(page, "10 bridges")
