"""The objects whose histories are checked: as models, and as requests to a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from resilience.torture.table_client import AnswerError, TableClient

TABLE: Final = "objects"
CREATE: Final[dict[str, Any]] = {
    "TableName": TABLE,
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}
OK: Final = "ok"
REFUSED: Final = "refused"
ACCOUNTS: Final = 4
ACCOUNT_START: Final = 10  # so little that transfers are often refused

Asked = tuple[Any, ...]  # the kind of request, then its arguments: it must survive JSON


def _key(text: str) -> dict[str, Any]:
    return {"PK": {"S": text}}


def _number(value: int) -> dict[str, str]:
    return {"N": str(value)}


# --- a counter: ADD, and SET on a condition ---------------------------------------------------------


@dataclass(frozen=True)
class Counter:
    """A number, or nothing yet. ("add", n) -> the new number; ("swap", old, new) -> ok; ("read",) -> it."""

    start: int | None = None

    def step(self, state: int | None, asked: Asked) -> tuple[int | None, Any]:
        match asked:
            case ("add", amount):
                return (state or 0) + amount, (state or 0) + amount
            case ("swap", old, new):
                return (new, OK) if state == old else (state, REFUSED)
            case ("read",):
                return state, state
        raise AssertionError(asked)


def ask_counter(client: TableClient, name: str, asked: Asked) -> Any:
    match asked:
        case ("add", amount):
            answer = client.ask(
                "UpdateItem",
                TableName=TABLE,
                Key=_key(name),
                UpdateExpression="ADD v :amount",
                ExpressionAttributeValues={":amount": _number(amount)},
                ReturnValues="UPDATED_NEW",
            )
            return int(answer["Attributes"]["v"]["N"])
        case ("swap", old, new):
            is_new = "attribute_not_exists(v)" if old is None else "v = :old"
            values = {":new": _number(new)} | ({} if old is None else {":old": _number(old)})
            return _on_condition(
                client,
                "UpdateItem",
                Key=_key(name),
                UpdateExpression="SET v = :new",
                ConditionExpression=is_new,
                ExpressionAttributeValues=values,
            )
        case ("read",):
            item = _read(client, name)
            return None if item is None or "v" not in item else int(item["v"]["N"])
    raise AssertionError(asked)


# --- names: each is taken by at most one -------------------------------------------------------------


@dataclass(frozen=True)
class Name:
    """Whose name it is. ("claim", who) and ("release", who) -> ok or refused; ("read",) -> who."""

    start: str | None = None

    def step(self, state: str | None, asked: Asked) -> tuple[str | None, Any]:
        match asked:
            case ("claim", who):
                return (who, OK) if state is None else (state, REFUSED)
            case ("release", who):
                return (None, OK) if state == who else (state, REFUSED)
            case ("read",):
                return state, state
        raise AssertionError(asked)


def ask_name(client: TableClient, name: str, asked: Asked) -> Any:
    match asked:
        case ("claim", who):
            return _on_condition(
                client,
                "PutItem",
                Item={**_key(name), "who": {"S": who}},
                ConditionExpression="attribute_not_exists(PK)",
            )
        case ("release", who):
            return _on_condition(
                client,
                "DeleteItem",
                Key=_key(name),
                ConditionExpression="who = :who",
                ExpressionAttributeValues={":who": {"S": who}},
            )
        case ("read",):
            item = _read(client, name)
            return None if item is None else item["who"]["S"]
    raise AssertionError(asked)


# --- a bank: transfers between accounts, and readings of all of them ---------------------------------


@dataclass(frozen=True)
class Bank:
    """What is in each account.

    ("transfer", source, target, amount, guard) -> ok or refused: the source and the guard must hold the amount.
    ("read",) -> all balances, at one moment.
    """

    start: tuple[int, ...] = (ACCOUNT_START,) * ACCOUNTS

    def step(self, state: tuple[int, ...], asked: Asked) -> tuple[tuple[int, ...], Any]:
        match asked:
            case ("transfer", source, target, amount, guard):
                if state[source] < amount or state[guard] < amount:
                    return state, REFUSED
                balances = list(state)
                balances[source] -= amount
                balances[target] += amount
                return tuple(balances), OK
            case ("read",):
                return state, state
        raise AssertionError(asked)


def account(name: str, number: int) -> dict[str, Any]:
    return _key(f"{name}/{number}")


def open_bank(client: TableClient, name: str) -> None:
    """Put the money in."""
    for number in range(ACCOUNTS):
        item = {**account(name, number), "v": _number(ACCOUNT_START)}
        client.ask("PutItem", TableName=TABLE, Item=item)


def ask_bank(client: TableClient, name: str, asked: Asked) -> Any:
    match asked:
        case ("transfer", source, target, amount, guard):
            actions = [
                _change(name, source, -amount, condition="v >= :least"),
                _change(name, target, amount),
            ]
            if guard not in (source, target):
                actions.append(_guard(name, guard, amount))
            try:
                client.ask("TransactWriteItems", TransactItems=actions)
            except AnswerError as error:
                codes = {reason["Code"] for reason in error.answer.get("CancellationReasons", ())}
                if codes == {"None", "ConditionalCheckFailed"}:
                    return REFUSED
                raise
            return OK
        case ("read",):
            gets = [{"Get": {"TableName": TABLE, "Key": account(name, number)}} for number in range(ACCOUNTS)]
            answer = client.ask("TransactGetItems", TransactItems=gets)
            return tuple(int(response["Item"]["v"]["N"]) for response in answer["Responses"])
    raise AssertionError(asked)


def _change(name: str, number: int, amount: int, *, condition: str | None = None) -> dict[str, Any]:
    change: dict[str, Any] = {
        "TableName": TABLE,
        "Key": account(name, number),
        "UpdateExpression": "SET v = v + :amount",
        "ExpressionAttributeValues": {":amount": _number(amount)},
    }
    if condition is not None:
        change["ConditionExpression"] = condition
        change["ExpressionAttributeValues"][":least"] = _number(-amount)
    return {"Update": change}


def _guard(name: str, number: int, amount: int) -> dict[str, Any]:
    return {
        "ConditionCheck": {
            "TableName": TABLE,
            "Key": account(name, number),
            "ConditionExpression": "v >= :least",
            "ExpressionAttributeValues": {":least": _number(amount)},
        }
    }


# --- what they share --------------------------------------------------------------------------------


def _on_condition(client: TableClient, operation: str, **request: Any) -> str:
    try:
        client.ask(operation, TableName=TABLE, **request)
    except AnswerError as error:
        if error.code == "ConditionalCheckFailedException":
            return REFUSED
        raise
    return OK


def _read(client: TableClient, name: str) -> dict[str, Any] | None:
    answer = client.ask("GetItem", TableName=TABLE, Key=_key(name), ConsistentRead=True)
    found: dict[str, Any] | None = answer.get("Item")
    return found
