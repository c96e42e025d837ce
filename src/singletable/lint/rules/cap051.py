"""CAP051: the design uses what one of its targets does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from singletable.client.capabilities import ALTERNATOR, DYNAMODB_LOCAL, Capabilities
from singletable.lint.finding import Finding, Severity
from singletable.lint.indexes import joined
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

if TYPE_CHECKING:
    from singletable.blueprint.positions import Path

_TARGETS: Final = {
    "alternator": ("ScyllaDB Alternator", ALTERNATOR),
    # What only operators need is not asked of a target for development.
    "aws-local": (
        "DynamoDB Local",
        Capabilities().without(*(name for name in DYNAMODB_LOCAL.missing() if name == "transactions")),
    ),
}


class _Use(NamedTuple):
    feature: str
    what: str
    paths: tuple[Path, ...]
    because: str
    repair: str
    severity: Severity


def check(view: View) -> Iterator[Finding]:
    """Look for features that a named target lacks."""
    targets = [_TARGETS[name] for name in view.blueprint.targets if name in _TARGETS]
    if not targets:
        return
    uses = list(_uses(view))
    for title, capabilities in targets:
        for use in uses:
            if use.feature in capabilities.missing():
                yield finding(
                    RULE,
                    *use.paths,
                    message=f"{title} has no {use.feature.replace('_', ' ')}, and the design {use.what}",
                    because=use.because,
                    repair=use.repair,
                    severity=use.severity,
                )


def _uses(view: View) -> Iterator[_Use]:
    yield from _of_requests(view)
    yield from _of_indexes(view)
    yield from _of_table(view)


def _of_requests(view: View) -> Iterator[_Use]:
    blueprint = view.blueprint
    paths: list[Path] = []
    for at, pattern in enumerate(blueprint.patterns):
        sent = {*(each.operation for each in pattern.reads), *(each.operation for each in pattern.writes)}
        if pattern.is_transaction or sent & {"TransactGetItems", "TransactWriteItems", "ConditionCheck"}:
            paths.append(("patterns", at))
    paths += [("rules", at) for at, rule in enumerate(blueprint.rules) if rule.is_transaction]
    if not paths:
        return
    is_typed = any(slot.is_encoded for place in view.places for slot in place.slots)
    yield _Use(
        "transactions",
        f"writes by transactions in {len(paths)} {'place' if len(paths) == 1 else 'places'}",
        tuple(paths),
        "the layer carries such writes out one by one, and verify repairs a failure between two"
        if is_typed
        else "TransactWriteItems and TransactGetItems are unknown there: the requests are refused",
        "make each write safe to be seen alone and to be repeated: conditions, an order in which a half "
        "done write does no harm, and a job that finishes it",
        Severity.WARNING if is_typed else Severity.ERROR,
    )


def _of_indexes(view: View) -> Iterator[_Use]:
    for at, index in enumerate(view.blueprint.indexes):
        if len(index.pk) > 1 or len(index.sk) > 1:
            yield _Use(
                "multi_attribute_keys",
                f"has {joined([*index.pk, *index.sk])} as the key of {index.name}",
                (("indexes", at),),
                "an index has one attribute for its partition key and one for its sort key there: the table is "
                "refused",
                f"join them in one attribute, as {'#'.join(f'{{{name}}}' for name in index.pk)}",
                Severity.ERROR,
            )
        if index.projection != "ALL":
            yield _Use(
                "projections",
                f"projects {index.projection} into {index.name}",
                (("indexes", at),),
                "every index holds whole items there: it is larger, and returns what was to be left out",
                "plan its size as of ALL, and name the attributes that a read returns",
                Severity.WARNING,
            )


def _of_table(view: View) -> Iterator[_Use]:
    table, path = view.blueprint.table, (("table",),)
    if table.pitr_days is not None or any(backup.kind == "pitr" for backup in table.backups):
        yield _Use(
            "point_in_time_recovery",
            "rests on point-in-time recovery",
            path,
            "there is no UpdateContinuousBackups: what is overwritten by mistake is lost",
            "back the cluster up by its own means, and state how far back they reach",
            Severity.WARNING,
        )
    if any(backup.kind == "on-demand" for backup in table.backups):
        yield _Use(
            "backups",
            "rests on backups on demand",
            path,
            "there is no CreateBackup: no backup is made",
            "back the cluster up by its own means",
            Severity.WARNING,
        )
    if table.deletion_protection:
        yield _Use(
            "deletion_protection",
            "rests on deletion protection",
            path,
            "the setting is not kept: DeleteTable deletes the table",
            "allow DeleteTable to nobody who does not need it",
            Severity.WARNING,
        )
    if table.encryption == "CUSTOMER_MANAGED":
        yield _Use(
            "encryption",
            "encrypts by a key of its own",
            path,
            "SSESpecification has no effect: the data is not encrypted by that key",
            "encrypt the disks or the cluster by its own means",
            Severity.WARNING,
        )


RULE = Rule("CAP051", Severity.ERROR, "A target lacks a feature that the design uses", check)
