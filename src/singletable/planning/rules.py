"""What AWS charges, by the rules of its developer guide: units of reads and writes, sizes as they are stored.

These rules are written from the documentation, and not from the engine beside this package: tests hold the two
against each other, and where they disagree the documentation decides.
"""

from __future__ import annotations

from typing import Final

from singletable.planning.amounts import NOTHING, Amount, stepped

# "One read request unit represents one strongly consistent read request, or two eventually consistent read
# requests, for an item up to 4 KB"; "one write request unit represents one write for an item up to 1 KB"; larger
# items are rounded up (AWS guide, "DynamoDB on-demand capacity mode").
READ_UNIT_BYTES: Final = 4_096
WRITE_UNIT_BYTES: Final = 1_024
# "Transactional read requests require two read request units", and two write units for each KB: "two underlying
# reads or writes of every item in the transaction: one to prepare the transaction and one to commit" (AWS guide,
# "DynamoDB transactions"). Index entries are written once, as outside of a transaction.
TRANSACTION_FACTOR: Final = 2
# "A single Query operation will read up to the maximum number of items set (if using the Limit parameter) or a
# maximum of 1 MB of data" (API reference, "Query").
PAGE_BYTES: Final = 1_048_576
# "DynamoDB … adding 100 bytes per item" of overhead for indexing (AWS, "Amazon DynamoDB pricing"; for indexes: AWS
# guide, "Storage considerations for global secondary indexes": "100 bytes of overhead per index item").
OVERHEAD_BYTES: Final = 100
# One partition takes up to 3,000 read units and 1,000 write units a second (AWS guide, "Best practices for
# designing and using partition keys effectively").
PARTITION_READS: Final = 3_000
PARTITION_WRITES: Final = 1_000
# Of a table with local indexes, an item collection has at most 10 GB (AWS guide, "Item collections").
COLLECTION_BYTES: Final = 10 * 1024**3


def read_units(size: Amount, *, consistent: bool = False, transaction: bool = False) -> Amount:
    """Return the units of one read: of an item, or of all that was read for a page together."""
    whole = stepped(size, READ_UNIT_BYTES)
    if transaction:
        return whole * TRANSACTION_FACTOR
    return whole if consistent else whole * 0.5


def write_units(size: Amount, *, transaction: bool = False) -> Amount:
    """Return the units of one write of an item: of the larger of its states before and after."""
    whole = stepped(size, WRITE_UNIT_BYTES)
    return whole * TRANSACTION_FACTOR if transaction else whole


def moved_entry_units(size: Amount) -> Amount:
    """Return the units of an index entry whose key changes: it is deleted and written again."""
    return write_units(size) * 2


def paged_read_units(item: Amount, items: Amount, *, consistent: bool = False) -> Amount:
    """Return the units of reading items by Query, page after page, each page rounded by itself.

    A page of nothing is charged as a small item. Where the last item of a page ends is not known, so several pages
    take up to one more step each.
    """
    size = item * items
    units = read_units(size, consistent=consistent)
    pages_more = max(0.0, -(-size.high // PAGE_BYTES) - 1)
    step = 1.0 if consistent else 0.5
    # An answer that ends at the end of its data may have one empty page behind it, and each page is rounded.
    return units + Amount(0.0, 0.0, step * (pages_more + 1) if pages_more else 0.0)


def stored_bytes(size: Amount, count: Amount) -> Amount:
    """Return what items or index entries take on AWS, with the overhead of each."""
    return (size + Amount.exactly(OVERHEAD_BYTES)) * count if count.high else NOTHING
