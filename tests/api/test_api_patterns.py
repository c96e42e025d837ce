"""Patterns over HTTP: typed parameters, pages, forms, caching, writes; and what the API says of itself."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from designs.studio import Studio
from singletable.api import OWNER, Api, Cache, Limits, PatternApi
from singletable.errors import DeclarationError
from support.asking_api import (
    ADA,
    BOB,
    OPERATOR,
    ApiClient,
    as_,
    asked,
    client_of,
    links,
    problem,
    studio_api,
)
from support.targets import EVERY_TARGET


def fill(client: ApiClient, count: int = 5) -> None:
    for number in range(count):
        painting = {"painting_id": f"p{number}", "title": f"Sea {number}", "room_id": "hall", "tags": ["a,b"]}
        assert client.post("/paintings", json=painting, headers=as_(ADA)).status_code == 201


def ids(items: list[dict[str, Any]]) -> list[str]:
    return [each["painting_id"] for each in items]


@pytest.mark.parametrize("target", EVERY_TARGET)
def test_pages_follow_each_other_by_cursor_and_by_link(target: str) -> None:
    with asked(studio_api(), target) as (client, _):
        fill(client)
        first = client.get("/patterns/paintings?limit=2", headers=as_(ADA, Prefer="units"))
        assert ids(first.json()["items"]) == ["p0", "p1"]
        assert float(first.headers["singletable-units"]) > 0
        second = client.get(links(first.headers["link"]), headers=as_(ADA))
        assert ids(second.json()["items"]) == ["p2", "p3"]
        third = client.get(links(second.headers["link"]), headers=as_(ADA))
        assert (ids(third.json()["items"]), third.json()["cursor"]) == (["p4"], None)
        assert "link" not in third.headers


def test_list_is_json_lines_or_csv_by_accept(studio: tuple[ApiClient, Any]) -> None:
    client, _ = studio
    fill(client)
    lines = client.get(
        "/patterns/paintings", headers=as_(ADA, Accept="application/x-ndjson")
    ).text.splitlines()
    assert ids([json.loads(line) for line in lines]) == [f"p{number}" for number in range(5)]
    cut = client.get("/patterns/paintings?limit=3", headers=as_(ADA, Accept="application/x-ndjson")).text
    *shown, last = [json.loads(line) for line in cut.splitlines()]
    following = client.get(last["next"], headers=as_(ADA, Accept="application/x-ndjson")).text
    assert ids(shown) == ["p0", "p1", "p2"]
    assert ids([json.loads(line) for line in following.splitlines()]) == ["p3", "p4"]
    table = client.get("/patterns/paintings?limit=3", headers=as_(ADA, Accept="text/csv;q=0.9, text/html"))
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert (ids(rows), rows[0]["tags"], rows[0]["price"]) == (["p0", "p1", "p2"], '["a,b"]', "")
    assert "secret_note" not in rows[0]
    rest = client.get(links(table.headers["link"]), headers=as_(ADA, Accept="text/csv"))
    assert ids(list(csv.DictReader(io.StringIO(rest.text)))) == ["p3", "p4"]
    problem(client.get("/patterns/paintings", headers=as_(ADA, Accept="text/html")), 406, "not-acceptable")
    problem(client.get("/patterns/painting", headers=as_(ADA, Accept="text/csv")), 406, "not-acceptable")


def test_parameters_are_typed(client: ApiClient) -> None:
    fill(client, 1)
    assert client.get("/patterns/paintings?status=dry", headers=as_(ADA)).json()["items"] == []
    for query, name, said in (
        ("status=soft", "status", "'soft' is none of wet, dry"),
        ("status=wet&status=dry", "status", "is given twice"),
        ("colour=red", "colour", "is no parameter of this"),
        ("limit=0", "limit", "is a number from 1 to 250"),
        ("limit=251", "limit", "is a number from 1 to 250"),
        ("limit=²", "limit", "is a number from 1 to 250"),
    ):
        found = problem(client.get(f"/patterns/paintings?{query}", headers=as_(ADA)), 422, "invalid")
        assert found["errors"] == [{"parameter": name, "detail": said}]
    found = problem(client.get("/patterns/painting", headers=as_(ADA)), 422, "invalid")
    assert found["errors"] == [{"parameter": "painting_id", "detail": "is required"}]


def test_single_batch_and_collection(client: ApiClient) -> None:
    fill(client, 2)
    for number in (1, 3):
        client.post("/sketches", json={"number": number}, headers=as_(ADA))
    one = client.get("/patterns/painting?painting_id=p1", headers=as_(ADA))
    assert (one.json()["painting_id"], one.headers["etag"]) == (
        "p1",
        client.get("/paintings/ada/p1", headers=as_(ADA)).headers["etag"],
    )
    problem(client.get("/patterns/painting?painting_id=p7", headers=as_(ADA)), 404, "not-found")
    some = client.get("/patterns/sketches?numbers=3&numbers=2&numbers=1", headers=as_(ADA)).json()["items"]
    assert [each and each["number"] for each in some] == [3, None, 1]
    whole = client.get("/patterns/walls", headers=as_(ADA)).json()
    assert (ids(whole["paintings"]), [each["number"] for each in whole["sketches"]]) == (["p0", "p1"], [1, 3])
    found = problem(client.get("/patterns/walls?limit=2", headers=as_(ADA)), 422, "invalid")
    assert found["errors"][0]["parameter"] == "limit"


def test_public_answers_may_be_kept_and_those_of_somebody_may_not(client: ApiClient) -> None:
    client.post("/rooms", json={"room_id": "hall", "name": "Hall"}, headers=as_(OPERATOR))
    room = client.get("/patterns/room?room_id=hall")
    assert (room.headers["cache-control"], room.headers["vary"]) == ("public, max-age=60", "Accept, Origin")
    again = client.get("/patterns/room?room_id=hall", headers={"If-None-Match": room.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/rooms/hall/paintings").headers["cache-control"] == "private, no-cache"
    mine = client.get("/patterns/paintings", headers=as_(ADA))
    assert mine.headers["cache-control"] == "no-store"
    assert "Authorization" in mine.headers["vary"]
    with pytest.raises(DeclarationError, match="not everybody may see it"):
        Api(Studio, patterns=[PatternApi("paintings", OWNER, cache=Cache(60, public=True))])


def test_pattern_that_writes_is_a_post(studio: tuple[ApiClient, Any]) -> None:
    client, db = studio
    body = {"painting": {"painting_id": "p1", "title": "Sea", "room_id": "hall"}}
    hung = client.post("/patterns/hang", json=body, headers=as_(ADA))
    assert (hung.status_code, hung.json()["version"]) == (200, 1)
    comment = {"painting_id": "p1", "comment_id": "c1", "painter_id": ADA}
    made = client.post("/patterns/comment", json={"comment": comment}, headers=as_(BOB, Idempotency_Key="c"))
    assert (made.status_code, made.json()["text"]) == (201, "")
    again = client.post("/patterns/comment", json={"comment": comment}, headers=as_(BOB, Idempotency_Key="c"))
    assert again.content == made.content
    assert db.painting(ADA, "p1").one().comments == 1
    elsewhere = {**comment, "painting_id": "p2"}
    problem(client.post("/patterns/comment", json={"comment": elsewhere}, headers=as_(BOB)), 403, "forbidden")
    wrong = client.post(
        "/patterns/hang", json={"painting": {"painting_id": "p1", "title": ""}}, headers=as_(ADA)
    )
    assert problem(wrong, 422, "invalid")["errors"][0]["pointer"] == "#/painting/title"
    problem(client.get("/patterns/hang", headers=as_(ADA)), 405, "wrong-method")


# --- what the API says of itself -------------------------------------------------------------------------------


def test_document_names_what_is_exposed_and_nothing_else(client: ApiClient) -> None:
    document = client.get("/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    operations = {each["operationId"] for path in document["paths"].values() for each in path.values()}
    assert {
        "create_painting",
        "get_painting",
        "update_painting",
        "paintings",
        "hang",
        "follow_changes",
    } <= operations
    assert not any("user" in each or "secret" in each for each in operations)
    schemas = document["components"]["schemas"]
    assert "secret_note" not in json.dumps(document)
    assert schemas["Painting"]["examples"][0]["painting_id"]
    query = document["paths"]["/patterns/paintings"]["get"]["parameters"]
    assert {each["name"]: each["required"] for each in query if each["in"] == "query"} == {
        "user_id": False, "status": False, "limit": False, "cursor": False
    }  # fmt: skip
    status = next(each["schema"] for each in query if each["name"] == "status")
    assert status["enum"] == ["wet", "dry"]
    assert "version" not in schemas["PaintingCreate"]["properties"]
    assert set(schemas["PaintingCreate"]["required"]) == {"painting_id", "title"}


def test_docs_page_asks_no_network(client: ApiClient) -> None:
    page = client.get("/docs")
    assert "://" not in page.text.replace("http://www.w3.org", "")
    for asset in ("swagger-ui-bundle.js", "swagger-ui.css"):
        assert f"/docs/assets/{asset}" in page.text
        found = client.get(f"/docs/assets/{asset}")
        assert (found.status_code, len(found.content) > 100_000) == (200, True)
    problem(client.get("/docs/assets/..%2F__init__.py"), 404, "no-such-path")


def test_health_metrics_and_problems_have_paths() -> None:
    with Studio.open(":memory:") as db, client_of(db, studio_api()) as client:
        check_own_paths(client, db)


def check_own_paths(client: ApiClient, db: Studio) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    client.get("/patterns/paintings", headers=as_(ADA))
    problem(client.get("/metrics"), 401, "unauthenticated")
    text = client.get("/metrics", headers=as_(ADA)).text
    assert 'singletable_api_requests_total{method="GET",route="/patterns/paintings",status="200"} 1' in text
    assert 'singletable_consumed_read_capacity_units_total{table="studio"' in text
    assert client.get("/problems/conflict").text.startswith("409 ")
    db.close()
    found = problem(client.get("/healthz"), 503, "unavailable")
    assert found["st"] == "ST809"
    assert problem(client.get("/patterns/paintings", headers=as_(ADA)), 503, "unavailable")["st"] == "ST809"


def test_services_add_routers_behind_the_same_gate(studio: tuple[ApiClient, Any]) -> None:
    from fastapi import APIRouter, Request
    from pydantic import BaseModel

    from singletable.api import context_of

    class Bid(BaseModel):
        euros: int

    router = APIRouter(prefix="/auction")

    async def bid(request: Request, wanted: Bid) -> dict[str, Any]:
        context = context_of(request)
        who = await context.signed_in(request)
        assert isinstance(context.db, Studio)
        return {"who": who.id, "euros": wanted.euros, "paintings": len(context.db.paintings(who.id).page())}

    bid.__annotations__.update(request=Request, wanted=Bid)
    router.add_api_route("/bids", bid, methods=["POST"])
    _, db = studio
    with client_of(db, studio_api(), routers=[router], limits=Limits(body_bytes_max=1000)) as client:
        assert client.post("/auction/bids", json={"euros": 3}, headers=as_(ADA)).json()["who"] == ADA
        problem(client.post("/auction/bids", json={"euros": 3}), 401, "unauthenticated")
        found = problem(client.post("/auction/bids", json={"euros": "x"}, headers=as_(ADA)), 422, "invalid")
        assert found["errors"][0]["pointer"] == "#/body/euros"
        problem(client.post("/auction/bids", content=b"{" * 2000, headers=as_(ADA)), 413, "too-large")
        assert "/auction/bids" in client.get("/openapi.json").json()["paths"]


def test_spans_are_made_where_they_are_asked_for(studio: tuple[ApiClient, Any]) -> None:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from singletable.api.telemetry import Traced

    client, _ = studio
    spans, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    with ApiClient(Traced(client.application, provider=provider)) as traced:
        traced.get("/patterns/paintings", headers=as_(ADA))
    (span,) = spans.get_finished_spans()
    assert span.name == "GET /patterns/paintings"
    assert span.attributes is not None
    assert span.attributes["http.response.status_code"] == 200
