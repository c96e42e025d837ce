"""COS804: capacity and billing mode that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for units of capacity on demand, and for provisioned tables without them."""
    table = view.blueprint.table
    on_demand = table.billing == "PAY_PER_REQUEST"
    sized = [
        view.index_path(index.name)
        for index in view.blueprint.indexes
        if index.capacity is not None and not index.is_local
    ]
    if on_demand and (table.capacity is not None or table.scaling or sized):
        yield finding(
            RULE,
            ("table",),
            *sized,
            message="the table is on demand, and capacity is provisioned",
            because="a table whose billing mode is PAY_PER_REQUEST takes no units of capacity: "
            "CreateTable is refused, "
            "and there is nothing to scale",
            repair="leave the capacity out, or make the billing mode PROVISIONED",
            facts={
                "members": {
                    "BillingMode": "PAY_PER_REQUEST",
                    "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
                }
            },
        )
    elif table.billing == "PROVISIONED" and table.capacity is None and not table.scaling:
        yield finding(
            RULE,
            ("table",),
            message="the table is provisioned, and nobody says how many units it has",
            because="CreateTable is refused without ReadCapacityUnits and WriteCapacityUnits in that billing mode",
            repair="say the units of reading and writing, or make the billing mode PAY_PER_REQUEST",
            facts={"members": {"BillingMode": "PROVISIONED"}},
        )


def prove(found: Finding, bench: Bench) -> str | None:
    """Create a table with that billing mode and these units."""
    refusal = bench.refusal(
        "create_table",
        TableName="capacity",
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}],
        **found.facts["members"],
    )
    return f"CreateTable is refused: {refusal}" if refusal is not None else None


RULE = Rule("COS804", Severity.ERROR, "Capacity and billing mode contradict each other", check, prove)
