"""A search index of OpenSearch, by a client of opensearch-py: `pip install "singletable[systems-opensearch]"`.

    from opensearchpy import OpenSearch

    db.search_index = OpenSearchIndex(OpenSearch("https://search.example.com"), "cards")

Nothing here imports opensearch-py: the caller brings a client.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from singletable.systems import plain_text
from singletable_systems.perfectit.model.keys import CardId
from singletable_systems.perfectit.reactions.search import (
    QUERY_LETTERS_MAX,
    WEIGHTS,
    Hit,
    SearchDocument,
    SearchUnavailableError,
)

_TEXT: Final = {"type": "text", "analyzer": "plain"}
_DEFINITION: Final = {
    "settings": {
        "analysis": {
            "analyzer": {
                "plain": {"type": "custom", "tokenizer": "standard", "filter": ["lowercase", "asciifolding"]}
            }
        }
    },
    "mappings": {
        "dynamic": "strict",
        "properties": {"card_id": {"type": "keyword"}, **dict.fromkeys(WEIGHTS, _TEXT)},
    },
}
_FIELDS: Final = [f"{field}^{weight:g}" for field, weight in WEIGHTS.items()]

_EXISTS: Final = "resource_already_exists_exception"
_CONFLICT: Final = "version_conflict_engine_exception"
_NO_INDEX: Final = "index_not_found_exception"


class OpenSearchIndex:
    """A search index of OpenSearch. `client` is an `opensearchpy.OpenSearch`.

    Documents have the versions of their cards (`external_gte`), so OpenSearch itself refuses a document that is
    older than its own. It also refuses a document that comes after its card was deleted, for the minute that it
    remembers deletions.
    """

    def __init__(self, client: Any, name: str) -> None:
        self._client = client
        self._name = name
        self._is_there = False

    def create(self) -> None:
        """Make the index with its fields, if it is not there. The first `put` does it too."""
        if not self._ask(self._client.indices.exists):
            self._ask(self._client.indices.create, body=_DEFINITION, ignore=400, expected=(_EXISTS,))
        self._is_there = True

    def put(self, document: SearchDocument) -> None:
        """Let a card be found by this document, and no longer by an older one."""
        if not self._is_there:
            # OpenSearch would make one by itself, with fields that it guesses, unless it is told not to.
            self.create()
        if self._put(document, _CONFLICT, _NO_INDEX) == _NO_INDEX:
            self.create()
            self._put(document, _CONFLICT)

    def delete(self, card_id: CardId, version: int) -> None:
        """Delete a card from the index, unless the index has a later version of it."""
        self._ask(
            self._client.delete,
            id=card_id,
            version=version,
            version_type="external_gte",
            ignore=(404, 409),  # 404 is also that there is no such document
            expected=(_CONFLICT, _NO_INDEX),
        )

    def search(self, text: str, *, limit: int, offset: int = 0) -> Sequence[Hit]:
        """Return the cards that have all words of a text, the best first. Any text is allowed."""
        words = {
            "query": plain_text(text[:QUERY_LETTERS_MAX]),
            "fields": _FIELDS,
            "type": "cross_fields",  # all words, but not all in one field
            "operator": "and",
        }
        body = {
            "query": {"multi_match": words},
            "sort": [{"_score": "desc"}, {"card_id": "asc"}],
            "track_scores": True,
            "track_total_hits": False,
            "_source": False,
            "from": offset,
            "size": limit,
        }
        answer = self._ask(self._client.search, body=body)
        try:
            return [Hit(CardId(hit["_id"]), float(hit["_score"])) for hit in answer["hits"]["hits"]]
        except (LookupError, TypeError, ValueError) as error:
            raise SearchUnavailableError(f"its answer is not as documented: {error!r}") from error

    def _put(self, document: SearchDocument, *expected: str) -> str | None:
        """Put a document; return which of the expected problems there was."""
        # Folded here, as the words of the table are, so that the analyzer has nothing to fold differently.
        body = {**asdict(document), **{field: plain_text(getattr(document, field)) for field in WEIGHTS}}
        version = body.pop("version")
        answer = self._ask(
            self._client.index,
            id=document.card_id,
            body=body,
            version=version,
            version_type="external_gte",
            ignore=(404, 409),
            expected=expected,
        )
        return _problem(answer).get("type")

    def _ask(self, call: Callable[..., Any], *, expected: tuple[str, ...] = (), **arguments: Any) -> Any:
        """Make a call; of the answers that are no errors to the client, take the expected ones alone."""
        try:
            answer = call(index=self._name, **arguments)
        except Exception as error:  # opensearch-py's own, and those of whatever transport it was given
            self._is_there = False  # it may be that
            raise SearchUnavailableError(error) from error
        problem = _problem(answer)
        if problem.get("type") == _NO_INDEX:
            self._is_there = False
        if problem and problem["type"] not in expected:
            raise SearchUnavailableError(f"{problem['type']}: {problem.get('reason')}")
        return answer


def _problem(answer: Any) -> Mapping[str, Any]:
    return (answer.get("error") or {}) if isinstance(answer, Mapping) else {}
