"""Clients that people use, unmodified, each in an environment of its own, against `singletable serve`."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, Final

import pytest

from clients.environments import CannotInstallError, Client, clients
from clients.pages import PROGRAM_S_MAX, SEALED, ClientPage
from documents.blocks import CLIENT_PAGES, blocks_of, section_of
from singletable.storage.check import check_file
from support.serving import CommandProcess

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.clients

CREDENTIALS: Final = {
    "AWS_ACCESS_KEY_ID": "local",
    "AWS_SECRET_ACCESS_KEY": "local",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_REGION": "us-east-1",
}


@pytest.fixture(params=clients(), ids=lambda client: client.name)
def client(request: pytest.FixtureRequest) -> Client:
    wanted = request.param
    assert isinstance(wanted, Client)
    try:
        wanted.install()
    except CannotInstallError as reason:
        pytest.skip(str(reason))
    return wanted


def test_session_proves_what_the_page_of_the_client_says(client: Client, tmp_path: Path) -> None:
    with CommandProcess("serve", "app.db", "--port", "0", "--json", cwd=tmp_path) as server:
        ready = json.loads(server.read_line())
        lines = run_program(client, tmp_path, f"http://127.0.0.1:{ready['port']}")
        code, _, said = server.end(signal.SIGTERM)
    assert code == 0, said
    assert check_file(str(tmp_path / "app.db")) == []
    introduced, *proofs = lines
    assert client.versions[introduced["client"]] == introduced["version"]
    index = (CLIENT_PAGES / "README.md").read_text(encoding="utf-8")
    assert re.search(rf"\({client.name}\.md\) \| .*\b{re.escape(introduced['version'])} \|", index)
    proven = section_of(CLIENT_PAGES / f"{client.name}.md", "## Proven")
    assert f"{introduced['client']} {introduced['version']}" in proven
    assert re.findall(r"^- (.+)$", proven, re.MULTILINE) == [line["proved"] for line in proofs]


def test_blocks_of_the_page_do_what_they_show(client: Client, tmp_path: Path) -> None:
    blocks = blocks_of(CLIENT_PAGES / f"{client.name}.md")
    assert {"console"} <= {block.language for block in blocks}
    client.place(tmp_path)
    with ExitStack() as stack:
        page = ClientPage(tmp_path, stack, client=client)
        for block in blocks:
            page.run(block)


def run_program(client: Client, directory: Path, url: str) -> list[dict[str, Any]]:
    """Run the client's program in a directory; return the lines that it prints."""
    for source in client.language.sources:
        shutil.copy(client.directory / source, directory)
    client.place(directory)
    # What the client leaves behind (dynamodb-admin is a server) is of its group, and ends with it.
    program = subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", client.language.run_program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=directory,
        env=environment(client, directory, url),
        start_new_session=True,
    )
    try:
        printed, said = program.communicate(timeout=PROGRAM_S_MAX)
    finally:
        end_group(program.pid)
    assert program.returncode == 0, f"{printed}\n{said}"
    return [json.loads(line) for line in printed.splitlines()]


def environment(client: Client, directory: Path, url: str) -> dict[str, str]:
    """Return the variables of a program: none of the user's settings for AWS, and dummy credentials."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return {
        **plain,
        **SEALED,
        **CREDENTIALS,
        **client.language.variables,
        "AWS_ENDPOINT_URL_DYNAMODB": url,
        "AWS_ENDPOINT_URL_DYNAMODB_STREAMS": url,
        "HOME": str(directory),
        "PATH": f"{client.programs}:{os.environ['PATH']}",
    }


def end_group(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
