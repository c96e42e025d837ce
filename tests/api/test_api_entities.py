"""Entities over HTTP: what is written and shown, locks by If-Match, keys of idempotency."""

from __future__ import annotations

import base64
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from designs.studio import Painting, Sketch, Studio
from singletable.api import Api, EntityApi
from singletable.clock import ManualClock
from support.asking_api import ADA, BOB, OPERATOR, ApiClient, as_, asked, client_of, problem, studio_api
from support.targets import EVERY_TARGET

PAINTING = {"user_id": ADA, "painting_id": "p1", "title": "Sea"}
PATH = "/paintings/ada/p1"


@pytest.mark.parametrize("target", EVERY_TARGET)
def test_entity_is_created_read_replaced_patched_and_deleted(target: str) -> None:
    api = Api(Studio, entities=[EntityApi(Painting), EntityApi(Sketch)])
    with asked(api, target) as (client, _):
        made = client.post(
            "/paintings", json=PAINTING | {"price": "12.50", "tags": ["b", "a"]}, headers=as_(ADA)
        )
        assert (made.status_code, made.headers["location"]) == (201, PATH)
        read = client.get(PATH, headers=as_(ADA))
        assert read.json() == made.json()
        assert read.headers["etag"] == made.headers["etag"]
        assert (read.json()["price"], read.json()["tags"], read.json()["version"]) == ("12.5", ["a", "b"], 1)

        patched = client.patch(
            PATH, json={"price": None, "frame": {"width_cm": 4, "wood": "oak"}}, headers=as_(ADA)
        )
        assert (patched.status_code, patched.json()["price"], patched.json()["version"]) == (200, None, 2)
        nested = client.patch(
            PATH,
            content=b'{"frame": {"wood": null}}',
            headers=as_(ADA, Content_Type="application/merge-patch+json"),
        )
        assert nested.json()["frame"] == {"width_cm": 4, "wood": None}
        assert nested.json()["tags"] == ["a", "b"]

        whole = client.put(PATH, json={**nested.json(), "title": "Lake", "tags": []}, headers=as_(ADA))
        assert (whole.status_code, whole.json()["title"], whole.json()["tags"]) == (200, "Lake", [])
        replaced = client.put(PATH, json={"title": "Pond"}, headers=as_(ADA))
        assert (replaced.json()["frame"], replaced.json()["created_at"]) == (None, made.json()["created_at"])
        assert client.delete(PATH, headers=as_(ADA)).status_code == 204
        problem(client.get(PATH, headers=as_(ADA)), 404, "not-found")
        problem(client.delete(PATH, headers=as_(ADA)), 404, "not-found")


def test_patch_writes_only_what_changes(studio: tuple[ApiClient, Any]) -> None:
    client, db = studio
    client.post("/paintings", json=PAINTING, headers=as_(ADA))
    same = client.patch(PATH, json={"title": "Sea", "status": "wet"}, headers=as_(ADA, Prefer="units"))
    assert (same.json()["version"], same.headers["singletable-units"]) == (1, "1")
    assert db.painting(ADA, "p1").one().version == 1


def test_hidden_fields_are_neither_shown_nor_taken_and_stay(studio: tuple[ApiClient, Any]) -> None:
    client, db = studio
    client.post("/paintings", json=PAINTING, headers=as_(ADA))
    db.update(db.painting(ADA, "p1").one(), secret_note="a fake")
    assert "secret_note" not in client.get(PATH, headers=as_(ADA)).json()
    found = problem(client.patch(PATH, json={"secret_note": "real"}, headers=as_(ADA)), 422, "invalid")
    assert found["errors"] == [{"pointer": "#/secret_note", "detail": "is no field"}]
    assert client.put(PATH, json={"title": "Lake"}, headers=as_(ADA)).status_code == 200
    assert db.painting(ADA, "p1").one().secret_note == "a fake"


@pytest.mark.parametrize("name", ["version", "comments", "created_at", "updated_at"])
def test_what_the_layer_keeps_is_read_only(client: ApiClient, name: str) -> None:
    shown = client.post("/paintings", json=PAINTING, headers=as_(ADA)).json()
    assert name in shown
    value = "2001-01-01T00:00:00Z" if name.endswith("_at") else 7
    for answer in (
        client.patch(PATH, json={name: value}, headers=as_(ADA)),
        client.put(PATH, json={**shown, name: value}, headers=as_(ADA)),
        client.post("/paintings", json={**PAINTING, "painting_id": "p2", name: value}, headers=as_(ADA)),
    ):
        assert problem(answer, 422, "invalid")["errors"] == [
            {"pointer": f"#/{name}", "detail": "is read-only"}
        ]


