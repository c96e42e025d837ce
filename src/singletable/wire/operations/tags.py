"""TagResource, UntagResource, ListTagsOfResource as DynamoDB shapes; and the rules for tags anywhere.

The words are answers of Amazon DynamoDB that the "ack-api-quirks" laboratory recorded in October 2026
(DDB-TABLE-071, 105 to 110, 136, 368, 372, 373). One wrong tag refuses the whole request.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from singletable import limits
from singletable.engine import tags
from singletable.engine.tags import TOO_MANY, Tagged, Tags, check_tag_set
from singletable.errors import INVALID, AccessDeniedError, ValidationError
from singletable.wire.arns import Arn, partition_of
from singletable.wire.forms import Form
from singletable.wire.parameters import Answer, OperationContext, Params, Run
from singletable.wire.validation.violations import TABLE_NAME_LENGTH_MIN, TABLE_NAME_PATTERN, utf16_units

_RESERVED: Final = "aws:"
_PUNCTUATION: Final = frozenset("+-=._:/@")


def tag_resource(session: OperationContext, params: Params, form: Form) -> Answer:
    tagged = _tagged(session, params["ResourceArn"])
    given: Sequence[Params] = params["Tags"]
    if not given:
        raise ValidationError("Atleast one Tag needs to be provided as Input.")
    tags.tag(session.store, tagged, read_tags(given))
    return {}


def untag_resource(session: OperationContext, params: Params, form: Form) -> Answer:
    tagged = _tagged(session, params["ResourceArn"])
    keys: Sequence[str] = params["TagKeys"]
    if not keys:
        raise ValidationError("Atleast one Tag Key needs to be provided as Input.")
    for key in keys:
        _checked_key(key)
    if len(keys) > limits.TAGS_MAX:
        raise ValidationError(TOO_MANY)
    tags.untag(session.store, tagged, keys)
    return {}


def list_tags_of_resource(session: OperationContext, params: Params, form: Form) -> Answer:
    # All of them on one page, also fifty; a NextToken is not looked at (DDB-TABLE-108, 073).
    found = tags.list_tags(session.store, _tagged(session, params["ResourceArn"]))
    return {"Tags": [{"Key": key, "Value": value} for key, value in found.items()]}


# --- tags ------------------------------------------------------------------------------------


def read_tags(given: Iterable[Params]) -> Tags:
    """Return the tags that a request gives."""
    read: Tags = {}
    for entry in given:
        key, value = _checked_key(entry.get("Key")), _checked_value(entry.get("Value"))
        if key in read:
            raise ValidationError(f"Duplicate Tag Keys provided as input: Duplicate Tag Key found {key}")
        read[key] = value
    check_tag_set(read)
    return read


def _checked_key(key: str | None) -> str:
    if key is None or not 1 <= utf16_units(key) <= limits.TAG_KEY_LENGTH_MAX or not _is_allowed(key):
        raise ValidationError(f"The Tag Key provided is invalid, Key: {'null' if key is None else key}")
    if key.lower().startswith(_RESERVED):
        raise ValidationError(f"Tag Key cannot be prefixed with aws:, Key: {key}")
    return key


def _checked_value(value: str | None) -> str:
    if value is None or utf16_units(value) > limits.TAG_VALUE_LENGTH_MAX or not _is_allowed(value):
        shown = "null" if value is None else value
        raise ValidationError(f"The Tag Value provided is invalid, Value: {shown}")
    return value


def _is_allowed(text: str) -> bool:
    """Tell whether there are only letters, digits, spaces and + - = . _ : / @ in a text, of any script."""
    return all(character in _PUNCTUATION or unicodedata.category(character)[0] in "LNZ" for character in text)


# --- tagged resources --------------------------------------------------------------------------


def _tagged(session: OperationContext, text: str) -> Tagged:
    if not text.startswith("arn:"):
        raise ValidationError(f"{INVALID}ARNs must start with 'arn:': {text}")
    arn = Arn.parse(text)
    kind, table, part, label = _resource("" if arn is None else arn.resource)
    if arn is None or (arn.service, kind) != ("dynamodb", "table") or part == "backup":
        # AWS says so of a backup (DDB-BACKUP-013); that it says the same of half an ARN is a guess.
        raise ValidationError(f"{INVALID}Provided Arn is not a DynamoDB resource arn: {text}")
    if part not in ("", "stream"):
        raise ValidationError(
            f"{INVALID}Invalid resource arn provided, only table or stream is accepted. "
            f"Provided resource arn: {text}"
        )
    is_here = (arn.partition, arn.region) == (partition_of(session.region), session.region)
    if not is_here or len(table) < TABLE_NAME_LENGTH_MIN or not re.fullmatch(TABLE_NAME_PATTERN, table):
        raise ValidationError(f"Invalid TableArn: Invalid ResourceArn provided as input {text}")
    if arn.account != session.account:
        raise AccessDeniedError("Access is denied")
    return Tagged(text, table, label or None)


def _resource(text: str) -> tuple[str, str, str, str]:
    """Return the parts between the slashes of `table/NAME/stream/LABEL`, or of a shorter name."""
    kind, table, part, label = (*text.split("/", 3), "", "", "")[:4]
    return kind, table, part, label


RUN: Final[dict[str, Run]] = {
    "ListTagsOfResource": list_tags_of_resource,
    "TagResource": tag_resource,
    "UntagResource": untag_resource,
}
