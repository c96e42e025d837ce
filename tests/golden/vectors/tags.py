"""TagResource, UntagResource, ListTagsOfResource; and tags given to CreateTable."""

from __future__ import annotations

from typing import Any

from golden.vectors.matching import including, unordered
from golden.vectors.tables import HASH, table
from golden.vectors.vector import Refusal, Vector, then, validation

ACK = "Answers of the service that ack-api-quirks recorded in October 2026, "
BASE = "arn:aws:dynamodb:us-east-1:000000000000:"
ARN = f"{BASE}table/Hash"
INVALID = "One or more parameter values were invalid: "
TOO_MANY = "Number of Tags exceed the current limit for the provided ResourceArn"

TAGGED = table("Tagged", "p", types={"p": "S"}, Tags=[{"Key": "team", "Value": "search"}])
TAGGED_ARN = f"{BASE}table/Tagged"


def tags(**pairs: str) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in pairs.items()]


def listed(expected: list[dict[str, str]], arn: str = ARN) -> Any:
    return then("ListTagsOfResource", {"ResourceArn": arn}, {"Tags": unordered(expected)})


def numbered(count: int, value: str = "v") -> list[dict[str, str]]:
    return [{"Key": f"k{number:02}", "Value": value} for number in range(count)]


def tag(name: str, given: list[dict[str, Any]], message: str, evidence: str) -> Vector:
    """A request with these tags is refused, and changes nothing."""
    return Vector(
        name,
        operation="TagResource",
        tables=[HASH],
        request={"ResourceArn": ARN, "Tags": given},
        error=validation(message),
        after=[listed([])],
        evidence=evidence,
    )


def untag(name: str, keys: list[str], message: str, evidence: str) -> Vector:
    return Vector(
        name,
        operation="UntagResource",
        tables=[TAGGED],
        request={"ResourceArn": TAGGED_ARN, "TagKeys": keys},
        error=validation(message),
        after=[listed(tags(team="search"), TAGGED_ARN)],
        evidence=evidence,
    )


def listing(name: str, arn: str, error: Refusal, evidence: str) -> Vector:
    return Vector(
        name,
        operation="ListTagsOfResource",
        tables=[HASH],
        request={"ResourceArn": arn},
        error=error,
        evidence=evidence,
    )


def creation(name: str, given: list[dict[str, Any]], message: str, evidence: str) -> Vector:
    request = table("Made", "p", types={"p": "S"}, Tags=given)
    return Vector(
        name,
        operation="CreateTable",
        request=request,
        error=validation(message),
        makes=["Made"],
        after=[
            then(
                "DescribeTable",
                {"TableName": "Made"},
                Refusal("ResourceNotFoundException", "Requested resource not found: Table: Made not found"),
            )
        ],
        evidence=evidence,
    )


def accepted_tag(name: str, key: str, value: str, evidence: str) -> Vector:
    given = [{"Key": key, "Value": value}]
    return Vector(
        name,
        operation="TagResource",
        tables=[HASH],
        request={"ResourceArn": ARN, "Tags": given},
        answer={},
        after=[listed(given)],
        evidence=evidence,
    )


