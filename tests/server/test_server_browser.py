"""Web pages in a real Chromium: what those of strangers can do to a server on their machine, and those allowed."""

from __future__ import annotations

import http.client
import json
import queue
import shutil
import signal
import subprocess
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final

import pytest

from support.serving import AUTHORIZATION, CommandProcess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CHROMIUM: Final = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
PAGE_S_MAX: Final = 60.0
TABLE: Final = {
    "TableName": "things",
    "AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}

pytestmark = [
    pytest.mark.clients,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here"),
]

# What a page has to try, as the AWS SDK for JavaScript sends it; each attempt tells what it got to see.
SCRIPT: Final = """
const headers = {
  "content-type": "application/x-amz-json-1.0",
  "authorization": AUTHORIZATION,
  "x-amz-date": "20261115T120000Z",
  "amz-sdk-invocation-id": "a", "amz-sdk-request": "attempt=1; max=3",
  "x-amz-user-agent": "aws-sdk-js/3.1162.0",
};
async function seen(attempt) {
  try {
    const answer = await attempt();
    if (answer.type === "opaque") return "opaque";
    return {status: answer.status, id: answer.headers.get("x-amzn-requestid"), text: await answer.text()};
  } catch (error) {
    return error.name;
  }
}
const call = (url, operation, body) => seen(() => fetch(url, {
  method: "POST",
  headers: {...headers, "x-amz-target": "DynamoDB_20120810." + operation},
  body: JSON.stringify(body),
}));
async function sandboxed(url) {
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts";
  frame.srcdoc = `<script>fetch("${url}", {method: "POST", mode: "no-cors", body: "{}"})
    .then(() => parent.postMessage("sent", "*"), () => parent.postMessage("not sent", "*"))</` + "script>";
  const told = new Promise((done) => addEventListener("message", (event) => done(event.data)));
  document.body.append(frame);
  return told;
}
async function submitted(url) {
  const form = Object.assign(document.createElement("form"),
    {method: "post", enctype: "text/plain", action: url, target: "answer"});
  const frame = Object.assign(document.createElement("iframe"), {name: "answer"});
  document.body.append(frame, form);
  const told = new Promise((done) => { frame.onload = () => done("loaded"); });
  form.submit();
  return told;
}
async function main() {
  const url = URL_OF_SERVER;
  return {
    created: await call(url, "CreateTable", TABLE),
    listed: await call(url, "ListTables", {}),
    health: await seen(() => fetch(url)),
    text: await seen(() => fetch(url, {method: "POST", mode: "no-cors", body: "{}"})),
    sandboxed: await sandboxed(url),
    submitted: await submitted(url),
  };
}
main().catch(String).then((told) => fetch("/told", {method: "POST", body: JSON.stringify(told)}));
"""


class Pages(ThreadingHTTPServer):
    """A site with one page. What it does not have it passes on, as when its name points at the server by now."""

    daemon_threads = True

    def __init__(self, server_port: int, url: str | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.port = int(self.server_address[1])
        self.passes_to = server_port
        self.url = url or f"http://127.0.0.1:{server_port}/"
        self.told: queue.Queue[dict[str, Any]] = queue.Queue()

    def page(self) -> bytes:
        script = SCRIPT
        named = {"URL_OF_SERVER": self.url, "AUTHORIZATION": AUTHORIZATION.partition(": ")[2], "TABLE": TABLE}
        for name, value in named.items():
            script = script.replace(name, json.dumps(value))
        return f"<!doctype html><body><script>{script}</script></body>".encode()


class _Handler(BaseHTTPRequestHandler):
    server: Pages

    def do_GET(self) -> None:
        if self.path == "/page":
            self._answer(200, {"Content-Type": "text/html"}, self.server.page())
        elif self.path == "/favicon.ico":
            self._answer(204, {}, b"")
        else:
            self._pass_on()

    def do_POST(self) -> None:
        if self.path == "/told":
            self.server.told.put(json.loads(self._body()))
            self._answer(204, {}, b"")
        else:
            self._pass_on()

    def log_request(self, code: object = "-", size: object = "-") -> None:
        pass

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", "0")))

    def _pass_on(self) -> None:
        passed = http.client.HTTPConnection("127.0.0.1", self.server.passes_to, timeout=PAGE_S_MAX)
        passed.request(self.command, self.path, self._body(), dict(self.headers.items()))
        answer = passed.getresponse()
        self._answer(answer.status, dict(answer.getheaders()), answer.read())
        passed.close()

    def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "connection", "server", "date"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def pages(site: Pages) -> Iterator[Pages]:
    serving = threading.Thread(target=site.serve_forever)
    serving.start()
    try:
        yield site
    finally:
        site.shutdown()
        serving.join()
        site.server_close()


def told_by(site: Pages, host: str, directory: Path) -> dict[str, Any]:
    """Show the page of a site, by a name that points at this machine; return what it tells."""
    assert CHROMIUM is not None
    with subprocess.Popen(
        [
            *(CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"),
            *("--disable-background-networking", f"--user-data-dir={directory / 'profile'}"),
            f"--host-resolver-rules=MAP {host} 127.0.0.1",
            f"http://{host}:{site.port}/page",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as browser:
        try:
            return site.told.get(timeout=PAGE_S_MAX)
        finally:
            browser.terminate()


def served(directory: Path, *options: str) -> CommandProcess:
    # Without signatures, and with a table for the taking: nothing else is in the way of a page.
    arguments = ("--port", "0", "--json", "--log", "json", "--no-sign-check", *options)
    return CommandProcess("serve", *arguments, cwd=directory)


def answered(server: CommandProcess) -> list[tuple[str, int]]:
    """End the server; return the method and status of each of its answers."""
    code, _, log = server.end(signal.SIGTERM)
    assert code == 0, log
    return [
        (line["method"], line["status"]) for line in map(json.loads, log.splitlines()) if "method" in line
    ]


def test_page_of_another_origin_reads_nothing_and_changes_nothing(tmp_path: Path) -> None:
    with served(tmp_path) as server, pages(Pages(json.loads(server.read_line())["port"])) as site:
        told = told_by(site, "page.example", tmp_path)
        assert told == {
            "created": "TypeError",
            "listed": "TypeError",
            "health": "TypeError",
            "text": "opaque",
            "sandboxed": "sent",
            "submitted": "loaded",
        }
        answers = answered(server)
    # Two that were asked ahead for, the health, and three that no browser asks ahead for.
    assert answers == [("OPTIONS", 403), ("OPTIONS", 403), ("GET", 403), *[("POST", 403)] * 3]


def test_page_of_an_allowed_origin_calls_as_the_sdk_does(tmp_path: Path) -> None:
    site = Pages(0)
    origin = f"http://page.example:{site.port}"
    with served(tmp_path, "--cors-origin", origin) as server, pages(site):
        site.url = json.loads(server.read_line())["url"] + "/"
        told = told_by(site, "page.example", tmp_path)
        answers = answered(server)
    assert (told["created"]["status"], json.loads(told["listed"]["text"])) == (
        200,
        {"TableNames": ["things"]},
    )
    assert told["health"]["text"] == "healthy: dynamodb.us-east-1.amazonaws.com "
    assert len(told["listed"]["id"]) == 52
    # That of the sandbox is of no origin, and only what is named is allowed. A form and a text are no operations.
    assert sorted(answers) == [
        *[("GET", 200), ("OPTIONS", 200)],
        *[("POST", 200), ("POST", 200), ("POST", 400), ("POST", 403), ("POST", 404)],
    ]


def test_page_whose_name_points_at_the_server_by_now_is_refused(tmp_path: Path) -> None:
    """DNS rebinding: to the browser the page and the server are one origin, so nothing is asked ahead for."""
    with (
        served(tmp_path) as server,
        pages(Pages(json.loads(server.read_line())["port"], url="/")) as site,
    ):
        told = told_by(site, "evil.example", tmp_path)
        answers = answered(server)
    for attempt in ("created", "listed", "health", "text"):
        assert told[attempt]["status"] == 403
        assert "'evil.example'" in json.loads(told[attempt]["text"])["message"]
    assert {status for _, status in answers} == {403}


def test_page_by_an_allowed_name_is_the_servers_own(tmp_path: Path) -> None:
    with (
        served(tmp_path, "--allow-host", "evil.example") as server,
        pages(Pages(json.loads(server.read_line())["port"], url="/")) as site,
    ):
        told = told_by(site, "evil.example", tmp_path)
        answered(server)
    assert json.loads(told["listed"]["text"]) == {"TableNames": ["things"]}
