"""A session of the AWS CLI, as somebody types it, against the endpoint of the environment."""

from __future__ import annotations

import json
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

from proving import introduce, proof

TABLE = ("--table-name", "library")


def aws(*arguments: str, ends_with: int = 0) -> str:
    """Run `aws dynamodb`; return what it prints, or the error that it ends with."""
    ran = subprocess.run(["aws", "dynamodb", *arguments], capture_output=True, text=True, check=False)
    assert ran.returncode == ends_with, f"{arguments} ended with {ran.returncode}: {ran.stdout}{ran.stderr}"
    return ran.stderr.strip() if ends_with else ran.stdout


def answer(*arguments: str) -> Any:
    return json.loads(aws(*arguments))


def book(shelf: str, title: str, **attributes: Any) -> str:
    return json.dumps({"shelf": {"S": shelf}, "title": {"S": title}, **attributes})


def tables() -> None:
    with proof(
        "create-table in shorthand with a global and a local index, wait, describe-table, list-tables"
    ):
        made = answer(
            "create-table",
            *TABLE,
            "--attribute-definitions",
            "AttributeName=shelf,AttributeType=S",
            "AttributeName=title,AttributeType=S",
            "AttributeName=author,AttributeType=S",
            "AttributeName=pages,AttributeType=N",
            "--key-schema",
            "AttributeName=shelf,KeyType=HASH",
            "AttributeName=title,KeyType=RANGE",
            "--global-secondary-indexes",
            "IndexName=by_author,KeySchema=[{AttributeName=author,KeyType=HASH}],"
            "Projection={ProjectionType=INCLUDE,NonKeyAttributes=[pages]}",
            "--local-secondary-indexes",
            "IndexName=by_pages,KeySchema=[{AttributeName=shelf,KeyType=HASH},"
            "{AttributeName=pages,KeyType=RANGE}],Projection={ProjectionType=ALL}",
            "--billing-mode",
            "PAY_PER_REQUEST",
        )
        assert made["TableDescription"]["TableStatus"] == "CREATING"
        aws("wait", "table-exists", *TABLE)
        assert aws("describe-table", *TABLE, "--query", "Table.TableStatus", "--output", "text") == "ACTIVE\n"
        assert answer("list-tables") == {"TableNames": ["library"]}


def items() -> None:
    with proof("put-item, get-item, update-item, delete-item with conditions, in JSON and from files"):
        dune = book("fiction", "Dune", author={"S": "Herbert"}, pages={"N": "412"})
        assert aws("put-item", *TABLE, "--item", dune) == ""
        Path("item.json").write_text(book("fiction", "Emma", author={"S": "Austen"}, pages={"N": "474"}))
        aws("put-item", *TABLE, "--item", "file://item.json")
        updated = answer(
            "update-item",
            *TABLE,
            "--key",
            book("fiction", "Dune"),
            "--update-expression",
            "SET pages = pages + :more",
            "--condition-expression",
            "author = :author",
            "--expression-attribute-values",
            '{":more": {"N": "100"}, ":author": {"S": "Herbert"}}',
            "--return-values",
            "ALL_NEW",
        )
        assert updated["Attributes"]["pages"] == {"N": "512"}
        got = answer("get-item", *TABLE, "--key", book("fiction", "Dune"), "--consistent-read")
        assert got["Item"] == updated["Attributes"]
        assert answer(
            "delete-item", *TABLE, "--key", book("fiction", "Dune"), "--return-values", "ALL_OLD"
        ) == {"Attributes": got["Item"]}
        assert aws("get-item", *TABLE, "--key", book("fiction", "Dune")) == ""


def values() -> None:
    with proof("binary values (plain text in, base64 out), sets, 38 digits, lists and maps"):
        item = {
            "shelf": {"S": "types"},
            "title": {"S": "all"},
            "number": {"N": "-1234567890123456789.0123456789012345678"},
            "numbers": {"NS": ["1", "2.5"]},
            "texts": {"SS": ["a", "b"]},
            "list": {"L": [{"NULL": True}, {"BOOL": False}, {"M": {"deep": {"S": "größer"}}}]},
        }
        binary = {"binary": {"B": "hello"}, "binaries": {"BS": ["a", "b"]}}
        aws("put-item", *TABLE, "--item", json.dumps({**item, **binary}))
        # Version 1 of the AWS CLI sends the bytes of the text that it is given.
        encoded = {"binary": {"B": "aGVsbG8="}, "binaries": {"BS": ["YQ==", "Yg=="]}}
        assert answer("get-item", *TABLE, "--key", book("types", "all"))["Item"] == {**item, **encoded}