def test_values_are_in_one_form(client: ApiClient) -> None:
    image = base64.b64encode(bytes(range(256))).decode()
    made = client.post("/sketches", json={"number": 7, "image": image}, headers=as_(ADA))
    assert made.headers["location"] == "/sketches/ada/7"
    assert made.json() == {
        "user_id": ADA, "number": 7, "lines": [], "image": image, "seen_at": None, "ttl": None
    }  # fmt: skip
    assert client.get("/sketches/ada/7", headers=as_(ADA)).json() == made.json()


def test_key_may_hold_a_slash_and_any_letter(client: ApiClient) -> None:
    made = client.post("/paintings", json=PAINTING | {"painting_id": "a/b é%2F"}, headers=as_(ADA))
    assert made.headers["location"] == "/paintings/ada/a%2Fb%20%C3%A9%252F"
    assert client.get(made.headers["location"], headers=as_(ADA)).json()["painting_id"] == "a/b é%2F"


# --- ETags and locks -----------------------------------------------------------------------------------------


def test_reader_is_told_that_nothing_has_changed(studio: tuple[ApiClient, Any]) -> None:
    client, _ = studio
    tag = client.post("/paintings", json=PAINTING, headers=as_(ADA)).headers["etag"]
    same = client.get(PATH, headers=as_(ADA, If_None_Match=tag))
    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    client.patch(PATH, json={"title": "Lake"}, headers=as_(ADA))
    assert client.get(PATH, headers=as_(ADA, If_None_Match=tag)).status_code == 200


@pytest.mark.parametrize("target", EVERY_TARGET)
def test_lock_without_a_version_is_on_every_stored_value(target: str) -> None:
    api = Api(Studio, entities=[EntityApi(Sketch)])
    with asked(api, target) as (client, _):
        made = client.post("/sketches", json={"number": 1, "lines": ["a"]}, headers=as_(ADA))
        tag, path = made.headers["etag"], made.headers["location"]
        assert client.get(path, headers=as_(ADA)).headers["etag"] == tag
        changed = client.patch(path, json={"lines": ["b"]}, headers=as_(ADA, If_Match=tag))
        assert changed.status_code == 200
        for answer in (
            client.patch(path, json={"seen_at": "2026-01-01T00:00:00Z"}, headers=as_(ADA, If_Match=tag)),
            client.put(path, json={"lines": []}, headers=as_(ADA, If_Match=tag)),
            client.delete(path, headers=as_(ADA, If_Match=tag)),
        ):
            problem(answer, 412, "precondition-failed")
        gone = client.delete(path, headers=as_(ADA, If_Match=f'W/"x", {changed.headers["etag"]}'))
        assert gone.status_code == 204


def test_counter_that_moves_is_no_lost_update_and_no_stale_answer(studio: tuple[ApiClient, Any]) -> None:
    client, _ = studio
    tag = client.post("/paintings", json={**PAINTING, "room_id": "r"}, headers=as_(ADA)).headers["etag"]
    comment = {"painting_id": "p1", "comment_id": "c1", "painter_id": ADA, "text": "Wet."}
    made = client.post("/patterns/comment", json={"comment": comment}, headers=as_(BOB))
    assert made.status_code == 201, made.text
    shown = client.get(PATH, headers=as_(ADA, If_None_Match=tag))
    assert (shown.status_code, shown.json()["comments"], shown.json()["version"]) == (200, 1, 1)
    assert client.patch(PATH, json={"title": "Lake"}, headers=as_(ADA, If_Match=tag)).status_code == 200


@pytest.mark.parametrize("path", ["/paintings/ada/p1", "/sketches/ada/1"])
def test_one_of_many_wins_a_race_by_if_match(studio: tuple[ApiClient, Any], path: str) -> None:
    client, _ = studio
    client.post("/paintings", json=PAINTING, headers=as_(ADA))
    client.post("/sketches", json={"number": 1}, headers=as_(ADA))
    tag = client.get(path, headers=as_(ADA)).headers["etag"]
    field = "title" if "paintings" in path else "lines"

    def write(number: int) -> int:
        value: Any = f"t{number}" if field == "title" else [str(number)]
        with ApiClient(client.application) as mine:
            return mine.patch(path, json={field: value}, headers=as_(ADA, If_Match=tag)).status_code

    with ThreadPoolExecutor(6) as pool:
        statuses = sorted(pool.map(write, range(6)))
    assert statuses == [200] + [412] * 5


def test_writes_without_if_match_all_succeed_in_a_race(studio: tuple[ApiClient, Any]) -> None:
    client, db = studio
    client.post("/paintings", json=PAINTING, headers=as_(ADA))

    def write(name: str) -> int:
        value: Any = {"status": "dry", "room_id": "r", "tags": ["x"]}[name]
        with ApiClient(client.application) as mine:
            return mine.patch(PATH, json={name: value}, headers=as_(ADA)).status_code

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(write, ("status", "room_id", "tags"))) == [200, 200, 200]
    found = db.painting(ADA, "p1").one()
    assert (found.status, found.room_id, found.tags, found.version) == ("dry", "r", {"x"}, 4)


