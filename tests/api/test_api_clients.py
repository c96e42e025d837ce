"""Clients that others' generators make of the document: they compile, and work. `make test-api` (pip, npm)."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from designs.studio import Studio
from support.asking_api import SECRET

pytestmark = pytest.mark.api

_MODULE = f"""
import sys

sys.path.append({str(Path(__file__).parents[1])!r})
from singletable.api import BearerAuthentication
from support.asking_api import PEOPLE, studio_api

API = studio_api()
AUTH = BearerAuthentication(PEOPLE.get)
"""
_PYTHON = """
import sys

from studio_client import AuthenticatedClient
from studio_client.api.painting import create_painting, update_painting
from studio_client.api.patterns import paintings
from studio_client.models import Painting, PaintingChange, PaintingCreate, Problem

client = AuthenticatedClient(base_url=sys.argv[1], token="ada")
made = create_painting.sync(client=client, body=PaintingCreate(painting_id="p1", title="From Python"))
assert isinstance(made, Painting)
refused = update_painting.sync("ada", "p1", client=client, body=PaintingChange(title="Late"), if_match='"7"')
assert isinstance(refused, Problem)
page = paintings.sync(client=client, limit=10)
assert page is not None
assert not isinstance(page, Problem)
print([each.title for each in page.items], refused.status)
"""
_TYPESCRIPT = """
import createClient from "openapi-fetch";
import type { paths } from "./api";

declare const process: { argv: string[] };
const client = createClient<paths>({ baseUrl: process.argv[2], headers: { Authorization: "Bearer ada" } });
const body = { painting_id: "t1", title: "From TypeScript", tags: ["x"] };
const made = await client.POST("/paintings", { body });
if (made.error) throw new Error(made.error.detail);
const page = await client.GET("/patterns/paintings", { params: { query: { status: "wet", limit: 10 } } });
if (page.error) throw new Error(page.error.detail);
const titles: string[] = page.data.items.map((painting) => painting.title);
const wrong = await client.GET("/patterns/paintings", {
  // @ts-expect-error: there is no such status
  params: { query: { status: "soft" } },
});
console.log(JSON.stringify(titles), wrong.error?.status);
"""


def run(folder: Path, *words: str) -> str:
    ran = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=300, check=False, env={**os.environ}
    )
    assert ran.returncode == 0, f"{' '.join(words)}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """The address of a studio's API; its document is in the folder."""
    (tmp_path / "studio_api.py").write_text(_MODULE)
    Studio.open(str(tmp_path / "studio.db")).close()
    words = ["studio_api:API", "--auth", "studio_api:AUTH", "--port", "0", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "singletable", "api", *words],
        cwd=tmp_path,
        env={**os.environ, "SINGLETABLE_CURSOR_SECRET": SECRET},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        url: str = json.loads(process.stdout.readline())["url"]
        (tmp_path / "openapi.json").write_bytes(httpx.get(f"{url}/openapi.json", timeout=20).content)
        yield url
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)


def test_python_client_is_typed_and_works(served: str, tmp_path: Path) -> None:
    run(tmp_path, sys.executable, "-m", "venv", "venv")
    run(tmp_path, "venv/bin/pip", "install", "-q", "openapi-python-client", "mypy")
    made = run(
        tmp_path,
        "venv/bin/openapi-python-client",
        *("generate", "--path", "openapi.json", "--meta", "none", "--output-path", "studio_client"),
    )
    assert "Unable to parse" not in made
    (tmp_path / "use.py").write_text(_PYTHON)
    run(tmp_path, "venv/bin/mypy", "--strict-optional", "studio_client", "use.py")
    assert run(tmp_path, "venv/bin/python", "use.py", served) == "['From Python'] 412\n"


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_typescript_client_is_typed_and_works(served: str, tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"type": "module", "private": true}')
    run(tmp_path, "npm", "install", "--silent", "openapi-typescript@7", "openapi-fetch", "typescript@5")
    run(tmp_path, "npx", "openapi-typescript", "openapi.json", "-o", "api.d.ts")
    (tmp_path / "use.ts").write_text(_TYPESCRIPT)
    strict = ("--strict", "--module", "esnext", "--moduleResolution", "bundler", "--target", "es2022")
    run(tmp_path, "npx", "tsc", *strict, "--skipLibCheck", "use.ts")
    assert run(tmp_path, "node", "use.js", served) == '["From TypeScript"] 422\n'
