"""The tags of a table, and of its stream: TagResource, UntagResource, ListTagsOfResource."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

from singletable import limits
from singletable.errors import ResourceNotFoundError, ValidationError
from singletable.storage.catalog import Catalog
from singletable.storage.definitions import TableDefinition
from singletable.storage.store import Store
from singletable.storage.transaction import Transaction

Tags = dict[str, str]

TOO_MANY = "Number of Tags exceed the current limit for the provided ResourceArn"


class Tagged(NamedTuple):
    """A resource with tags: a table, or the stream of that label, which has tags of its own."""

    arn: str
    table: str
    stream_label: str | None = None


def list_tags(store: Store, tagged: Tagged) -> Tags:
    """Return the tags of a table or stream."""
    return store.read_catalog(lambda catalog: _tags(_existing(catalog, tagged), tagged))


def tag(store: Store, tagged: Tagged, tags: Mapping[str, str]) -> None:
    """Add tags; a key that is there gets the new value."""
    _change(store, tagged, lambda old: {**old, **tags})


def untag(store: Store, tagged: Tagged, keys: Collection[str]) -> None:
    """Remove tags. Missing keys are ignored."""
    _change(store, tagged, lambda old: {key: value for key, value in old.items() if key not in keys})


def check_tag_set(tags: Mapping[str, str]) -> None:
    """Refuse more tags than a resource may have, all together (ack-api-quirks, DDB-TABLE-108, 109)."""
    if len(tags) > limits.TAGS_MAX:
        raise ValidationError(TOO_MANY)
    # Which bytes are counted is not known; those of keys and values in UTF-8 are.
    tag_bytes = sum(len(key.encode()) + len(value.encode()) for key, value in tags.items())
    if tag_bytes > limits.TAG_SET_BYTES_MAX:
        raise ValidationError(
            f"Tag set size {tag_bytes} bytes is above max size limit of {limits.TAG_SET_BYTES_MAX} bytes"
        )


def _change(store: Store, tagged: Tagged, change: Callable[[Tags], Tags]) -> None:
    def work(transaction: Transaction) -> None:
        definition = _existing(transaction.catalog, tagged)
        old = _tags(definition, tagged)
        new = change(old)
        check_tag_set(new)
        if new != old:
            transaction.alter_table(_with_tags(definition, tagged, new))

    store.write(work)


def _existing(catalog: Catalog, tagged: Tagged) -> TableDefinition:
    table = catalog.get(tagged.table)
    if table is None or tagged.stream_label not in (None, table.definition.stream_label):
        # Until 2020 at least AWS wrote "ResourcArn" here (dynalite); by October 2026 it was mended
        # (ack-api-quirks, DDB-TABLE-446).
        raise ResourceNotFoundError(f"Requested resource not found: ResourceArn: {tagged.arn} not found")
    return table.definition


def _setting(tagged: Tagged) -> str:
    return "Tags" if tagged.stream_label is None else "StreamTags"


def _tags(definition: TableDefinition, tagged: Tagged) -> Tags:
    return dict(definition.settings.get(_setting(tagged), {}))


def _with_tags(definition: TableDefinition, tagged: Tagged, tags: Tags) -> TableDefinition:
    settings = {**definition.settings, _setting(tagged): tags}
    if not tags:
        del settings[_setting(tagged)]
    return replace(definition, settings=settings)