WORKS = [
    Vector(
        "a_table_without_tags_lists_none",
        operation="ListTagsOfResource",
        tables=[HASH],
        request={"ResourceArn": ARN},
        answer={"Tags": []},
        evidence="dynalite, test/listTagsOfResource.js: should succeed if valid resource and has no tags",
    ),
    Vector(
        "tags_given_to_a_new_table_are_listed",
        operation="ListTagsOfResource",
        tables=[TAGGED],
        request={"ResourceArn": TAGGED_ARN},
        answer={"Tags": tags(team="search")},
        evidence=f"{ACK}DDB-TABLE-101",
    ),
    Vector(
        "a_table_may_be_made_with_no_tags",
        operation="CreateTable",
        request=table("Made", "p", types={"p": "S"}, Tags=[]),
        answer={"TableDescription": including({"TableStatus": "CREATING"})},
        makes=["Made"],
        after=[then("ListTagsOfResource", {"ResourceArn": f"{BASE}table/Made"}, {"Tags": []})],
        evidence=f"{ACK}DDB-TABLE-043: Tags=[] is accepted",
    ),
    Vector(
        "tagging_adds_to_what_is_there",
        operation="TagResource",
        tables=[TAGGED],
        request={"ResourceArn": TAGGED_ARN, "Tags": tags(stage="test", owner="ada")},
        answer={},
        after=[listed(tags(team="search", stage="test", owner="ada"), TAGGED_ARN)],
        evidence="AWS guide, Tagging resources; dynamodb-conformance, tier2/tags: adds additional tags",
    ),
    Vector(
        "tagging_a_key_again_gives_it_the_new_value",
        operation="TagResource",
        tables=[TAGGED],
        request={"ResourceArn": TAGGED_ARN, "Tags": tags(team="shop")},
        answer={},
        after=[listed(tags(team="shop"), TAGGED_ARN)],
        evidence=f"{ACK}DDB-TABLE-105: upserts",
    ),
    Vector(
        "untagging_takes_keys_away",
        operation="UntagResource",
        tables=[TAGGED],
        before=[("TagResource", {"ResourceArn": TAGGED_ARN, "Tags": tags(stage="test")})],
        request={"ResourceArn": TAGGED_ARN, "TagKeys": ["team"]},
        answer={},
        after=[listed(tags(stage="test"), TAGGED_ARN)],
        evidence="dynamodb-conformance, tier2/tags: removes specific tag keys with UntagResource",
    ),
    Vector(
        "untagging_a_key_that_is_not_there_is_no_error",
        operation="UntagResource",
        tables=[TAGGED],
        request={"ResourceArn": TAGGED_ARN, "TagKeys": ["absent", "team"]},
        answer={},
        after=[listed([], TAGGED_ARN)],
        evidence=f"{ACK}DDB-TABLE-105: mixing an absent and a present key is 200, the present key is removed",
    ),
    Vector(
        "tag_keys_are_told_apart_by_case_and_space",
        operation="TagResource",
        tables=[HASH],
        request={
            "ResourceArn": ARN,
            "Tags": [{"Key": key, "Value": "x"} for key in ("k", "K", "k ", " k", " ")],
        },
        answer={},
        after=[listed([{"Key": key, "Value": "x"} for key in ("k", "K", "k ", " k", " ")])],
        evidence=f"{ACK}DDB-TABLE-106, 368: keys are case-sensitive and not trimmed",
    ),
    Vector(
        "fifty_tags_fit_and_come_on_one_page",
        operation="TagResource",
        tables=[HASH],
        request={"ResourceArn": ARN, "Tags": numbered(50)},
        answer={},
        after=[listed(numbered(50))],
        evidence=f"{ACK}DDB-TABLE-108: 50 tags are listed without a NextToken",
    ),
    Vector(
        "with_fifty_tags_their_values_can_still_be_changed",
        operation="TagResource",
        tables=[HASH],
        before=[("TagResource", {"ResourceArn": ARN, "Tags": numbered(50)})],
        request={"ResourceArn": ARN, "Tags": numbered(50, "new")},
        answer={},
        after=[listed(numbered(50, "new"))],
        evidence=f"{ACK}DDB-TABLE-108: all 50 existing keys with new values in one call -> 200",
    ),
    Vector(
        "a_token_that_nobody_gave_is_ignored",
        operation="ListTagsOfResource",
        tables=[TAGGED],
        request={"ResourceArn": TAGGED_ARN, "NextToken": "bogus"},
        answer={"Tags": tags(team="search")},
        evidence=f"{ACK}DDB-TABLE-073: an invalid NextToken is ignored, the first page is returned",
    ),
    Vector(
        "tags_end_with_their_table",
        operation="CreateTable",
        tables=[TAGGED],
        before=[("DeleteTable", {"TableName": "Tagged"})],
        request=table("Tagged", "p", types={"p": "S"}),
        answer={"TableDescription": including({"TableName": "Tagged"})},
        after=[listed([], TAGGED_ARN)],
        evidence=f"{ACK}DDB-TABLE-104: the tags of a deleted table cannot be read through its ARN",
    ),
    accepted_tag("a_tag_may_have_no_value", "Env", "", f"{ACK}DDB-TABLE-106: empty values round-trip"),
    accepted_tag("a_tag_may_hold_these_marks", "sp ace", "a+b-c=d.e_f:g/h@i", f"{ACK}DDB-TABLE-106, 372"),
    accepted_tag("a_tag_may_be_in_any_script", "ключ", "café 表\u3000\u00a0", f"{ACK}DDB-TABLE-372"),
    accepted_tag("a_tag_key_may_have_128_characters", "k" * 128, "v", f"{ACK}DDB-TABLE-107"),
    accepted_tag("a_tag_value_may_have_256_characters", "k", "v" * 256, f"{ACK}DDB-TABLE-107"),
    accepted_tag("only_the_beginning_of_a_key_is_reserved", "myaws:foo", "x", f"{ACK}DDB-TABLE-105"),
]

