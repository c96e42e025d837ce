"""Items that a migration would let expire at once: named before anything is written, and kept if that is asked.

A migration may write when items expire, or turn on the expiry of a table. An item whose time is over by then is
gone a moment later, though nobody has seen it go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar, Final

from singletable.client.calls import Steps
from singletable.design.model.catalog import Catalog
from singletable.design.model.schema import EntitySchema
from singletable.design.session.session import Session
from singletable.design.tables.definition import active_ttl
from singletable.design.values.items import Item
from singletable.errors import DesignError
from singletable.migrate.applying import Applier
from singletable.migrate.deciding import decide
from singletable.migrate.forms import Forms, ItemRewrite, plain
from singletable.migrate.leases import MigrationLease
from singletable.migrate.pacing import Pacer
from singletable.migrate.passes import Pass
from singletable.migrate.records import Record, Segment
from singletable.migrate.steps import Backfill, ChangeSetting, MigrationStep, Rekey, RenameAttributes

NAMED_MAX: Final = 5
_SETTING: Final = "time to live"  # as steps call it


@dataclass(slots=True)
class Expiring:
    """Items that would expire at once: how many, and the first of them."""

    kind: ClassVar[str] = "expire"
    count: int = 0
    samples: list[dict[str, Any]] = field(default_factory=list)

    def says(self) -> str:
        """Say what happens if nothing is done about them."""
        keys = [" / ".join(map(str, each["key"].values())) for each in self.samples]
        more = ", ..." if self.count > len(keys) else ""
        what = "1 item expires" if self.count == 1 else f"{self.count} items expire"
        return f"{what} at once: {', '.join(keys)}{more}."

    def data(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {"count": self.count, "samples": self.samples}


def turns_on_expiry(steps: Iterable[MigrationStep]) -> bool:
    """Tell whether steps turn on the expiry of the table."""
    return any(isinstance(step, ChangeSetting) and _SETTING in step.settings for step in steps)


def may_expire(catalog: Catalog, steps: Sequence[MigrationStep]) -> bool:
    """Tell whether steps may let items expire: they turn expiry on, or write when an item expires."""
    expiring = {schema.name: schema for schema in catalog.schemas.values() if schema.ttl is not None}
    return bool(expiring) and (
        turns_on_expiry(steps) or any(_writes_expiry(step, expiring) for step in steps)
    )


def _writes_expiry(step: MigrationStep, expiring: dict[str, EntitySchema]) -> bool:
    match step:
        case Backfill(entities):
            return any(
                step.every_attribute
                or schema.schema_version is not None
                or (schema.ttl is not None and schema.ttl.name in step.fields.get(name, ()))
                for name, schema in expiring.items()
                if name in entities or name in step.fields
            )
        case Rekey(entities):
            # An item that moves is written as a whole, by what upcasters make of it.
            return any(
                schema.schema_version is not None for name, schema in expiring.items() if name in entities
            )
        case RenameAttributes(renamed):
            return any(
                schema.ttl is not None and schema.ttl.stored in renamed.get(name, {}).values()
                for name, schema in expiring.items()
            )
        case _:
            return False


def expiring_items(
    session: Session,
    lease: MigrationLease,
    pacer: Pacer,
    steps: Sequence[tuple[Forms, MigrationStep]],
    *,
    keeps: bool = False,
    **options: Any,
) -> Steps[Expiring]:
    """Count the items that steps would let expire at once; or keep those that have their time already."""
    plain_steps = [step for _, step in steps]
    if not may_expire(session.catalog, plain_steps):
        return Expiring()
    is_asked = turns_on_expiry(plain_steps) and session.client.capabilities.time_to_live
    active = (yield from active_ttl(session.table)) if is_asked else None

    def becomes(item: Item) -> Item:
        for forms, step in steps:
            change = decide(forms, step, item)
            item = item if change is None else change.applied_to(item)
        return item

    one = ExpiryPass(
        (lambda item: item) if keeps else becomes,
        session.now_us() / 1_000_000,
        session,
        lease,
        pacer,
        lambda item: None,
        forms=steps[0][0],
        knows=session.catalog.schema_of,
        writes=keeps,
        is_new=lambda attribute: is_asked and attribute != active,
        **options,
    )
    yield from one.run()
    return one.found


class ExpiryPass(Pass):
    """A pass over all items before the first step: it finds those that would expire at once, or keeps them.

    `becomes` returns what the steps make of an item. `is_new` tells whether the table will expire items by an
    attribute, and does not yet: what has its time by it already counts, too, and loses it where the pass writes.
    """

    def __init__(
        self,
        becomes: Callable[[Item], Item],
        now_s: float,
        *arguments: Any,
        is_new: Callable[[str], bool],
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self._becomes = becomes
        self._now_s = now_s
        self._is_new = is_new
        self._applier = Applier(self._session, self._losing, self._lease)
        self.found = Expiring()

    def _save(self, segments: tuple[Segment, ...], before: Record) -> Steps[None]:
        # Not the position: who begins again looks at everything again.
        yield from self._lease.keep()

    def _changes(self, items: list[Item]) -> Iterator[ItemRewrite]:
        for item in items:
            self._add(seen=1)
            self._look_at(item)
            change = self._losing(item)
            if change is not None:
                yield change

    def _look_at(self, item: Item) -> None:
        """Note an item that would expire."""
        try:
            after = self._becomes(item)
        except DesignError:
            return  # the step that cannot change it says so
        schema = self._over(after)
        if schema is None or schema.ttl is None:
            return
        if schema.is_expired(item, self._now_s) and not self._is_new(schema.ttl.stored):
            return  # it expires anyway
        self.found.count += 1
        if len(self.found.samples) < NAMED_MAX:
            over_at = datetime.fromtimestamp(float(after[schema.ttl.stored]["N"]), UTC).isoformat()
            sample = {"entity": schema.name, "key": plain(self._key(item)), "expired_at": over_at}
            self.found.samples.append(sample)

    def _losing(self, item: Item) -> ItemRewrite | None:
        """Return how an item loses the time that it has already."""
        schema = self._over(item)
        if schema is None or schema.ttl is None or not self._is_new(schema.ttl.stored):
            return None
        name = schema.ttl.stored
        return ItemRewrite(schema.name, self._key(item), {}, (name,), {name: item[name]})

    def _over(self, item: Item) -> EntitySchema | None:
        schema = self._session.catalog.schema_of(item)
        return schema if schema is not None and schema.is_expired(item, self._now_s) else None
