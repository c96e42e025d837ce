"""An HTTP API for any design: what it exposes is declared, who may do what is enforced on every path.

    api = Api(Shop, entities=[EntityApi(Order)], patterns=[PatternApi("orders")])
    application = app(Shop.open("shop.db"), api, auth=BearerAuthentication(who), cursor_secret=secret)

declaration.py     what is exposed; access.py: who may do what
authentication.py  who calls: none, a bearer token, a token of an OpenID provider
entities.py        create, read, replace, patch, delete; patterns.py: lists and all other questions and writes
changes.py         server-sent events; idempotency.py: writes that are sent again
fields.py          entities as JSON, out and in; answers.py: forms, ETags, caching; problems.py: RFC 9457
context.py         what endpoints share, those of services too; gate.py: what every request passes
routing.py, openapi.py, application.py: the paths, their description, all of it together

Needs the extra `api`: FastAPI. Nothing else of the package imports it.
"""

from __future__ import annotations

from singletable.api.access import OWNER, PUBLIC, SIGNED_IN, Guard, Principal, Role
from singletable.api.application import app
from singletable.api.authentication import (
    Authenticator,
    BearerAuthentication,
    JwtAuthentication,
    NoAuthentication,
)
from singletable.api.context import Context, Limits, context_of
from singletable.api.declaration import Api, Cache, EntityApi, PatternApi
from singletable.api.idempotency import IdempotencyStore
from singletable.api.problems import Kind, Problem

__all__ = [
    "OWNER",
    "PUBLIC",
    "SIGNED_IN",
    "Api",
    "Authenticator",
    "BearerAuthentication",
    "Cache",
    "Context",
    "EntityApi",
    "Guard",
    "IdempotencyStore",
    "JwtAuthentication",
    "Kind",
    "Limits",
    "NoAuthentication",
    "PatternApi",
    "Principal",
    "Problem",
    "Role",
    "app",
    "context_of",
]