REFUSED_TAGS = [
    tag(
        "tagging_with_no_tags",
        [],
        "Atleast one Tag needs to be provided as Input.",
        f"{ACK}DDB-TABLE-107; dynalite, test/tagResource.js",
    ),
    tag("a_tag_without_anything", [{}], "The Tag Key provided is invalid, Key: null", f"{ACK}DDB-TABLE-457"),
    tag(
        "a_tag_without_a_key",
        [{"Value": "v"}],
        "The Tag Key provided is invalid, Key: null",
        f"{ACK}DDB-TABLE-457: tag_value_only",
    ),
    tag(
        "a_tag_without_a_value",
        [{"Key": "k"}],
        "The Tag Value provided is invalid, Value: null",
        f"{ACK}DDB-TABLE-457: tag_key_only",
    ),
    tag("a_tag_with_an_empty_key", tags(**{"": "v"}), "The Tag Key provided is invalid, Key: ", f"{ACK}107"),
    tag(
        "a_tag_key_that_is_too_long",
        tags(good="v", **{"k" * 129: "v"}),
        f"The Tag Key provided is invalid, Key: {'k' * 129}",
        f"{ACK}DDB-TABLE-107: and the good tag is not applied",
    ),
    tag(
        "a_tag_value_that_is_too_long",
        tags(k="v" * 257),
        f"The Tag Value provided is invalid, Value: {'v' * 257}",
        f"{ACK}DDB-TABLE-107",
    ),
    tag(
        "a_tag_key_with_a_wrong_character",
        [{"Key": "bad#char", "Value": "x"}],
        "The Tag Key provided is invalid, Key: bad#char",
        f"{ACK}DDB-TABLE-106",
    ),
    *(
        tag(
            f"a_tag_value_with_{name}",
            tags(k=value),
            f"The Tag Value provided is invalid, Value: {value}",
            f"{ACK}DDB-TABLE-372",
        )
        for name, value in {
            "an_emoji": "🔑",
            "a_percent_sign": "100%",
            "a_comma": "a,b",
            "quotes": 'it\'s "q"',
            "brackets": "(x)[y]{z}",
            "a_tilde": "~a",
        }.items()
    ),
    tag(
        "a_tag_key_that_is_reserved",
        [*tags(good="v"), {"Key": "aws:zzz", "Value": "x"}],
        "Tag Key cannot be prefixed with aws:, Key: aws:zzz",
        f"{ACK}DDB-TABLE-107: and the good tag is not applied",
    ),
    tag(
        "a_tag_key_that_is_reserved_in_capitals",
        [{"Key": "AWS:foo", "Value": "x"}],
        "Tag Key cannot be prefixed with aws:, Key: AWS:foo",
        f"{ACK}DDB-TABLE-105",
    ),
    tag(
        "one_tag_key_twice",
        [*tags(dup="a"), *tags(dup="b")],
        "Duplicate Tag Keys provided as input: Duplicate Tag Key found dup",
        f"{ACK}DDB-TABLE-107",
    ),
    tag("fifty_one_tags_at_once", numbered(51), TOO_MANY, f"{ACK}DDB-TABLE-108"),
    tag(
        "tags_of_more_than_ten_kilobytes",
        numbered(41, "v" * 250),
        "Tag set size 10373 bytes is above max size limit of 10240 bytes",
        f"{ACK}DDB-TABLE-109: the limit is 10240 bytes; how they are counted is not recorded",
    ),
    Vector(
        "the_fifty_first_tag",
        operation="TagResource",
        tables=[HASH],
        before=[("TagResource", {"ResourceArn": ARN, "Tags": numbered(50)})],
        request={"ResourceArn": ARN, "Tags": [*tags(k00="new"), *tags(more="v")]},
        error=validation(TOO_MANY),
        after=[listed(numbered(50))],
        evidence=f"{ACK}DDB-TABLE-108: checked against the set after the merge",
    ),
    untag(
        "untagging_no_keys",
        [],
        "Atleast one Tag Key needs to be provided as Input.",
        f"{ACK}DDB-TABLE-107",
    ),
    untag(
        "untagging_an_empty_key", [""], "The Tag Key provided is invalid, Key: ", f"{ACK}457: untag_empty_key"
    ),
    untag(
        "untagging_a_key_that_is_too_long",
        ["k" * 129],
        f"The Tag Key provided is invalid, Key: {'k' * 129}",
        f"{ACK}DDB-TABLE-107",
    ),
    untag(
        "untagging_a_reserved_key",
        ["aws:foo"],
        "Tag Key cannot be prefixed with aws:, Key: aws:foo",
        f"{ACK}DDB-TABLE-105",
    ),
    untag(
        "untagging_fifty_one_keys",
        [f"k{number}" for number in range(51)],
        TOO_MANY,
        f"{ACK}DDB-TABLE-107: though it would remove tags",
    ),
    creation(
        "a_new_table_with_a_reserved_tag",
        [{"Key": "aws:foo", "Value": "x"}],
        "Tag Key cannot be prefixed with aws:, Key: aws:foo",
        f"{ACK}DDB-TABLE-110: and nothing is made",
    ),
    creation(
        "a_new_table_with_an_empty_tag",
        [{}],
        "The Tag Key provided is invalid, Key: null",
        f"{ACK}DDB-TABLE-457: ct_tags_empty_entry",
    ),
    creation("a_new_table_with_fifty_one_tags", numbered(51), TOO_MANY, f"{ACK}DDB-TABLE-110"),
    creation(
        "a_new_table_with_one_tag_key_twice",
        [*tags(dup="a"), *tags(dup="b")],
        "Duplicate Tag Keys provided as input: Duplicate Tag Key found dup",
        f"{ACK}DDB-TABLE-110: a ValidationException; the words are those of TagResource",
    ),
]


