"""A session of pydynox, its models and its client, against the endpoint of the environment."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from decimal import Decimal
from importlib.metadata import version
from typing import Any

from proving import introduce, proof, raises
from pydynox import (
    BatchWriter,
    Collection,
    DynamoDBClient,
    Model,
    ModelConfig,
    SyncTransaction,
    Transaction,
    set_default_client,
)
from pydynox.attributes import (
    BinaryAttribute,
    BooleanAttribute,
    CompressedAttribute,
    DatetimeAttribute,
    DecimalAttribute,
    ExpiresIn,
    JSONAttribute,
    ListAttribute,
    MapAttribute,
    NumberAttribute,
    NumberSetAttribute,
    StringAttribute,
    StringSetAttribute,
    TTLAttribute,
    VersionAttribute,
)
from pydynox.exceptions import (
    ConditionalCheckFailedException,
    IdempotentParameterMismatchException,
    LockNotAcquired,
    PydynoxException,
    ResourceInUseException,
    ResourceNotFoundException,
    TransactionCanceledException,
    ValidationException,
)
from pydynox.indexes import GlobalSecondaryIndex, LocalSecondaryIndex
from pydynox.lock import DistributedLock

# The endpoint, the region and the credentials are those of the environment.
client = DynamoDBClient()
set_default_client(client)


class Task(Model):
    model_config = ModelConfig(table="tasks")

    project = StringAttribute(partition_key=True)
    number = NumberAttribute(sort_key=True)
    status = StringAttribute(default="open")
    points = NumberAttribute(default=1)
    labels = ListAttribute()
    hint = StringAttribute()

    by_status = GlobalSecondaryIndex(index_name="by_status", partition_key="status", sort_key="number")
    # DynamoDB's multi-attribute keys.
    by_both = GlobalSecondaryIndex(
        index_name="by_both", partition_key=["project", "status"], sort_key=["points", "number"]
    )
    by_points = LocalSecondaryIndex(index_name="by_points", sort_key="points", projection="KEYS_ONLY")


class Everything(Model):
    model_config = ModelConfig(table="everything")

    id = StringAttribute(partition_key=True)
    raw = BinaryAttribute()
    yes = BooleanAttribute()
    at = DatetimeAttribute()
    exact = DecimalAttribute()
    settings = JSONAttribute()
    place = MapAttribute()
    names = StringSetAttribute()
    numbers = NumberSetAttribute()
    long = CompressedAttribute()
    expires = TTLAttribute()


class Person(Model):
    model_config = ModelConfig(table="office")

    pk = StringAttribute(partition_key=True, template="TEAM#{team}")
    sk = StringAttribute(sort_key=True, template="PERSON#{name}")
    kind = StringAttribute(discriminator=True)
    team = StringAttribute()
    name = StringAttribute()


class Room(Model):
    model_config = ModelConfig(table="office")

    pk = StringAttribute(partition_key=True, template="TEAM#{team}")
    sk = StringAttribute(sort_key=True, template="ROOM#{floor}")
    kind = StringAttribute(discriminator=True)
    team = StringAttribute()
    floor = StringAttribute()


class Account(Model):
    model_config = ModelConfig(table="accounts")

    id = StringAttribute(partition_key=True)
    balance = NumberAttribute(default=0)
    revision = VersionAttribute()


async def tables() -> None:
    with proof("create_table of a model with two global and a local index; of the client, provisioned"):
        assert not await Task.table_exists()
        for model in (Task, Everything, Person):
            await model.create_table(wait=True)
        await client.create_table(
            "accounts",
            partition_key=("id", "S"),
            billing_mode="PROVISIONED",
            read_capacity=5,
            write_capacity=5,
            wait=True,
        )
        assert await Task.table_exists()
        with raises(ResourceInUseException):
            await Task.create_table()


async def items() -> None:
    with proof("save, get, smart save of what changed, update, delete; the client's own calls"):
        task = Task(project="house", number=1, labels=["wall"])
        await task.save()
        task.status = "done"
        assert task.changed_fields == ["status"]
        await task.save()
        found = await Task.get(project="house", number=1, consistent_read=True)
        assert found is not None
        assert found.to_dict() == task.to_dict()
        await task.update(points=5)
        await Task.update_by_key(project="house", number=1, hint="ladder")
        stored = await client.get_item("tasks", {"project": "house", "number": 1})
        assert stored is not None
        assert (stored["points"], stored["hint"], stored["labels"]) == (5, "ladder", ["wall"])
        await task.delete()
        assert await Task.get(project="house", number=1) is None


async def atomic() -> None:
    with proof("atomic updates: add, append, prepend, if not exists, remove; sync calls too"):
        task = Task(project="house", number=2, labels=["b"], hint="none")
        task.sync_save()
        task.sync_update(
            atomic=[
                Task.points.add(4),
                Task.labels.append(["c"]),
                Task.status.if_not_exists("late"),
                Task.hint.remove(),
            ]
        )
        await task.update(atomic=[Task.labels.prepend(["a"])])
        found = Task.sync_get(project="house", number=2)
        assert found is not None
        assert (found.points, found.labels, found.status, found.hint) == (5, ["a", "b", "c"], "open", None)


async def errors() -> None:
    with proof("conditions, and those that fail with the item that stands; errors as exceptions"):
        task = await Task.get(project="house", number=2)
        assert task is not None
        await task.update(
            points=6,
            condition=(Task.status == "open")
            & Task.points.between(1, 5)
            & (Task.hint.not_exists() | Task.labels.contains("z")),
        )
        with raises(ConditionalCheckFailedException):
            await Task(project="house", number=2).save(condition=Task.project.not_exists())
        with raises(ConditionalCheckFailedException) as caught:
            await client.update_item(
                "tasks",
                {"project": "house", "number": 2},
                updates={"status": "done"},
                condition_expression="points > :many",
                expression_attribute_values={":many": 100},
                return_values_on_condition_check_failure=True,
            )
        assert caught.error.item["points"] == 6
        with raises(ValidationException) as caught:
            await client.put_item("tasks", {"project": "house"})
        assert "Missing the key number in the item" in str(caught.error)
        with raises(ResourceNotFoundException):
            await client.get_item("missing", {"id": "x"})
        with raises(PydynoxException) as caught:
            await client.execute_statement("SELECT * FROM tasks")
        assert "ExecuteStatement is not supported" in str(caught.error)


async def values() -> None:
    with proof("every attribute: bytes, dates, 38 digits, maps, sets, JSON, compressed text, TTL"):
        kept = Everything(
            id="one",
            raw=b"\x00\xff",
            yes=True,
            at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
            exact=Decimal("12345678901234567890123456789012345.678"),
            settings={"deep": [1, {"er": None}]},
            place={"city": "Łódź", "floor": 3},
            names={"a", "b"},
            numbers={1, 2.5, -3},
            long="text " * 1000,
            expires=ExpiresIn.days(1),
        )
        await kept.save()
        found = await Everything.get(id="one")
        assert found is not None
        assert not found.is_expired
        # A time to live is kept in whole seconds.
        for name in ("raw", "yes", "at", "exact", "settings", "place", "names", "numbers", "long"):
            assert getattr(found, name) == getattr(kept, name), name


async def pages() -> None:
    with proof("BatchWriter, batch_get; query, scan and count over pages, on all three indexes"):
        async with BatchWriter(client, "tasks") as batch:
            for number in range(60):
                status = "open" if number % 2 else "done"
                batch.put({"project": "garden", "number": number, "status": status, "points": number % 5})
            batch.delete({"project": "garden", "number": 100})
        found = [task.number async for task in Task.query(partition_key="garden", page_size=7)]
        assert found == list(range(60))
        some = Task.query(
            partition_key="garden",
            sort_key_condition=Task.number >= 10,
            filter_condition=Task.points == 4,
            page_size=9,
        )
        assert [task.number async for task in some] == list(range(14, 60, 5))
        first = Task.query(partition_key="garden", limit=25, page_size=25)
        assert len([task async for task in first]) == 25
        rest = Task.query(partition_key="garden", last_evaluated_key=first.last_evaluated_key)
        assert [task.number async for task in rest] == list(range(25, 60))
        still_open = Task.by_status.query(
            partition_key="open",
            sort_key_condition=Task.number.between(20, 40),
            scan_index_forward=False,
            page_size=3,
        )
        assert [task.number async for task in still_open] == list(range(39, 19, -2))
        both = Task.by_both.query(project="garden", status="done", page_size=4)
        assert [(task.points, task.number) async for task in both] == sorted(
            (number % 5, number) for number in range(0, 60, 2)
        )
        high = Task.by_points.query(
            partition_key="garden", sort_key_condition=Task.points > 3, consistent_read=True, page_size=5
        )
        assert sorted([task.number async for task in high]) == list(range(4, 60, 5))
        keys = [{"project": "garden", "number": number} for number in range(80)]
        assert len(await Task.batch_get(keys)) == 60
        scanned = [task async for task in Task.scan(filter_condition=Task.points == 0, page_size=11)]
        assert len(scanned) == 12
        counted, _ = await Task.count(filter_condition=Task.project == "garden")
        assert counted == 60
        in_parallel, _ = await Task.parallel_scan(total_segments=3)
        assert len(in_parallel) == 61


async def collections() -> None:
    with proof("keys from templates; a Collection: two models in one query"):
        for name in ("ada", "bob"):
            await Person(team="engines", name=name).save()
        await Room(team="engines", floor="3").save()
        found = await Collection([Person, Room]).query(pk="TEAM#engines")
        assert [person.name for person in found.get(Person)] == ["ada", "bob"]
        assert [room.sk for room in found.rooms] == ["ROOM#3"]


async def transactions() -> None:
    with proof("transactions: models with versions, checks, transact_get, a cancelled one, tokens"):
        ada, bob = Account(id="ada", balance=10), Account(id="bob")
        async with Transaction(client) as transaction:
            transaction.save_model(ada)
            transaction.save_model(bob)
        pay: dict[str, Any] = {
            "update_expression": "SET balance = balance + :amount",
            "condition_expression": "balance >= :least",
        }

        def transfer(transaction: SyncTransaction) -> None:
            values = {":amount": -4, ":least": 4}
            transaction.update("accounts", {"id": "ada"}, expression_attribute_values=values, **pay)
            values = {":amount": 4, ":least": 0}
            transaction.update("accounts", {"id": "bob"}, expression_attribute_values=values, **pay)

        for _ in range(2):
            with SyncTransaction(client, client_request_token="pay-4") as once:
                transfer(once)
        read = await client.transact_get(
            [{"table": "accounts", "key": {"id": name}} for name in ("ada", "bob", "eve")]
        )
        assert [account and account["balance"] for account in read] == [6, 4, None]
        with (
            raises(IdempotentParameterMismatchException),
            SyncTransaction(client, client_request_token="pay-4") as other,
        ):
            other.delete("accounts", {"id": "ada"})
        with raises(TransactionCanceledException) as caught:
            async with Transaction(client) as transaction:
                transaction.put("accounts", {"id": "eve"})
                transaction.condition_check(
                    "accounts", {"id": "ada"}, condition_expression="attribute_not_exists(id)"
                )
        assert "ConditionalCheckFailed" in str(caught.error)
        assert await Account.get(id="eve") is None
        fresh, stale = await Account.get(id="ada"), await Account.get(id="ada")
        assert fresh is not None
        assert stale is not None
        fresh.balance = 0
        await fresh.save()
        stale.balance = 1000
        with raises(ConditionalCheckFailedException):
            await stale.save()


async def locks() -> None:
    with proof("a DistributedLock: one holder at a time, checked in a transaction"):
        await client.create_table("locks", partition_key=("key", "S"), wait=True)
        async with DistributedLock(client, table="locks", key="import") as lock:
            with raises(LockNotAcquired):
                async with DistributedLock(client, table="locks", key="import", wait_timeout=0):
                    pass
            async with Transaction(client) as transaction:
                lock.check_in(transaction)
                transaction.put("accounts", {"id": "held"})
        async with DistributedLock(client, table="locks", key="import", wait_timeout=0):
            pass


async def many_at_once() -> None:
    with proof("200 writes and 200 reads at once"):
        await asyncio.gather(
            *(
                client.update_item(
                    "accounts",
                    {"id": f"counter {number % 4}"},
                    update_expression="ADD hits :one",
                    expression_attribute_values={":one": 1},
                )
                for number in range(200)
            )
        )
        got = await asyncio.gather(
            *(client.get_item("accounts", {"id": f"counter {number % 4}"}) for number in range(200))
        )
        assert {item["hits"] for item in got if item is not None} == {50}


async def end() -> None:
    with proof("delete_table; a missing table is a ResourceNotFoundException"):
        for model in (Task, Everything, Person, Account):
            await model.delete_table()
        await client.delete_table("locks", wait=True)
        assert not await client.table_exists("locks")
        with raises(ResourceNotFoundException):
            await Task.delete_table()


async def main() -> None:
    introduce("pydynox", version("pydynox"))
    await tables()
    await items()
    await atomic()
    await errors()
    await values()
    await pages()
    await collections()
    await transactions()
    await locks()
    await many_at_once()
    await end()


asyncio.run(main())
