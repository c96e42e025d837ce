"""HOT403: items larger than DynamoDB stores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View
from singletable.planning.sizes import plain_bytes

if TYPE_CHECKING:
    from singletable.blueprint.entities import AttributeBlueprint
    from singletable.blueprint.positions import Path

_KB_MAX: Final = 400
_TEXTS: Final = ("str", "bytes", "string", "text", "binary")
_LISTS: Final = ("list", "tuple", "set", "frozenset", "dict")


def check(view: View) -> Iterator[Finding]:
    """Compare the sizes that are said with the largest that an item may have."""
    said: set[str] = set()
    for at, volume in enumerate(view.blueprint.volumes):
        kb = max(volume.kb, volume.upto_kb or 0)
        if kb > _KB_MAX and volume.entity in view.entities:
            said.add(volume.entity)
            yield _found(kb, volume.entity, "", ("volumes", at), view.entity_path(volume.entity))
    for entity in view.blueprint.entities:
        told = view.volume(entity.name)
        if entity.name in said or (told is not None and told.upto_kb is not None):
            continue  # the largest is said
        sizes = {each.name: _bytes_of(each) for each in entity.attributes}
        kb = sum(sizes.values()) / 1024
        if kb > _KB_MAX:
            large = max(sizes, key=lambda name: sizes[name])
            paths = view.attribute_path(entity.name, large), view.entity_path(entity.name)
            yield _found(kb, entity.name, f", {sizes[large] / 1024:,.0f} of them in {large}", *paths)


def _found(kb: float, entity: str, where: str, *paths: Path) -> Finding:
    return finding(
        RULE,
        *paths,
        message=f"an item of {entity} has up to {kb:,.0f} KB{where}, and {_KB_MAX} KB is the most",
        because=f"a write that makes the item larger than {_KB_MAX} KB is refused, names and all counted",
        repair="keep the large part in S3 with its key in the item, or divide it into several items",
        facts={"kb": kb},
    )


def _bytes_of(attribute: AttributeBlueprint) -> float:
    """Return what is said of an attribute: its bytes, its length, or elements as large as those of samples."""
    is_text = attribute.type in _TEXTS or attribute.dynamodb in ("S", "B")
    if attribute.max_length is not None and is_text:
        return max(attribute.max_length, attribute.size_bytes or 0)
    if attribute.size_bytes is not None:
        return attribute.size_bytes
    if attribute.max_items is None or not attribute.type.startswith(_LISTS):
        return 0.0
    elements = [each for sample in attribute.samples if isinstance(sample, list | tuple) for each in sample]
    return attribute.max_items * sum(map(plain_bytes, elements)) / len(elements) if elements else 0.0


def prove(found: Finding, bench: Bench) -> str | None:
    """Put an item of that size."""
    size = int(min(found.facts["kb"], 1_000) * 1024)
    refusal = bench.refusal("put_item", Item={**bench.key(), "content": {"S": "x" * size}})
    return f"the put is refused: {refusal}" if refusal is not None else None


RULE = Rule("HOT403", Severity.ERROR, "An item is larger than 400 KB", check, prove)
