"""OpenSearch as far as its API reference tells, over HTTP on localhost: it checks requests, and keeps one cluster.

What is allowed is that of the published specification (opensearch-project/opensearch-api-specification, 3.x:
namespaces/_core.yaml, namespaces/indices.yaml, schemas/_common.query_dsl.yaml), as far as an index needs it.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from opensearchpy import OpenSearch

Body = dict[str, Any]
Answer = tuple[int, Body]

_EVERYWHERE = {"error_trace", "filter_path", "human", "pretty", "source"}
_WRITES = {
    "if_primary_term", "if_seq_no", "refresh", "routing", "timeout", "version", "version_type",
    "wait_for_active_shards",
}  # fmt: skip
# By operation: the parameters of the query string.
PARAMETERS: dict[str, set[str]] = {
    "indices.exists": {
        "allow_no_indices", "cluster_manager_timeout", "expand_wildcards", "flat_settings",
        "ignore_unavailable", "include_defaults", "local",
    },
    "indices.create": {"cluster_manager_timeout", "timeout", "wait_for_active_shards"},
    "index": _WRITES | {"op_type", "pipeline", "require_alias"},
    "delete": _WRITES,
    "search": {
        "allow_no_indices", "allow_partial_search_results", "expand_wildcards", "from", "ignore_unavailable",
        "preference", "request_cache", "routing", "search_type", "size", "sort", "timeout", "track_scores",
        "track_total_hits",
    },
}  # fmt: skip
_VERSION_TYPES = {"internal", "external", "external_gte"}
_SEARCH_BODY: dict[str, type | tuple[type, ...]] = {
    "query": dict, "from": int, "size": int, "sort": (list, dict, str), "track_scores": bool, "timeout": str,
    "track_total_hits": (bool, int), "_source": (bool, str, list, dict), "min_score": (int, float),
}  # fmt: skip
_MULTI_MATCH: dict[str, type | tuple[type, ...]] = {
    "query": str, "fields": (list, str), "type": str, "operator": str, "analyzer": str, "boost": (int, float),
    "fuzziness": (str, int), "lenient": bool, "max_expansions": int, "minimum_should_match": (str, int),
    "prefix_length": int, "slop": int, "tie_breaker": (int, float), "zero_terms_query": str, "_name": str,
}  # fmt: skip
_MATCH_TYPES = {"best_fields", "bool_prefix", "cross_fields", "most_fields", "phrase", "phrase_prefix"}
_FIELD_TYPES = {"boolean", "date", "integer", "keyword", "long", "text"}
_TOKEN_FILTERS = {"asciifolding", "lowercase", "stop", "uppercase"}
_WINDOW_MAX = 10_000
# "Index names can't begin with underscores or hyphens", and other restrictions of the Create Index API.
_INDEX_NAME = re.compile(r"(?![_\-])[^\sA-Z,:\"*+/\\|?#><]+")


class RefusedError(Exception):
    """A request that OpenSearch refuses."""

    def __init__(self, status: int, kind: str, reason: str) -> None:
        cause = {"type": kind, "reason": reason}
        super().__init__(reason)
        self.answer: Answer = (status, {"error": {"root_cause": [cause], **cause}, "status": status})


def _invalid(reason: str, kind: str = "illegal_argument_exception") -> RefusedError:
    return RefusedError(400, kind, reason)


@dataclass
class Index:
    """An index: how it was defined, its documents, and the versions of what it has and had."""

    definition: Body
    documents: dict[str, Body] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)

    @property
    def properties(self) -> Body:
        properties: Body = self.definition.get("mappings", {}).get("properties", {})
        return properties


class OpenSearchEndpoint:
    """A cluster, and what it was asked: the operations, and their bodies."""

    def __init__(self) -> None:
        self.indices: dict[str, Index] = {}
        self.requests: list[tuple[str, str, dict[str, str], Body | None]] = []
        self.failures: list[int] = []
        """Statuses that are answered to the next requests, whatever they are."""
        self.meanwhile: Callable[[], object] = lambda: None
        self.creates_indices = True  # the setting action.auto_create_index
        self._lock = Lock()

    @property
    def operations(self) -> list[str]:
        return [operation for operation, *_ in self.requests]

    def answer(self, method: str, path: str, content_type: str, payload: bytes) -> Answer:
        """Return a status and a body."""
        with self._lock:
            if self.failures:
                return self.failures.pop(0), {"error": "no node is there"}
            try:
                return self._answer(method, path, content_type, payload)
            except RefusedError as error:
                return error.answer

    def _answer(self, method: str, path: str, content_type: str, payload: bytes) -> Answer:
        parts = urlsplit(path)
        params = dict(parse_qsl(parts.query, keep_blank_values=True))
        names = [unquote(part) for part in parts.path.split("/")[1:]]
        body: Body | None = json.loads(payload) if payload else None
        operation = _operation(method, names)
        if payload and content_type.partition(";")[0] != "application/json":
            raise RefusedError(
                406, "media_type_header_exception", f"Content-Type {content_type} is not supported"
            )
        unknown = params.keys() - PARAMETERS[operation] - _EVERYWHERE
        if unknown:
            raise _invalid(f"request [{parts.path}] contains unrecognized parameters: {sorted(unknown)}")
        self.requests.append((operation, parts.path, params, body))
        if operation == "indices.exists":
            return (200 if names[0] in self.indices else 404), {}
        if operation == "indices.create":
            self.meanwhile()
            return self._create(names[0], body or {})
        if operation == "index" and self.creates_indices:
            # "If the index does not exist, OpenSearch creates it automatically" (Index Document API).
            self.indices.setdefault(names[0], Index({}))
        index = self._index(names[0])
        match operation:
            case "index":
                return _put(index, names, params, body)
            case "delete":
                return _delete(index, names, params)
            case _:
                return _search(index, names[0], body or {})

    def _create(self, name: str, body: Body) -> Answer:
        if _INDEX_NAME.fullmatch(name) is None:
            raise _invalid(f"Invalid index name [{name}]", "invalid_index_name_exception")
        if name in self.indices:
            raise _invalid(f"index [{name}] already exists", "resource_already_exists_exception")
        _check_definition(body)
        self.indices[name] = Index(body)
        return 200, {"acknowledged": True, "shards_acknowledged": True, "index": name}

    def _index(self, name: str) -> Index:
        if name not in self.indices:
            raise RefusedError(404, "index_not_found_exception", f"no such index [{name}]")
        return self.indices[name]


def _operation(method: str, names: list[str]) -> str:
    match method, names:
        case "HEAD", [_]:
            return "indices.exists"
        case "PUT", [_]:
            return "indices.create"
        case "PUT" | "POST", [_, "_doc", _]:
            return "index"
        case "DELETE", [_, "_doc", _]:
            return "delete"
        case "POST" | "GET", [_, "_search"]:
            return "search"
    raise _invalid(f"no handler found for uri [/{'/'.join(names)}] and method [{method}]")


# --- definitions ----------------------------------------------------------------------------------------------


def _check_definition(body: Body) -> None:
    _check_keys(body, {"settings": dict, "mappings": dict, "aliases": dict}, "create index")
    settings = body.get("settings", {})
    _check_keys(settings, {"index": dict, "analysis": dict}, "settings")
    analyzers = settings.get("analysis", {}).get("analyzer", {})
    for name, analyzer in analyzers.items():
        unknown = set(analyzer["filter"]) - _TOKEN_FILTERS
        if analyzer["type"] != "custom" or analyzer["tokenizer"] != "standard" or unknown:
            raise _invalid(f"analyzer [{name}] is not configured as documented: {analyzer}")
    mappings = body.get("mappings", {})
    _check_keys(
        mappings, {"dynamic": (str, bool), "properties": dict}, "mappings", "mapper_parsing_exception"
    )
    for name, mapping in mappings.get("properties", {}).items():
        if mapping["type"] not in _FIELD_TYPES or mapping.keys() - {"type", "analyzer"}:
            raise _invalid(f"no handler for the mapping of [{name}]: {mapping}", "mapper_parsing_exception")
        if mapping.get("analyzer", "standard") not in {"standard", *analyzers}:
            raise _invalid(f"analyzer [{mapping['analyzer']}] has not been configured in mappings")


def _check_keys(body: Body, known: dict[str, Any], where: str, kind: str = "parsing_exception") -> None:
    for name, value in body.items():
        if name not in known:
            raise _invalid(f"Unknown key for [{name}] in [{where}]", kind)
        if not isinstance(value, known[name]):
            raise _invalid(f"[{where}] failed to parse field [{name}]: {value!r}", kind)


# --- documents ------------------------------------------------------------------------------------------------


def _put(index: Index, names: list[str], params: dict[str, str], body: Body | None) -> Answer:
    if body is None:
        raise _invalid("request body is required", "parse_exception")
    if index.definition.get("mappings", {}).get("dynamic") == "strict":
        unknown = body.keys() - index.properties.keys()
        if unknown:
            raise _invalid(
                f"introduction of {sorted(unknown)} is not allowed", "strict_dynamic_mapping_exception"
            )
    wrong = [name for name, value in body.items() if not isinstance(value, str)]
    if wrong:
        raise _invalid(f"failed to parse field {wrong}", "mapper_parsing_exception")
    name, document_id = names[0], names[2]
    is_new = document_id not in index.documents
    version = _next_version(index, document_id, params)
    index.documents[document_id] = body
    return (201 if is_new else 200), _written(name, document_id, version, "created" if is_new else "updated")


def _delete(index: Index, names: list[str], params: dict[str, str]) -> Answer:
    name, document_id = names[0], names[2]
    version = _next_version(index, document_id, params)
    if index.documents.pop(document_id, None) is None:
        return 404, _written(name, document_id, version, "not_found")
    return 200, _written(name, document_id, version, "deleted")


def _next_version(index: Index, document_id: str, params: dict[str, str]) -> int:
    """Return the version that a write gives a document. That of a deleted one is remembered for a minute."""
    current = index.versions.get(document_id)
    kind = params.get("version_type", "internal")
    if kind not in _VERSION_TYPES:
        raise _invalid(f"No version type match [{kind}]")
    if kind == "internal":
        if "version" in params:
            raise _invalid("internal versioning can not be used for optimistic concurrency control")
        version = (current or 0) + 1
    else:
        version = int(params["version"])
        if version < 0:
            raise _invalid(f"illegal version value [{version}] for version type [{kind.upper()}]")
        if current is not None and (version < current or (version == current and kind == "external")):
            reason = (
                f"[{document_id}]: version conflict, current version [{current}] is higher than the one "
                f"provided [{version}]"
            )
            raise RefusedError(409, "version_conflict_engine_exception", reason)
    index.versions[document_id] = version
    return version


def _written(name: str, document_id: str, version: int, result: str) -> Body:
    return {
        "_index": name,
        "_id": document_id,
        "_version": version,
        "result": result,
        "_shards": {"total": 2, "successful": 1, "failed": 0},
        "_seq_no": 1,
        "_primary_term": 1,
    }


# --- search ---------------------------------------------------------------------------------------------------


def _search(index: Index, name: str, body: Body) -> Answer:
    _check_keys(body, _SEARCH_BODY, "search")
    offset, size = body.get("from", 0), body.get("size", 10)
    if offset + size > _WINDOW_MAX:
        raise _invalid(f"Result window is too large, from + size must be at most [{_WINDOW_MAX}]")
    (kind,) = body["query"]
    if kind != "multi_match":
        raise _invalid(f"unknown query [{kind}]", "parsing_exception")
    scores = {
        document_id: score
        for document_id, document in index.documents.items()
        if (score := _score(index, document, body["query"]["multi_match"])) > 0
    }
    ordered = sorted(scores, key=lambda each: _sort_key(index, body.get("sort", ["_score"]), each, scores))
    hits = [{"_index": name, "_id": each, "_score": scores[each]} for each in ordered[offset : offset + size]]
    shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
    return 200, {"took": 1, "timed_out": False, "_shards": shards, "hits": {"max_score": None, "hits": hits}}


def _score(index: Index, document: Body, query: Body) -> float:
    """Return how well a document fits: each word must be in one of the fields, and counts the best of them."""
    _check_keys(query, _MULTI_MATCH, "multi_match")
    if query.get("type", "best_fields") not in _MATCH_TYPES or query.get("operator", "or") not in (
        "and",
        "or",
    ):
        raise _invalid(f"failed to parse [multi_match]: {query}", "parsing_exception")
    boosts = {}
    for field_name in query["fields"]:
        name, _, boost = field_name.partition("^")
        if name not in index.properties:
            raise _invalid(f"no field {name} is mapped")
        boosts[name] = float(boost or 1)
    found = [
        max((boost for name, boost in boosts.items() if word in _terms(document[name])), default=0.0)
        for word in _terms(query["query"])
    ]
    if query.get("operator") == "and" and 0.0 in found:
        return 0.0
    return sum(found)


def _terms(text: str) -> list[str]:
    """Return the words of a text, with less folding than OpenSearch has: what is sent should be plain already."""
    letters = unicodedata.normalize("NFKD", text).lower()
    kept = (letter if letter.isalnum() else " " for letter in letters if not unicodedata.combining(letter))
    return "".join(kept).split()


def _sort_key(index: Index, sort: list[Any], document_id: str, scores: dict[str, float]) -> list[Any]:
    key: list[Any] = []
    for each in sort:
        ((name, order),) = each.items() if isinstance(each, dict) else ((each, "desc"),)
        if name == "_score":
            key.append(-scores[document_id] if order == "desc" else scores[document_id])
        elif index.properties.get(name, {}).get("type") != "keyword" or order != "asc":
            raise _invalid(f"Text fields are not optimised for sorting: [{name}]")
        else:
            key.append(index.documents[document_id][name])
    return key


@contextmanager
def opensearch_endpoint() -> Iterator[tuple[OpenSearchEndpoint, OpenSearch]]:
    """Serve a cluster on localhost; yield it, and a client of it."""
    endpoint = OpenSearchEndpoint()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_PUT(self) -> None:
            payload = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            content_type = self.headers.get("Content-Type", "")
            status, body = endpoint.answer(self.command, self.path, content_type, payload)
            encoded = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=UTF-8")
            self.send_header("Content-Length", str(len(encoded)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(encoded)

        do_POST = do_DELETE = do_HEAD = do_GET = do_PUT  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        client = OpenSearch([{"host": "127.0.0.1", "port": server.server_port}], max_retries=0)
        try:
            yield endpoint, client
        finally:
            client.close()
            server.shutdown()
            thread.join()
