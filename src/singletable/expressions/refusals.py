"""The errors of expressions.

Inside the package a complaint is an `ExpressionError`, without the name of the request parameter that holds the
expression; the scope adds the name and raises `ExpressionRefusedError` for the caller.
"""

from __future__ import annotations

from singletable.values.refused import ValueRefusedError


class ExpressionError(Exception):
    """A complaint about one expression, in DynamoDB's words."""


class ExpressionRefusedError(ValueRefusedError):
    """An expression or its placeholders break a rule that does not depend on any item.

    PutItem, UpdateItem and DeleteItem report these inside an envelope too: "1 validation error detected: Invalid
    UpdateExpression: Syntax error; …" (measured by the public conformance suite for DynamoDB in October 2026).
    """