def test_create_and_if_none_match_and_duplicates(client: ApiClient) -> None:
    client.post("/paintings", json=PAINTING, headers=as_(ADA))
    assert problem(client.post("/paintings", json=PAINTING, headers=as_(ADA)), 409, "conflict")
    client.post("/paintings", json={**PAINTING, "user_id": BOB, "title": "Bob's"}, headers=as_(BOB))
    taken = client.post("/paintings", json={"painting_id": "p9", "title": "Bob's"}, headers=as_(ADA))
    found = problem(taken, 409, "conflict")
    assert (found["st"], found["errors"]) == ("ST304", [{"pointer": "#/title", "detail": "is taken"}])
    assert BOB not in found["detail"]  # whose it is, nobody is told
    problem(
        client.patch(PATH, json={"title": "x"}, headers=as_(ADA, If_None_Match="*")),
        412,
        "precondition-failed",
    )


def test_if_match_can_be_required() -> None:
    with asked(Api(Studio, entities=[EntityApi(Sketch, requires_match=True)])) as (client, _):
        tag = client.post("/sketches", json={"number": 1}, headers=as_(ADA)).headers["etag"]
        problem(client.delete("/sketches/ada/1", headers=as_(ADA)), 428, "match-required")
        assert client.delete("/sketches/ada/1", headers=as_(ADA, If_Match=tag)).status_code == 204


# --- keys of idempotency ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", EVERY_TARGET)
def test_write_with_a_key_is_carried_out_once(target: str, clock: ManualClock) -> None:
    api = Api(Studio, entities=[EntityApi(Painting)])
    with asked(api, target, clock) as (client, _):
        key = as_(ADA, Idempotency_Key="k1")
        first = client.post("/paintings", json=PAINTING, headers=key)
        again = client.post("/paintings", json=PAINTING, headers=key)
        assert (again.status_code, again.content) == (201, first.content)
        assert again.headers["location"] == first.headers["location"]
        assert "idempotency-replayed" not in first.headers
        assert again.headers["idempotency-replayed"] == "true"
        other = client.post("/paintings", json={**PAINTING, "title": "Lake"}, headers=key)
        problem(other, 422, "idempotency-key-reused")
        problem(client.post("/paintings", json=PAINTING, headers=as_(ADA)), 409, "conflict")
        # A key belongs to who has sent it.
        mine = client.post(
            "/paintings", json={"painting_id": "b", "title": "Mine"}, headers=as_(BOB, Idempotency_Key="k1")
        )
        assert mine.status_code == 201


def test_key_of_a_refused_write_is_free_again(client: ApiClient) -> None:
    client.post("/paintings", json=PAINTING, headers=as_(ADA))
    key = as_(ADA, Idempotency_Key="k2")
    problem(client.post("/paintings", json=PAINTING, headers=key), 409, "conflict")
    assert (
        client.post(
            "/paintings", json=PAINTING | {"painting_id": "p2", "title": "L"}, headers=key
        ).status_code
        == 201
    )


def test_key_is_remembered_for_a_day_by_the_table(clock: ManualClock) -> None:
    with asked(Api(Studio, entities=[EntityApi(Painting)]), clock=clock) as (client, db):
        key = as_(ADA, Idempotency_Key="k")
        client.post("/paintings", json=PAINTING, headers=key)
        clock.advance(23 * 3600)
        assert client.post("/paintings", json=PAINTING, headers=key).headers["idempotency-replayed"] == "true"
        clock.advance(2 * 3600)
        problem(client.post("/paintings", json=PAINTING, headers=key), 409, "conflict")
        assert db.verify().is_clean


# --- what is not exposed -----------------------------------------------------------------------------------------


def test_nothing_is_exposed_that_is_not_listed(client: ApiClient) -> None:
    problem(client.get("/comments/p1/c1", headers=as_(OPERATOR)), 404, "no-such-path")
    problem(client.get("/patterns/user", headers=as_(OPERATOR)), 404, "no-such-path")
    with asked(Api(Studio, entities=[EntityApi(Painting, verbs=("read",))])) as (reader, _):
        for method in ("PUT", "PATCH", "DELETE"):
            answer = reader.request(method, PATH, json={}, headers=as_(ADA))
            problem(answer, 405, "wrong-method")
            assert answer.headers["allow"] == "GET, HEAD"
        problem(reader.post("/paintings", json=PAINTING, headers=as_(ADA)), 404, "no-such-path")


def test_read_only_api_has_no_writes(studio: tuple[ApiClient, Any]) -> None:
    _, db = studio
    with client_of(db, studio_api(), read_only=True) as client:
        problem(client.post("/paintings", json=PAINTING, headers=as_(ADA)), 404, "no-such-path")
        assert client.get("/patterns/paintings", headers=as_(ADA)).json() == {"items": [], "cursor": None}
