"""IAM policies: documents as AWS takes them, and whether they allow a call.

Only allow statements are written: no denials, and no conditions.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Statement:
    """Actions that are allowed on resources. In both, * stands for anything."""

    sid: str
    actions: tuple[str, ...]
    resources: tuple[str, ...]

    def allows(self, action: str, resource: str) -> bool:
        """Tell whether this statement allows an action on a resource."""
        # Action names know no upper and lower case, resources do (IAM guide, "Grammar of the IAM JSON policy").
        return any(_matches(each.casefold(), action.casefold()) for each in self.actions) and any(
            _matches(each, resource) for each in self.resources
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """An IAM policy: a name, and the actions that it allows."""

    name: str
    statements: tuple[Statement, ...]

    def allows(self, action: str, resource: str) -> bool:
        """Tell whether an action is allowed on a resource."""
        return any(statement.allows(action, resource) for statement in self.statements)

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
                }
                for statement in self.statements
            ],
        }

    def to_json(self) -> str:
        """Return the policy as a text that IAM takes."""
        return json.dumps(self.document(), indent=2)


def _matches(pattern: str, text: str) -> bool:
    parts = re.split(r"([*?])", pattern)
    wild = {"*": ".*", "?": "."}
    return (
        re.fullmatch("".join(wild.get(part, re.escape(part)) for part in parts), text, re.DOTALL) is not None
    )
