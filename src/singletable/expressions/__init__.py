"""DynamoDB's expression language: conditions, filters, projections, key conditions and updates.

A request opens a `Scope` with its placeholders and asks it for each expression it has:

    text -> tokens -> nodes (names resolved, values still placeholders) -> functions (prepared, remembered by
    text and names) -> an object with the values of this request

Nothing here knows tables, keys or capacity.
"""

from singletable.expressions.conditions import Condition
from singletable.expressions.key_conditions import KeyClause, KeyCondition, KeyOperator
from singletable.expressions.placeholders import check_given_with_expressions
from singletable.expressions.projections import Projection
from singletable.expressions.refusals import ExpressionRefusedError
from singletable.expressions.scope import Scope
from singletable.expressions.updates import Update

__all__ = [
    "Condition",
    "ExpressionRefusedError",
    "KeyClause",
    "KeyCondition",
    "KeyOperator",
    "Projection",
    "Scope",
    "Update",
    "check_given_with_expressions",
]
