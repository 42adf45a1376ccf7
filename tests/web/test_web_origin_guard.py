"""The origin guard: which requests are refused, and what the page may load."""

import contextlib
import http.client
import socket
import time

import pytest
from web_server import running
from websockets.exceptions import InvalidStatus

from fwrl.web.origin_guard import HEADERS


@pytest.fixture(scope="module")
def server():
    with running("--port", "0") as server:
        yield server


FILES = [
    ("/", "text/html"),
    ("/main.js", "text/javascript"),
    ("/play.css", "text/css"),
    ("/static/wire.js", "text/javascript"),
    ("/static/look.css", "text/css"),
]


def status_of(server, path="/", **headers):
    host, _, port = server.host.rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=30)
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


def test_the_page_and_its_files_are_served_and_may_load_nothing_from_elsewhere(server):
    for path, kind in FILES:
        response, body = status_of(server, path)
        assert response.status == 200
        assert response.headers["content-type"].startswith(kind)
        assert "default-src 'none'" in response.headers["content-security-policy"]
        assert b"http://" not in body.replace(b"http://www.w3.org", b"")
        assert b"https://" not in body
    for path in ("/../session.py", "/%2e%2e/session.py", "/static/../server.py", "/static/%2e%2e/server.py"):
        assert status_of(server, path)[0].status == 404


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "", "[", "10.0.0.1"])
def test_a_foreign_host_is_refused(server, host):
    host = host.format(port=server.host.rpartition(":")[2])
    response, body = status_of(server, Host=host)
    assert response.status == 403
    assert b"Host" in body
    with pytest.raises(InvalidStatus) as refused, server.page(additional_headers={"Host": host}):
        pass
    assert refused.value.response.status_code in (400, 403)


@pytest.mark.parametrize("origin", ["http://evil.example", "http://localhost:3000", "null", "https://{host}", None])
def test_a_foreign_origin_is_refused(server, origin):
    origin = origin and origin.format(host=server.host)
    with pytest.raises(InvalidStatus) as refused, server.page(origin=origin):
        pass
    assert refused.value.response.status_code == 403
    if origin:
        assert status_of(server, Origin=origin)[0].status == 403


def test_localhost_is_this_computer_too(server):
    port = server.host.rpartition(":")[2]
    assert status_of(server, Host=f"localhost:{port}")[0].status == 200
    assert status_of(server, Origin=f"http://{server.host}")[0].status == 200


def test_every_answer_carries_the_security_headers_refusals_too(server):
    answers = {
        200: status_of(server)[0].headers,
        404: status_of(server, "/nothing-here")[0].headers,
        403: status_of(server, Host="evil.example")[0].headers,
    }
    with pytest.raises(InvalidStatus) as refused, server.page(origin="http://evil.example"):
        pass
    answers[refused.value.response.status_code * 10] = refused.value.response.headers
    with server.page() as page:
        assert page.socket.response is not None
        answers[101] = page.socket.response.headers
    for status, headers in answers.items():
        assert {name: headers.get(name) for name in HEADERS} == HEADERS, status


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HTTP/1.1\r\nHost: ", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HT"],
)
def test_a_request_that_is_never_finished_is_ended(sent):
    with running(request_seconds=1.0) as server:
        host, _, port = server.host.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=30) as connection:
            connection.sendall(sent)
            with contextlib.suppress(ConnectionResetError):
                while connection.recv(4096):  # until the server closes it; the time limit of the socket fails the test
                    pass


def test_a_page_stays_open_longer_than_a_request_may_take():
    with running(request_seconds=0.5) as server, server.page() as page:
        page.receive("state")
        time.sleep(1)
        page.send("step")
        page.receive("update")
