"""The requests that OpenSearch gets are those of its published API, through the real client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opensearchpy import OpenSearch

from singletable_systems.perfectit.model.keys import CardId
from singletable_systems.perfectit.reactions.opensearch import OpenSearchIndex
from singletable_systems.perfectit.reactions.search import SearchDocument, SearchUnavailableError
from singletable_systems.perfectit.services.search import Finding
from systems.opensearch_endpoint import Index, OpenSearchEndpoint, opensearch_endpoint
from systems.perfectit_cards import CARD, follow, opened, publish

DOCUMENT = SearchDocument(
    card_id=CardId("1"),
    version=3,
    title="Perfect Wood Finish",
    tags="furniture\nfinishing",
    category="woodworking",
    description="A finish",
    instructions="Sand it",
)


@pytest.fixture
def opensearch() -> Iterator[tuple[OpenSearchEndpoint, OpenSearch]]:
    with opensearch_endpoint() as served:
        yield served


@pytest.fixture
def endpoint(opensearch: tuple[OpenSearchEndpoint, OpenSearch]) -> OpenSearchEndpoint:
    return opensearch[0]


@pytest.fixture
def client(opensearch: tuple[OpenSearchEndpoint, OpenSearch]) -> OpenSearch:
    return opensearch[1]


@pytest.fixture
def index(client: OpenSearch) -> OpenSearchIndex:
    index = OpenSearchIndex(client, "cards")
    index.create()
    return index


def test_index_is_made_with_its_fields(client: OpenSearch, endpoint: OpenSearchEndpoint) -> None:
    OpenSearchIndex(client, "cards").create()
    assert endpoint.operations == ["indices.exists", "indices.create"]
    definition = endpoint.indices["cards"].definition
    assert definition["settings"]["analysis"]["analyzer"] == {
        "plain": {"type": "custom", "tokenizer": "standard", "filter": ["lowercase", "asciifolding"]}
    }
    text = {"type": "text", "analyzer": "plain"}
    assert definition["mappings"] == {
        "dynamic": "strict",
        "properties": {
            "card_id": {"type": "keyword"},
            "title": text,
            "tags": text,
            "category": text,
            "description": text,
            "instructions": text,
        },
    }


def test_index_that_is_there_is_left_alone(index: OpenSearchIndex, endpoint: OpenSearchEndpoint) -> None:
    index.put(DOCUMENT)
    index.create()
    assert endpoint.operations[-1] == "indices.exists"
    assert list(endpoint.indices["cards"].documents) == ["1"]


def test_index_that_somebody_else_makes_meanwhile_is_there(
    client: OpenSearch, endpoint: OpenSearchEndpoint
) -> None:
    def made_meanwhile() -> None:
        endpoint.meanwhile = lambda: None
        endpoint.indices["cards"] = Index({})

    endpoint.meanwhile = made_meanwhile
    OpenSearchIndex(client, "cards").create()
    assert endpoint.operations[-1] == "indices.create"


def test_index_with_a_name_that_cannot_be_is_refused(client: OpenSearch) -> None:
    with pytest.raises(SearchUnavailableError, match="invalid_index_name_exception"):
        OpenSearchIndex(client, "Cards").create()


def test_document_is_put_under_the_id_and_the_version_of_its_card(
    index: OpenSearchIndex, endpoint: OpenSearchEndpoint
) -> None:
    index.put(DOCUMENT)
    operation, path, params, body = endpoint.requests[-1]
    assert (operation, path) == ("index", "/cards/_doc/1")
    assert params == {"version": "3", "version_type": "external_gte"}
    assert body == {
        "card_id": "1",
        "title": "perfect wood finish",
        "tags": "furniture finishing",
        "category": "woodworking",
        "description": "a finish",
        "instructions": "sand it",
    }


def test_document_is_deleted_by_the_id_and_the_version_of_its_card(
    index: OpenSearchIndex, endpoint: OpenSearchEndpoint
) -> None:
    index.put(DOCUMENT)
    index.delete(CardId("1"), 4)
    assert endpoint.requests[-1] == (
        "delete",
        "/cards/_doc/1",
        {"version": "4", "version_type": "external_gte"},
        None,
    )
    assert endpoint.indices["cards"].documents == {}


def test_document_that_comes_after_its_card_was_deleted_is_refused(
    index: OpenSearchIndex, endpoint: OpenSearchEndpoint
) -> None:
    index.put(DOCUMENT)
    index.delete(CardId("1"), 4)
    index.put(DOCUMENT)
    assert endpoint.indices["cards"].documents == {}


def test_id_of_a_card_may_have_any_letters(index: OpenSearchIndex, endpoint: OpenSearchEndpoint) -> None:
    odd = CardId("a/b ü?&1")
    index.put(SearchDocument(odd, 1, "Oak", "", "", "", ""))
    assert list(endpoint.indices["cards"].documents) == [odd]
    assert [hit.card_id for hit in index.search("oak", limit=1)] == [odd]
    index.delete(odd, 1)
    assert endpoint.indices["cards"].documents == {}


def test_search_asks_for_all_words_in_weighted_fields(
    index: OpenSearchIndex, endpoint: OpenSearchEndpoint
) -> None:
    index.search("Wood finish", limit=7, offset=14)
    operation, path, params, body = endpoint.requests[-1]
    assert (operation, path, params) == ("search", "/cards/_search", {})
    assert body == {
        "query": {
            "multi_match": {
                "query": "wood finish",
                "fields": ["title^10", "tags^5", "category^5", "description^2", "instructions^1"],
                "type": "cross_fields",
                "operator": "and",
            }
        },
        "sort": [{"_score": "desc"}, {"card_id": "asc"}],
        "track_scores": True,
        "track_total_hits": False,
        "_source": False,
        "from": 14,
        "size": 7,
    }


def test_long_text_is_cut(index: OpenSearchIndex, endpoint: OpenSearchEndpoint) -> None:
    index.search("oak " * 1000, limit=1)
    body = endpoint.requests[-1][3]
    assert body is not None
    assert len(body["query"]["multi_match"]["query"]) == 500


def test_first_document_makes_the_index_with_its_fields(
    client: OpenSearch, endpoint: OpenSearchEndpoint
) -> None:
    index = OpenSearchIndex(client, "cards")
    for _ in range(2):
        index.put(DOCUMENT)
    assert endpoint.operations == ["indices.exists", "indices.create", "index", "index"]
    assert "card_id" in endpoint.indices["cards"].properties


def test_index_that_is_missing_is_said_to_be_so(client: OpenSearch) -> None:
    with pytest.raises(SearchUnavailableError, match="index_not_found_exception"):
        OpenSearchIndex(client, "cards").search("oak", limit=1)


def test_card_is_gone_from_an_index_that_is_not_there(client: OpenSearch) -> None:
    OpenSearchIndex(client, "cards").delete(CardId("1"), 1)


@pytest.mark.parametrize("notices", ["put", "delete", "search"])
def test_index_that_was_lost_is_made_again_with_its_fields(
    index: OpenSearchIndex, endpoint: OpenSearchEndpoint, notices: str
) -> None:
    index.put(DOCUMENT)
    endpoint.indices.clear()
    endpoint.creates_indices = notices != "put"
    if notices == "delete":
        index.delete(CardId("2"), 1)
    elif notices == "search":
        with pytest.raises(SearchUnavailableError):
            index.search("oak", limit=1)
    index.put(DOCUMENT)
    assert "card_id" in endpoint.indices["cards"].properties
    assert [hit.card_id for hit in index.search("wood", limit=1)] == ["1"]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_cluster_that_fails_is_said_to_be_unavailable(
    index: OpenSearchIndex, endpoint: OpenSearchEndpoint, status: int
) -> None:
    for call in (
        lambda: index.put(DOCUMENT),
        lambda: index.delete(CardId("1"), 1),
        lambda: index.search("oak", limit=1),
        index.create,
    ):
        endpoint.failures = [status]
        with pytest.raises(SearchUnavailableError, match=str(status)):
            call()


def test_cluster_that_is_not_there_is_said_to_be_unavailable() -> None:
    with opensearch_endpoint() as (_, client):
        index = OpenSearchIndex(client, "cards")
    with pytest.raises(SearchUnavailableError, match="refused"):
        index.search("oak", limit=1)


def test_answer_that_is_not_as_documented_is_said_to_be_so(client: OpenSearch) -> None:
    index = OpenSearchIndex(client, "cards")
    client.search = lambda **arguments: {"hits": {"hits": [{"_id": "1", "_score": None}]}}
    with pytest.raises(SearchUnavailableError, match="not as documented"):
        index.search("oak", limit=1)


def test_cards_of_the_table_are_found_by_way_of_opensearch(index: OpenSearchIndex) -> None:
    with opened() as db:
        db.search_index = index
        publish(db, title="Oak table", description="varnished")
        publish(db, "c2", title="Oak chair")
        follow(db)
        db.update(db.card(CardId("c2")), status="ARCHIVED")
        follow(db)
        follow(db, name="replay")
        assert [card.card_id for card in Finding(db).search("oak")] == [CARD]
        assert [card.card_id for card in Finding(db).search("varnished")] == [CARD]


# --- the endpoint itself ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body", "problem"),
    [
        ("PUT", "/cards/_doc/1?colour=red", {"title": "Oak"}, "unrecognized parameters"),
        ("PUT", "/cards/_doc/1?version=1&version_type=newest", {"title": "Oak"}, "No version type match"),
        ("PUT", "/cards/_doc/1", {"colour": "red"}, "strict_dynamic_mapping_exception"),
        ("PUT", "/cards/_doc/1", {"title": 1}, "mapper_parsing_exception"),
        ("DELETE", "/cards/1", None, "no handler found"),
        ("POST", "/cards/_search", {"wanted": {}}, "parsing_exception"),
        ("POST", "/cards/_search", {"query": {"multi_match": {"words": "oak"}}}, "parsing_exception"),
        ("POST", "/cards/_search", {"query": {"multi_match": {"query": 1}}}, "parsing_exception"),
        ("POST", "/cards/_search", {"query": {"words": {}}}, "unknown query"),
        ("POST", "/cards/_search", {"query": {}, "from": 10_000, "size": 1}, "window is too large"),
        ("PUT", "/other", {"mapping": {}}, "Unknown key"),
    ],
)
def test_endpoint_refuses_what_is_not_published(
    index: OpenSearchIndex,
    client: OpenSearch,
    method: str,
    path: str,
    body: dict[str, object] | None,
    problem: str,
) -> None:
    index.put(DOCUMENT)
    with pytest.raises(Exception, match=problem):
        client.transport.perform_request(method, path, body=body)