def errors() -> None:
    with proof("errors: AWS's code, operation and message on stderr, exit code 255"):
        failed = aws(
            *("put-item", *TABLE, "--item", book("fiction", "Emma")),
            *("--condition-expression", "attribute_not_exists(shelf)"),
            ends_with=255,
        )
        assert (
            "An error occurred (ConditionalCheckFailedException) when calling the PutItem operation" in failed
        )
        assert failed.endswith("The conditional request failed")
        missing = aws("describe-table", "--table-name", "missing", ends_with=255)
        assert "(ResourceNotFoundException)" in missing
        assert missing.endswith("Requested resource not found: Table: missing not found")


def pages() -> None:
    with proof("batch-write-item; query and scan with --page-size, --max-items and --starting-token"):
        puts = [
            {"PutRequest": {"Item": json.loads(book("novels", f"{number:02}", author={"S": "Balzac"}))}}
            for number in range(25)
        ]
        written = answer("batch-write-item", "--request-items", json.dumps({"library": puts}))
        assert written == {"UnprocessedItems": {}}
        by_author = (
            *("query", *TABLE, "--index-name", "by_author"),
            *("--key-condition-expression", "author = :author"),
            *("--expression-attribute-values", '{":author": {"S": "Balzac"}}'),
        )
        found = answer(*by_author, "--page-size", "4")
        assert found["Count"] == 25
        assert sorted(item["title"]["S"] for item in found["Items"]) == [
            f"{number:02}" for number in range(25)
        ]
        scan = ("scan", *TABLE, "--projection-expression", "title", "--max-items", "10")
        seen = 0
        token: list[str] = []
        while True:
            page = answer(*scan, *token)
            seen += len(page["Items"])
            if "NextToken" not in page:
                break
            token = ["--starting-token", page["NextToken"]]
        assert seen == 27
        count = answer("scan", *TABLE, "--select", "COUNT", "--return-consumed-capacity", "TOTAL")
        assert count["Count"] == 27
        assert count["ConsumedCapacity"]["CapacityUnits"] == 0.5


def batches_and_transactions() -> None:
    with proof("batch-get-item, transact-write-items, transact-get-items, the reasons of a cancellation"):
        keys = [json.loads(book("novels", title)) for title in ("00", "24", "missing")]
        got = answer("batch-get-item", "--request-items", json.dumps({"library": {"Keys": keys}}))
        assert len(got["Responses"]["library"]) == 2
        check = {
            "TableName": "library",
            "Key": keys[2],
            "ConditionExpression": "attribute_exists(shelf)",
        }
        put = {"TableName": "library", "Item": keys[2]}
        cancelled = aws(
            "transact-write-items",
            "--transact-items",
            json.dumps([{"Put": {"TableName": "library", "Item": keys[0]}}, {"ConditionCheck": check}]),
            ends_with=255,
        )
        assert "(TransactionCanceledException)" in cancelled
        assert "[None, ConditionalCheckFailed]" in cancelled
        aws("transact-write-items", "--transact-items", json.dumps([{"Put": put}]))
        read = answer(
            "transact-get-items",
            "--transact-items",
            json.dumps([{"Get": {"TableName": "library", "Key": key}} for key in keys]),
        )
        assert [response["Item"]["title"]["S"] for response in read["Responses"]] == ["00", "24", "missing"]


def outputs() -> None:
    with proof("--query, --output text and --output table"):
        one = ("get-item", *TABLE, "--key", book("fiction", "Emma"))
        assert aws(*one, "--query", "Item.[author.S, pages.N]", "--output", "text") == "Austen\t474\n"
        table = aws(*one, "--query", "Item.{author: author.S}", "--output", "table")
        assert "|  author |  Austen  |" in table


def tags_and_limits() -> None:
    with proof("update-table, tag-resource, list-tags-of-resource, describe-limits"):
        changed = answer("update-table", *TABLE, "--table-class", "STANDARD_INFREQUENT_ACCESS")
        arn = changed["TableDescription"]["TableArn"]
        aws("tag-resource", "--resource-arn", arn, "--tags", "Key=team,Value=reading")
        tags = answer("list-tags-of-resource", "--resource-arn", arn)
        assert tags == {"Tags": [{"Key": "team", "Value": "reading"}]}
        assert answer("describe-limits")["TableMaxReadCapacityUnits"] > 0


def end() -> None:
    with proof("delete-table and its waiter"):
        aws("delete-table", *TABLE)
        aws("wait", "table-not-exists", *TABLE)
        assert answer("list-tables") == {"TableNames": []}


def main() -> None:
    introduce("awscli", version("awscli"))
    tables()
    items()
    values()
    errors()
    pages()
    batches_and_transactions()
    outputs()
    tags_and_limits()
    end()


main()
