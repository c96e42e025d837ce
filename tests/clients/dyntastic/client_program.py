"""A session of dyntastic against the endpoint of the environment."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from importlib.metadata import version
from typing import Any

from botocore.exceptions import ClientError
from dyntastic import A, Dyntastic, Index, transaction
from dyntastic.exceptions import DoesNotExist
from proving import introduce, proof, raises
from pydantic import Field


class Shipment(Dyntastic):
    __table_name__ = "shipments"
    __hash_key__ = "carrier"
    __range_key__ = "number"

    carrier: str
    number: int
    status: str = "waiting"
    sent_at: datetime = datetime(2026, 1, 2, tzinfo=UTC)
    weight: Decimal = Decimal(1)
    labels: set[str] | None = None
    route: list[dict[str, Any]] = Field(default_factory=list)
    seal: bytes | None = None


class Note(Dyntastic):
    __table_name__ = "notes"
    __hash_key__ = "id"

    id: str
    text: str = ""


def tables() -> None:
    with proof("create_table with two global indexes, provisioned and on demand"):
        Shipment.create_table(
            Index("status", "number"), Index("status", "sent_at", index_name="by_time", keys_only=True)
        )
        Note.create_table(billing_mode="PAY_PER_REQUEST")


def items() -> None:
    with proof("save, get, safe_get, refresh, delete; conditions and their errors"):
        shipment = Shipment(
            carrier="north",
            number=1,
            weight=Decimal("1234567890123456789.0123456789012345678"),
            labels={"fragile", "tall"},
            route=[{"city": "Oslo", "stop": 1}, {"city": "Łódź", "stop": 2}],
            seal=b"\x00\xff",
        )
        shipment.save(condition=A.carrier.not_exists())
        found = Shipment.get("north", 1, consistent_read=True)
        assert found.model_dump(exclude={"seal"}) == shipment.model_dump(exclude={"seal"})
        assert bytes(found.seal) == b"\x00\xff"
        with raises(Shipment.ConditionException()) as caught:
            shipment.save(condition=A.carrier.not_exists())
        assert caught.error.response["Error"]["Message"] == "The conditional request failed"
        assert Shipment.safe_get("north", 2) is None
        with raises(DoesNotExist):
            Shipment.get("north", 2)
        shipment.delete(condition=A.status == "waiting")
        assert Shipment.safe_get("north", 1) is None


def updates() -> None:
    with proof("update: set, remove, add, append; with a condition that holds and one that does not"):
        shipment = Shipment(carrier="south", number=1, labels={"a"}, route=[{"city": "Rome"}])
        shipment.save()
        shipment.update(
            A.status.set("sent"),
            A.weight.set(A.weight + 2),
            A.labels.add({"b"}),
            A.route.append({"city": "Bari"}),
            condition=A.status == "waiting",
        )
        assert (shipment.status, shipment.weight, shipment.labels) == ("sent", 3, {"a", "b"})
        assert [stop["city"] for stop in shipment.route] == ["Rome", "Bari"]
        shipment.update(A.labels.remove(), condition=A.status == "lost")
        assert shipment.labels == {"a", "b"}
        with raises(Shipment.ConditionException()):
            shipment.update(A.labels.remove(), condition=A.status == "lost", require_condition=True)
        shipment.delete()


def pages() -> None:
    with proof("batch_writer and batch_get; query and scan over pages, on indexes, filtered"):
        with Shipment.batch_writer():
            for number in range(60):
                status = "sent" if number % 3 else "waiting"
                Shipment(carrier="east", number=number, status=status).save()
        found = Shipment.query("east", range_key_condition=A.number.between(5, 50), per_page=7)
        assert [shipment.number for shipment in found] == list(range(5, 51))
        by_status = Shipment.query(
            A.status == "waiting", index="status_number-index", scan_index_forward=False, per_page=4
        )
        assert [shipment.number for shipment in by_status] == list(range(57, -1, -3))
        keys_only = Shipment.query(A.status == "waiting", index="by_time", load_full_item=True)
        assert {shipment.weight for shipment in keys_only} == {1}
        assert len(list(Shipment.scan((A.number > 9) & (A.status == "sent"), per_page=11))) == 34
        page = Shipment.query_page("east", per_page=10)
        assert page.has_more
        assert page.last_evaluated_key == {"carrier": "east", "number": 9}
        assert len(Shipment.batch_get([("east", number) for number in (1, 2, 99)])) == 2


def transactions() -> None:
    with proof(
        "transaction: writes of two tables together, a condition check, the reasons of a cancellation"
    ):
        first = Shipment.get("east", 1)
        with transaction():
            Note(id="n").save()
            first.update(A.status.set("lost"), refresh=False)
        first.refresh()
        assert first.status == "lost"
        with raises(ClientError) as caught, transaction():
            Note(id="never").save()
            first.transaction_condition(A.status == "sent")
        assert caught.error.response["Error"]["Code"] == "TransactionCanceledException"
        codes = [reason["Code"] for reason in caught.error.response["CancellationReasons"]]
        assert codes == ["None", "ConditionalCheckFailed"]
        assert Note.safe_get("never") is None


def main() -> None:
    introduce("dyntastic", version("dyntastic"))
    tables()
    items()
    updates()
    pages()
    transactions()


main()
