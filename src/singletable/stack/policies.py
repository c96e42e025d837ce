"""IAM policies: documents as AWS takes them, and whether they allow a call.

Only allow statements are written: no denials. Conditions have the operators of `_OPERATORS`, and Null; any other
allows nothing. Variables of resources and conditions are filled from the context of a call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

Conditions: TypeAlias = Mapping[str, Mapping[str, tuple[str, ...]]]  # operator, key, values
Context: TypeAlias = Mapping[str, Sequence[str]]  # what a call has of the keys of conditions


@dataclass(frozen=True, slots=True)
class Statement:
    """Actions that are allowed on resources, while all conditions hold. In both, * stands for anything."""

    sid: str
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    conditions: Conditions = field(default_factory=dict)

    def allows(self, action: str, resource: str, context: Context | None = None) -> bool:
        """Tell whether this statement allows an action on a resource, in the context of a call."""
        # Action names know no upper and lower case, resources do (IAM guide, "Grammar of the IAM JSON policy").
        return (
            any(_matches(each.casefold(), action.casefold(), {}) for each in self.actions)
            and any(_matches(each, resource, context or {}) for each in self.resources)
            and all(
                _holds(operator, context or {}, key, values)
                for operator, keys in self.conditions.items()
                for key, values in keys.items()
            )
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """An IAM policy: a name, and the actions that it allows."""

    name: str
    statements: tuple[Statement, ...]

    def allows(self, action: str, resource: str, context: Context | None = None) -> bool:
        """Tell whether an action is allowed on a resource, in the context of a call."""
        return any(statement.allows(action, resource, context) for statement in self.statements)

    def document(self) -> dict[str, Any]:
        """Return the policy as IAM takes it."""
        return {
            "Version": "2012-10-17",
            "Statement": [
                {
                    **({"Sid": statement.sid} if statement.sid else {}),
                    "Effect": "Allow",
                    "Action": list(statement.actions),
                    "Resource": list(statement.resources),
                    **(
                        {"Condition": condition_document(statement.conditions)}
                        if statement.conditions
                        else {}
                    ),
                }
                for statement in self.statements
            ],
        }

    def to_json(self) -> str:
        """Return the policy as a text that IAM takes."""
        return json.dumps(self.document(), indent=2)


def condition_document(conditions: Conditions) -> dict[str, Any]:
    """Return conditions as IAM takes them."""
    return {
        operator: {key: values[0] if len(values) == 1 else list(values) for key, values in keys.items()}
        for operator, keys in conditions.items()
    }


# --- conditions -------------------------------------------------------------------------------------------------


def _holds(operator: str, context: Context, key: str, values: tuple[str, ...]) -> bool:
    """Evaluate one condition (IAM guide, "IAM JSON policy elements: Condition operators")."""
    found = context.get(key)
    if operator == "Null":
        return (not found) == (values == ("true",))
    quantifier, colon, plain = operator.rpartition(":")
    compare = _OPERATORS.get(plain)
    if compare is None:
        return False
    if found is None or not found:
        return quantifier == "ForAllValues"  # true of no values at all: hence the Null beside it
    every = all if quantifier == "ForAllValues" or not colon else any
    return every(any(compare(value, each, context) for value in values) for each in found)


def _is_same(value: str, found: str, context: Context) -> bool:
    return "".join(_filled(part, context) for part in _VARIABLE.split(value)) == found


def _is_same_flag(value: str, found: str, context: Context) -> bool:
    return _is_same(value.casefold(), found.casefold(), context)


def _matches(pattern: str, text: str, context: Context) -> bool:
    parts = _VARIABLE_OR_WILD.split(pattern)
    regex = "".join(_WILD.get(part) or re.escape(_filled(part, context)) for part in parts)
    return re.fullmatch(regex, text, re.DOTALL) is not None


def _filled(part: str, context: Context) -> str:
    """Fill a variable from the context; one that the context does not have stands as it is, and matches nothing.

    With an exclamation mark, it is a variable of a template (CloudFormation guide, "Fn::Sub"). The characters *, ?
    and $ stand for themselves in braces (IAM guide, "IAM policy elements: Variables and tags").
    """
    if not _VARIABLE.fullmatch(part):
        return part
    name = part[2:-1].removeprefix("!")
    if name in {"*", "?", "$"}:
        return name
    found = context.get(name, ())
    return found[0] if len(found) == 1 else part


_VARIABLE: Final = re.compile(r"(\$\{[^}]+\})")
_VARIABLE_OR_WILD: Final = re.compile(r"(\$\{[^}]+\}|[*?])")
_WILD: Final = {"*": ".*", "?": "."}
_OPERATORS: Final[Mapping[str, Callable[[str, str, Context], bool]]] = {
    "StringEquals": _is_same,
    "StringLike": _matches,
    "ArnLike": _matches,
    "ArnEquals": _matches,
    "Bool": _is_same_flag,
}
