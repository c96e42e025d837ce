"""Anything with the methods of boto3's client, seen in one way: answers, or a RefusedError."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from resilience.model.refusals import Reason, RefusedError
from resilience.model.values import Item, item_from_wire

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Dialect:
    """Where an endpoint is known to differ from AWS. The defaults are AWS."""

    exact_messages: bool = True  # messages are those of AWS, to the letter
    normal_numbers: bool = True  # numbers come back without leading and trailing zeros or exponent
    cursor_at_end: bool = True  # a page that reaches its limit has a cursor, also where nothing follows
    scan_filters_index: bool = True  # the filter of a scan of a global index sees what the index holds
    whole_batches: bool = True  # a batch of writes with one wrong request writes nothing
    removal_creates: bool = False  # an update that only removes creates an item that did not exist
    updated_parts: bool = True  # UPDATED_OLD and UPDATED_NEW show the touched part of an attribute alone
    typed_index_keys: bool = (
        True  # an expression that gives an index key another type is refused for that first
    )
    # A transaction is refused for its form before any condition is looked at, and cancelled for what the
    # stored items make wrong.
    orderly_transactions: bool = True


AWS = Dialect()
AWS_LOCAL = Dialect(
    exact_messages=False,
    normal_numbers=False,
    cursor_at_end=False,
    scan_filters_index=False,
    whole_batches=False,
    removal_creates=True,
    updated_parts=False,
    typed_index_keys=False,
    orderly_transactions=False,
)


@dataclass(frozen=True)
class Endpoint:
    """A client (of boto3, or a database of ours) and its dialect."""

    client: Any
    dialect: Dialect = AWS

    def call(self, operation: str, **parameters: Any) -> dict[str, Any]:
        """Send a request; an error that DynamoDB would answer becomes a RefusedError; others go through."""
        try:
            answer: dict[str, Any] = getattr(self.client, operation)(**parameters)
        except Exception as error:
            refusal = self._refusal(error)
            if refusal is None:
                raise
            raise refusal from error
        return {member: value for member, value in answer.items() if member != "ResponseMetadata"}

    def refusal(self, operation: str, **parameters: Any) -> RefusedError | None:
        """Send a request that should be refused."""
        try:
            self.call(operation, **parameters)
        except RefusedError as refusal:
            return refusal
        return None

    def item(self, wire: Mapping[str, Any] | None) -> Item | None:
        if wire is None:
            return None
        return item_from_wire(wire, exact_numbers=self.dialect.normal_numbers)

    def _refusal(self, error: Exception) -> RefusedError | None:
        response = getattr(error, "response", None)
        if isinstance(response, dict):  # botocore.exceptions.ClientError
            reasons = tuple(
                Reason(reason["Code"], reason.get("Message"), self.item(reason.get("Item")))
                for reason in response.get("CancellationReasons", ())
            )
            details = response["Error"]
            return RefusedError(details["Code"], details["Message"], self.item(response.get("Item")), reasons)
        if not hasattr(error, "code"):
            return None
        reasons = tuple(
            Reason(reason.code, reason.message, self.item(reason.item))
            for reason in getattr(error, "reasons", ())
        )
        return RefusedError(error.code, str(error), self.item(getattr(error, "item", None)), reasons)
