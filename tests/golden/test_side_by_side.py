"""Random requests, right and slightly wrong, sent to us and to AWS's own local build: who differs, and why?

Set SINGLETABLE_AWS_LOCAL to the URL of a running DynamoDB Local, started with -inMemory. A difference that no
rule of side_by_side/settled explains fails, and is shrunk to the smallest case. With SINGLETABLE_SIDE_BY_SIDE,
a number of examples for each operation, there is a long run too; it is seeded by chance, and prints its seed.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st

from golden.side_by_side.arena import Arena, Case
from golden.side_by_side.comparison import Difference, differences
from golden.side_by_side.designs import DESIGNS
from golden.side_by_side.endpoints import Ours, Reply, Theirs
from golden.side_by_side.requests import ITEM_OPERATIONS, Scene, Script, right_scripts
from golden.side_by_side.settled import RULES, unsettled
from golden.side_by_side.settled.rule import Rule, Wording
from golden.side_by_side.settled.wordings import WORDINGS
from golden.side_by_side.slips import slipped
from golden.side_by_side.table_requests import TABLE_OPERATIONS, TableScript, table_scripts
from singletable import Database

ENDPOINT_URL = os.environ.get("SINGLETABLE_AWS_LOCAL")
EXAMPLES = 150
SOAK_EXAMPLES = int(os.environ.get("SINGLETABLE_SIDE_BY_SIDE", "0"))
OPERATIONS = (*ITEM_OPERATIONS, *TABLE_OPERATIONS)

needs_aws_local = pytest.mark.skipif(
    ENDPOINT_URL is None, reason="SINGLETABLE_AWS_LOCAL, a DynamoDB Local's URL, is unset"
)


@pytest.fixture(scope="module")
def arena() -> Iterator[Arena]:
    assert ENDPOINT_URL is not None
    url = ENDPOINT_URL
    with Database.open(":memory:") as database:
        arena = Arena(Ours(database), lambda: Theirs(url))
        yield arena
        assert database.check() == []
        arena.close()


@st.composite
def scripts(draw: st.DrawFn, operation: str) -> Script | TableScript:
    """Draw a request of an operation with no slip, one, or two."""
    slips = draw(st.sampled_from((0, 1, 1, 1, 2)))
    if operation in ITEM_OPERATIONS:
        script = draw(right_scripts(operation))
        request = script.request
        for _ in range(slips):
            request = draw(slipped(request))
        return Script(script.scene, operation, request)
    table_script = draw(table_scripts(operation))
    request = table_script.request
    for _ in range(slips):
        request = draw(slipped(request))
    return TableScript(table_script.before, operation, request)


def play(arena: Arena, script: Script | TableScript) -> None:
    case = arena.play(script) if isinstance(script, Script) else arena.play_table(script)
    if case is not None:
        note(case.told())
        assert unsettled(case) == []


@pytest.mark.aws_local
@needs_aws_local
@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_difference_is_settled(arena: Arena, operation: str) -> None:
    @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), print_blob=True)
    @given(scripts(operation))
    def run(script: Script | TableScript) -> None:
        play(arena, script)

    run()


@pytest.mark.soak
@pytest.mark.aws_local
@needs_aws_local
@pytest.mark.skipif(SOAK_EXAMPLES == 0, reason="SINGLETABLE_SIDE_BY_SIDE, a number of examples, is unset")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_difference_is_settled_in_a_long_run(arena: Arena, operation: str) -> None:
    chance = random.SystemRandom().getrandbits(64)
    print(f"{operation}: seed {chance}")

    @seed(chance)
    @settings(
        max_examples=SOAK_EXAMPLES, derandomize=False, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(scripts(operation))
    def run(script: Script | TableScript) -> None:
        play(arena, script)

    run()


# --- the rules themselves ------------------------------------------------------------------------------


def refused(code: str, message: str) -> Reply:
    return Reply(400, {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": message})


def invalid(message: str) -> Reply:
    return refused("ValidationException", message)


OK = Reply(200, {})


def case_of(operation: str, ours: Reply, theirs: Reply, request: dict[str, object] | None = None) -> Case:
    script = Script(Scene(DESIGNS[0], []), operation, request or {})
    return Case(script, ours, theirs, differences(operation, script.request, ours, theirs))


FAULT = 'Invalid ConditionExpression: Syntax error; token: "x", near: "x"'
COUNTED = f"1 validation error detected: {FAULT}"
CONSTRAINT = "1 validation error detected: Value 'x' at 'item' failed to satisfy constraint: Member must be y"
NO_TABLE = refused("ResourceNotFoundException", "Requested resource not found")
WRONG_TYPE = refused("SerializationException", "NUMBER_VALUE cannot be converted to String")
CURSOR = invalid("The provided starting key is invalid")


@pytest.mark.parametrize(
    ("operation", "ours", "theirs"),
    [
        pytest.param("PutItem", invalid(FAULT), OK, id="only we refuse"),
        pytest.param("PutItem", OK, invalid(FAULT), id="only they refuse"),
        pytest.param("PutItem", invalid(FAULT), invalid("Something else"), id="other words"),
        pytest.param("PutItem", invalid(FAULT), refused("InternalFailure", ""), id="they fail inside"),
        pytest.param("GetItem", invalid(COUNTED), invalid(FAULT), id="counted where AWS does not count"),
        pytest.param("PutItem", NO_TABLE, invalid("Something"), id="another error"),
        pytest.param("Query", CURSOR, invalid("Limit"), id="a cursor against something else"),
        pytest.param(
            "UpdateTable", invalid("One"), refused("ResourceInUseException", "Two"), id="another code"
        ),
        pytest.param("PutItem", WRONG_TYPE, OK, id="a type that is right"),
        pytest.param("PutItem", invalid(CONSTRAINT), OK, id="a constraint that is kept"),
    ],
)
def test_no_rule_explains_what_it_does_not_name(operation: str, ours: Reply, theirs: Reply) -> None:
    request: dict[str, object] = {"TableName": "Plain"}
    if operation == "PutItem":
        request["Item"] = {"p": {"S": "a"}}
    assert unsettled(case_of(operation, ours, theirs, request)) != []


def test_rules_and_wordings_are_named_once_and_say_why() -> None:
    everything: list[Rule | Wording] = [*RULES, *WORDINGS]
    assert len({settled.name for settled in everything}) == len(everything)
    for settled in everything:
        assert settled.why.endswith("."), settled.name
        assert settled.evidence, settled.name


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES if rule.aspect == "refusal"], ids=lambda rule: rule.name
)
def test_a_rule_for_refusals_names_what_we_answer(rule: Rule) -> None:
    """A rule that took any answer of ours would explain everything."""
    unlikely = "ConditionalCheckFailedException: The conditional request failed"
    assert re.fullmatch(rule.ours, unlikely) is None


def test_a_difference_is_told_with_its_request() -> None:
    case = case_of("GetItem", OK, invalid("no"), {"TableName": "Plain"})
    assert case.differences == [
        Difference("refusal", "OK", {"status": 400, "code": "ValidationException", "message": "no"})
    ]
    assert "GetItem" in case.told()
    assert "'message': 'no'" in case.told()
