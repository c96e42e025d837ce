"""`singletable api`: the real command, its ready line, its workers, and what it refuses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from designs.studio import Painting, Studio
from support.asking_api import SECRET

_MODULE = f"""
import sys

sys.path.append({str(Path(__file__).parents[1])!r})
from designs.studio import Painting, Studio
from singletable.api import Api, BearerAuthentication, EntityApi, PatternApi, Principal

API = Api(Studio, entities=[EntityApi(Painting)], patterns=[PatternApi("paintings")])
AUTH = BearerAuthentication({{"ada": Principal("ada")}}.get)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop_api.py").write_text(_MODULE)
    with Studio.open(str(tmp_path / "studio.db")) as db:
        db.create(Painting(user_id="ada", painting_id="p", title="Sea"))
    return tmp_path


def command(program: list[str], folder: Path, *words: str, **variables: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*program, "api", *words],
        cwd=folder,
        env={**os.environ, **variables},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("workers", ["1", "2"])
def test_command_serves_what_is_declared(warm_programs: Path, folder: Path, workers: str) -> None:
    words = ["shop_api:API", "--auth", "shop_api:AUTH", "--port", "0", "--json", "--workers", workers]
    # Workers are started by Python itself, not forked.
    program = (
        [str(warm_programs / "singletable")] if workers == "1" else [sys.executable, "-m", "singletable"]
    )
    process = command(program, folder, *words, SINGLETABLE_CURSOR_SECRET=SECRET)
    assert process.stdout is not None
    try:
        ready = json.loads(process.stdout.readline())
        assert "url" in ready, ready
        with httpx.Client(
            base_url=ready["url"], headers={"Authorization": "Bearer ada"}, timeout=20
        ) as client:
            shown: dict[str, Any] = client.get("/patterns/paintings").json()
            assert [each["title"] for each in shown["items"]] == ["Sea"]
            made = client.post("/paintings", json={"painting_id": "q", "title": "Lake"})
            assert made.status_code == 201
            assert client.get(made.headers["location"]).json() == made.json()
            assert client.get("/patterns/paintings", headers={"Authorization": "Bearer b"}).status_code == 401
            assert "server" not in made.headers
        assert ready["docs"] == f"{ready['url']}/docs"
    finally:
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=20)
    assert process.returncode == 0, said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["shop_api:API", "--host", "0.0.0.0"], "could do everything"),
        (["shop_api:API", "--auth", "shop_api:AUTH"], "SINGLETABLE_CURSOR_SECRET, which is not set"),
        (["shop_api:API", "--jwt-jwks", "x.json"], "by their keys, issuer and audience"),
        (["shop_api:NOTHING"], "names nothing"),
        (["shop_api:Studio", "--target", "missing.db"], "there is no file missing.db"),
    ],
)
def test_command_refuses_in_a_sentence(
    warm_programs: Path, folder: Path, words: list[str], said: str
) -> None:
    process = command([str(warm_programs / "singletable")], folder, *words, "--port", "0")
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 2
    assert said in errors
    assert "hint: " in errors
    assert "Traceback" not in errors
