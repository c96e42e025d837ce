"""TTL605: an expiry of a state that items leave, and nothing takes it away."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.conditions import spelled_out
from singletable.lint.expiry import Expiry, expiries, prove_deleted
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for an expiry under a condition, without the write that removes the attribute."""
    for each in expiries(view):
        rule = each.rule
        if rule.when is None or rule.removed_by or each.is_kept_by_library:
            continue
        field = rule.when.get("field", "")
        state = view.fields(each.entity.name).get(field)
        if state is None or state.is_immutable or _is_removed(view, each, field):
            continue
        shown = f"{field} {rule.when.get('operator', '=')} {rule.when.get('value', '')}".strip()
        yield finding(
            RULE,
            *each.paths,
            view.attribute_path(each.entity.name, field),
            message=f"{each.entity.name} expires while {shown}, and nothing removes the TTL attribute afterwards",
            because=f"an item that is no longer {rule.when.get('value', 'so')} keeps its time of expiry, and is "
            "deleted with what it has become",
            repair=f"remove the TTL attribute in the same update that changes {field}",
            facts={"enabled": each.name or "ttl", "stored": each.name or "ttl"},
        )


def _is_removed(view: View, each: Expiry, field: str) -> bool:
    return any(
        write.write.operation in ("UpdateItem", "PutItem")
        and field in write.write.fields
        and bool({each.rule.field, each.rule.stored} & {*write.write.fields})
        for write in view.writes
        if write.entity is each.entity
    ) or any(
        each.name
        and each.name in spelled_out(write.write.update_expression, write.write.names).partition("REMOVE")[2]
        for write in view.writes
        if write.entity is each.entity
    )


RULE = Rule("TTL605", Severity.ERROR, "An expiry stays on items that are to stay", check, prove_deleted)
