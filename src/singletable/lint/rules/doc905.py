"""DOC905: a key of encryption is called by the name of another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

_DEFAULT: Final = re.compile(r"\bdefault\b", re.IGNORECASE)
_KEY: Final = re.compile(r"\b(?:managed|kms|keys?|encrypt\w*)\b", re.IGNORECASE)
_MANAGED: Final = re.compile(r"\b(?P<by>aws|customer)[ -]managed(?: kms)? keys?\b", re.IGNORECASE)
_NOT: Final = re.compile(r"\b(?:not?|never|instead|without|later|than)\b", re.IGNORECASE)


def check(view: View) -> Iterator[Finding]:
    """Look for keys managed by AWS that are called the default, and for ARNs where AWS owns the key."""
    table = view.blueprint.table
    said = [table.about, *(each.words for each in table.said)]
    words = next((each for each in said if _DEFAULT.search(each) and _KEY.search(each)), None)
    if table.encryption == "AWS_MANAGED" and words is not None:
        yield finding(
            RULE,
            ("table",),
            message=f"{words!r} calls the AWS managed key the default, which is the AWS owned key",
            because="the managed key is aws/dynamodb of KMS, whose calls are paid; "
            "the owned key costs nothing",
            repair="say which one is meant: AWS_OWNED, the default, or AWS_MANAGED",
        )
    other = next((found for each in said if (found := _MANAGED.search(each)) is not None), None)
    if (
        other is not None
        and f"{other['by'].upper()}_MANAGED" != table.encryption
        and not _NOT.search(other.string)
    ):
        yield finding(
            RULE,
            ("table",),
            message=f"{other[0]!r} is said to encrypt the table, and its encryption is {table.encryption}",
            because="the owned key is AWS's alone, the AWS managed key is in KMS and its calls are paid, and of a "
            "customer managed key you write the policy: they are three different keys",
            repair="say which one is meant: AWS_OWNED, which is the default, AWS_MANAGED or CUSTOMER_MANAGED",
        )
    if table.key is not None and table.encryption != "CUSTOMER_MANAGED":
        yield finding(
            RULE,
            ("table",),
            message=f"the key {table.key} is named, and the encryption is {table.encryption}",
            because="only a customer managed key is named: with another setting it is not used",
            repair="set the encryption to CUSTOMER_MANAGED, or name no key",
        )


RULE = Rule("DOC905", Severity.DISAGREEMENT, "The key of encryption is called what it is not", check)
