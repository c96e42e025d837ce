"""TTL607: TTL attributes that are not the one that the table has."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.expiry import expiries, prove_kept
from singletable.lint.finding import Finding, Severity
from singletable.lint.indexes import stored_names
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

_EXPIRY = ("expir", "ttl", "purge", "delete_", "deleteat", "evict")


def check(view: View) -> Iterator[Finding]:
    """Compare the TTL attribute of every entity with that of the table, or of the first entity."""
    found = [each for each in expiries(view) if each.name]
    enabled = view.blueprint.table.ttl
    if enabled is not None and not found:
        yield from _never(view, enabled)
    if not found:
        return
    wanted = enabled or found[0].name
    for each in found:
        if each.name != wanted:
            yield finding(
                RULE,
                *each.paths,
                ("table",),
                message=f"{each.entity.name} expires by {each.name}, and the table by {wanted}",
                because=f"a table has one TTL attribute: items with {each.name} alone are never deleted",
                repair=f"store the time of expiry of every entity in {wanted}",
                facts={"enabled": wanted, "stored": each.name},
            )
    if enabled is None:
        yield finding(
            RULE,
            ("table",),
            *(path for each in found for path in each.paths),
            message=f"no TTL is enabled on the table, and {found[0].entity.name} is to expire by {wanted}",
            because=f"without it, {wanted} is an attribute like any other, and nothing is deleted",
            repair=f'enable it: ttl = "{wanted}" of the table',
            facts={"stored": wanted},
        )


def _never(view: View, enabled: str) -> Iterator[Finding]:
    """Yield a finding if entities have times of expiry, and none under the name that the table has."""
    entities = view.blueprint.entities
    times = list(_times(view))
    if not times or not all(entity.attributes for entity in entities):
        return
    if any(enabled in stored_names(entity) or enabled in view.fields(entity.name) for entity in entities):
        return
    yield finding(
        RULE,
        ("table",),
        *(view.attribute_path(*each) for each in times),
        message=f"the table expires items by {enabled}, which no entity has; {times[0][0]} has {times[0][1]}",
        because=f"an item without {enabled} stays for ever: nothing is deleted, and nothing reports it",
        repair=f"store the time of expiry in {enabled}, in seconds since 1970; or turn TTL off",
        facts={"enabled": enabled, "stored": times[0][1]},
    )


def _times(view: View) -> Iterator[tuple[str, str]]:
    """Yield the attributes that hold seconds since 1970 and are times of expiry by their names."""
    for entity in view.blueprint.entities:
        for attribute in entity.attributes:
            is_expiry = any(word in attribute.stored.lower() for word in _EXPIRY)
            if is_expiry and attribute.format == "epoch-seconds":
                yield entity.name, attribute.name


RULE = Rule(
    "TTL607", Severity.ERROR, "Items expire by an attribute that the table does not", check, prove_kept
)
