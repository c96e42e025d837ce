"""The checks of a probe, in the order in which they are tried: a function and its row are one check."""

from __future__ import annotations

from typing import Final

from singletable.probe import items, reads, settings, streams, transactions
from singletable.probe.report import Check

_UNIQUE: Final = ("unique values", "counters", "copies", "cascades", "transaction()")
_PAGES: Final = ("pages", "cursors", "stream()", "cascades")

_NO_STREAMS: Final = "handlers and consumers get nothing"
_NO_TRANSACTIONS: Final = "unique values and counters take another path, and transaction() is refused"
_NO_SETTING: Final = "the setting is left out, and that is said"

CHECKS: Final = (
    Check(
        "streams",
        "the changes of an item are in the stream, in order, with the item before and after",
        ("stream handlers", "consumers"),
        streams.stream_records,
        without=_NO_STREAMS,
        capability="streams",
    ),
    Check(
        "writes that race",
        "of writers that create the same item at once, one wins",
        ("create", "unique values", "leases of migrations and consumers"),
        items.put_race,
        is_needed=True,
    ),
    Check(
        "conditions",
        "updates and deletions are carried out only if their condition holds",
        ("versions", "when=", "create", "unique values"),
        items.update_conditions,
        is_needed=True,
    ),
    Check(
        "refused items",
        "a refusal comes with the item that was in the way",
        ("which error a refused write is told by",),
        items.refused_item,
        is_needed=True,
    ),
    Check(
        "counters that race",
        "of additions to one number at once, none is lost",
        ("counters", "Add"),
        items.counter_race,
        is_needed=True,
    ),
    Check(
        "consistent reads",
        "a consistent read sees the write before it",
        ("consistent=True", "updates", "cascades", "verify"),
        items.read_after_write,
        is_needed=True,
    ),
    Check(
        "batches",
        "many items are written and read at once",
        ("load", "batch reads", "cascades", "follow"),
        items.batches,
        is_needed=True,
    ),
    Check(
        "texts with NUL",
        "a text may hold the character NUL",
        ("texts of users, as they are",),
        items.texts_with_nul,
    ),
    Check(
        "empty values",
        "empty texts, bytes, lists and maps are kept",
        ("empty fields",),
        items.empty_values,
        is_needed=True,
    ),
    Check(
        "long numbers",
        "numbers keep 38 digits",
        ("Decimal fields", "sums"),
        items.long_numbers,
        is_needed=True,
    ),
    Check(
        "large items",
        "an item of 400 KB is kept",
        ("large entities",),
        items.large_items,
    ),
    Check(
        "transactions",
        "a transaction writes all or nothing, and its refusal says which action it was",
        _UNIQUE,
        transactions.atomic,
        without=_NO_TRANSACTIONS,
        capability="transactions",
    ),
    Check(
        "refused transactions",
        "a refusal of a transaction comes with the item that was in the way",
        ("which error a refused write is told by", "unique values"),
        transactions.refused_items,
        without=_NO_TRANSACTIONS,
    ),
    Check(
        "transactions that race",
        "of transactions that create the same item at once, one wins",
        _UNIQUE,
        transactions.transaction_race,
        without=_NO_TRANSACTIONS,
        capability="transactions",
    ),
    Check(
        "transactions sent twice",
        "a transaction that is sent twice with one token is carried out once",
        ("counters whose answer was lost",),
        transactions.idempotent,
        without=_NO_TRANSACTIONS,
    ),
    Check(
        "large transactions",
        "a transaction takes 100 actions, and reads return in the order they are asked in",
        ("transaction() of many", "cascades of few items"),
        transactions.large_transaction,
        without=_NO_TRANSACTIONS,
    ),
    Check(
        "pages",
        "a query in pages returns every item once and in order, both ways",
        _PAGES,
        reads.table_pages,
        is_needed=True,
    ),
    Check(
        "pages over ties",
        "a query of an index in pages returns every item once, also where keys are equal",
        (*_PAGES, "every pattern on an index whose keys may be equal: it loses items"),
        reads.tied_pages,
        is_needed=True,
    ),
    Check(
        "parallel scans",
        "the parts of a scan have every item once",
        ("migrations", "verify", "expired items"),
        reads.parallel_scan,
        is_needed=True,
    ),
    Check(
        "order of keys",
        "sort keys are ordered by the bytes of UTF-8",
        ("ranges", "newest first", "time buckets", "cursors"),
        reads.key_order,
        is_needed=True,
    ),
    Check(
        "lag of indexes",
        "an index shows a write after a moment",
        ("patterns on indexes",),
        reads.index_lag,
        is_needed=True,
    ),
    Check(
        "sparse indexes",
        "items without its keys are not in an index",
        ("sparse indexes", "places with a condition"),
        reads.sparse_index,
        is_needed=True,
    ),
    Check(
        "projections",
        "an index has what it projects, and nothing else",
        ("narrow projections",),
        reads.projections,
        without="indexes are made with all attributes",
        capability="projections",
    ),
    Check(
        "keys of several attributes",
        "keys of an index have several attributes",
        ("indexes over several attributes",),
        reads.wide_keys,
        without="an index over several attributes is refused",
        capability="multi_attribute_keys",
    ),
    Check(
        "streams of new tables",
        "a table that is made anew by the same name has a stream of its own",
        ("stream handlers after a table was deleted", "tests that make tables again"),
        streams.stream_of_new_table,
        without=_NO_STREAMS,
    ),
    Check(
        "time to live",
        "the attribute that items expire by is kept",
        ("Ttl fields",),
        settings.time_to_live,
        without="expired items stay",
        capability="time_to_live",
    ),
    Check(
        "units",
        "answers say what they have consumed",
        ("units of answers", "migrate --rate in units"),
        settings.consumed_capacity,
        without="units are not known, and --rate counts items",
        capability="consumed_capacity",
    ),
    Check(
        "units of indexes",
        "answers say what they have consumed of each index",
        ("units of writes",),
        settings.consumed_by_indexes,
        without="units of writes are too low",
    ),
    Check(
        "encryption",
        "the encryption that a table was asked for is described",
        ("encryption of the table class",),
        settings.encryption,
        without=_NO_SETTING,
        capability="encryption",
    ),
    Check(
        "tags",
        "tags of a table are kept",
        ("tags of the table class",),
        settings.tags,
        without=_NO_SETTING,
        capability="tags",
    ),
    Check(
        "backups",
        "a table is backed up on demand",
        ("backups",),
        settings.backups,
        without="tables are not backed up on demand",
        capability="backups",
    ),
    Check(
        "recovery",
        "point-in-time recovery is kept and described",
        ("pitr_days of the table class",),
        settings.recovery,
        without=_NO_SETTING,
        capability="point_in_time_recovery",
    ),
    Check(
        "added indexes",
        "a table with items gets an index, and goes on working",
        ("migrations that add an index",),
        reads.added_index,
        is_needed=True,
    ),
    # The last one: where the protection is not enforced, the table is gone.
    Check(
        "deletion protection",
        "a protected table is not deleted",
        ("deletion_protection of the table class",),
        settings.deletion_protection,
        without=_NO_SETTING,
        capability="deletion_protection",
    ),
)
