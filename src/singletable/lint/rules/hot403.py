"""HOT403: items larger than DynamoDB stores."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

_KB_MAX = 400


def check(view: View) -> Iterator[Finding]:
    """Compare the sizes that are said with the largest that an item may have."""
    for at, volume in enumerate(view.blueprint.volumes):
        kb = max(volume.kb, volume.upto_kb or 0)
        if kb > _KB_MAX and volume.entity in view.entities:
            yield finding(
                RULE,
                ("volumes", at),
                view.entity_path(volume.entity),
                message=f"an item of {volume.entity} has up to {kb:g} KB, and {_KB_MAX} KB is the most",
                because=f"a write that makes the item larger than {_KB_MAX} KB is refused, names and all counted",
                repair="keep the large part in S3 with its key in the item, or divide it into several items",
                facts={"kb": kb},
            )


def prove(found: Finding, bench: Bench) -> str | None:
    """Put an item of that size."""
    table = bench.blueprint.table
    keys = {name: "proof" for name in (table.pk, table.sk) if name is not None}
    refusal = bench.put({**keys, "content": "x" * int(min(found.facts["kb"], 1_000) * 1024)})
    return f"the put is refused: {refusal}" if refusal is not None else None


RULE = Rule("HOT403", Severity.ERROR, "An item is larger than 400 KB", check, prove)