def not_found(arn: str) -> Refusal:
    return Refusal("ResourceNotFoundException", f"Requested resource not found: ResourceArn: {arn} not found")


MISSING = f"{BASE}table/Missing"
OTHER_CASE = f"{BASE}table/HASH"
NO_STREAM = f"{ARN}/stream/2020-01-01T00:00:00.000"
INDEX = f"{ARN}/index/gsi"
BACKUP = f"{ARN}/backup/01489602797149-73d8d5bc"
ELSEWHERE = "arn:aws:dynamodb:eu-west-1:000000000000:table/Hash"
SHORT = f"{BASE}table/ab"

OF_ONE_RESOURCE: dict[str, dict[str, Any]] = {
    "ListTagsOfResource": {},
    "TagResource": {"Tags": tags(k="v")},
    "UntagResource": {"TagKeys": ["k"]},
}
RESOURCES = [
    *(
        Vector(
            f"{operation}_without_a_resource",
            operation=operation,
            request=more,
            error=validation("Invalid TableArn"),
            evidence="dynalite, test/tagResource.js and its sisters: no ResourceArn",
        )
        for operation, more in OF_ONE_RESOURCE.items()
    ),
    *(
        Vector(
            f"{operation}_of_a_missing_table",
            operation=operation,
            request={"ResourceArn": MISSING, **more},
            error=not_found(MISSING),
            evidence=f"{ACK}DDB-TABLE-070, 446 (us-east-1 and us-west-2); dynalite had ResourcArn until 2020",
        )
        for operation, more in OF_ONE_RESOURCE.items()
    ),
    Vector(
        "tagging_without_tags",
        operation="TagResource",
        request={"ResourceArn": ARN},
        error=validation(
            "1 validation error detected: Value null at 'tags' failed to satisfy constraint: "
            "Member must not be null"
        ),
        evidence="dynalite, test/tagResource.js: null Tags",
    ),
    Vector(
        "untagging_without_keys",
        operation="UntagResource",
        request={"ResourceArn": ARN},
        error=validation(
            "1 validation error detected: Value null at 'tagKeys' failed to satisfy constraint: "
            "Member must not be null"
        ),
        evidence="dynalite, test/untagResource.js: null TagKeys",
    ),
    Vector(
        "wrong_tags_are_told_before_a_missing_table",
        operation="TagResource",
        request={"ResourceArn": MISSING, "Tags": []},
        error=validation("Atleast one Tag needs to be provided as Input."),
        evidence="dynalite, test/tagResource.js: empty Tags, with the ARN of no table",
    ),
    Vector(
        "a_wrong_arn_is_told_before_wrong_tags",
        operation="TagResource",
        request={"ResourceArn": SHORT, "Tags": []},
        error=validation(f"Invalid TableArn: Invalid ResourceArn provided as input {SHORT}"),
        evidence="dynalite, validations/tagResource.js: the order",
    ),
    listing(
        "the_bare_name_of_a_table",
        "Hash",
        validation(f"{INVALID}ARNs must start with 'arn:': Hash"),
        f"{ACK}DDB-TABLE-011, 071",
    ),
    listing(
        "the_arn_of_a_table_in_another_case",
        OTHER_CASE,
        not_found(OTHER_CASE),
        f"{ACK}DDB-TABLE-071: uppercase ARN -> ResourceNotFoundException",
    ),
    listing(
        "the_arn_of_an_index",
        INDEX,
        validation(
            f"{INVALID}Invalid resource arn provided, only table or stream is accepted. "
            f"Provided resource arn: {INDEX}"
        ),
        f"{ACK}DDB-TABLE-136",
    ),
    listing(
        "the_arn_of_a_backup",
        BACKUP,
        validation(f"{INVALID}Provided Arn is not a DynamoDB resource arn: {BACKUP}"),
        f"{ACK}DDB-BACKUP-013",
    ),
    listing(
        "the_arn_of_another_service",
        "arn:aws:s3:::bucket",
        validation(f"{INVALID}Provided Arn is not a DynamoDB resource arn: arn:aws:s3:::bucket"),
        f"{ACK}DDB-TABLE-442: the sentence",
    ),
    listing(
        "the_arn_of_a_table_in_another_region",
        ELSEWHERE,
        validation(f"Invalid TableArn: Invalid ResourceArn provided as input {ELSEWHERE}"),
        f"{ACK}DDB-TABLE-442: other-region ARN",
    ),
    listing(
        "the_arn_of_a_table_of_another_account",
        "arn:aws:dynamodb:us-east-1:123456789012:table/Hash",
        Refusal("AccessDeniedException", "Access is denied"),
        f"{ACK}DDB-TABLE-071; dynamodb-conformance, tier2/tags: AccessDeniedException",
    ),
    listing(
        "the_arn_of_a_name_that_is_too_short",
        SHORT,
        validation(f"Invalid TableArn: Invalid ResourceArn provided as input {SHORT}"),
        "dynalite, test/listTagsOfResource.js: short table name",
    ),
    listing("the_arn_of_a_stream_that_never_was", NO_STREAM, not_found(NO_STREAM), f"{ACK}DDB-TABLE-071"),
]

VECTORS = [*WORKS, *REFUSED_TAGS, *RESOURCES]
