"""What stands around a table, as Markdown: writes, expiry, streams, rates, roles, alarms, plans, figures."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from singletable.blueprint.contents import Contents, LoadBlueprint
from singletable.blueprint.markdown_text import amount, bullets, cited, code, joined, section, table
from singletable.blueprint.patterns import PatternBlueprint, RuleBlueprint, WriteBlueprint
from singletable.blueprint.said import FigureBlueprint
from singletable.blueprint.surroundings import (
    AlarmBlueprint,
    HandlerBlueprint,
    RoleBlueprint,
    StatementBlueprint,
)

_DAY_S = 86_400


def around(blueprint: Contents) -> Iterator[str]:
    """Return the sections of all that is neither table nor entity nor access pattern."""
    yield from section("Write rules", *map(_rule, blueprint.rules))
    yield from section("Expiry", bullets(_ttl_rules(blueprint)))
    yield from section("Streams", *_consumers(blueprint))
    yield from section("Services", _services(blueprint))
    yield from section("Volumes", _volumes(blueprint))
    yield from section("Writes a second", _rates(blueprint))
    yield from section("How often", _loads(blueprint))
    yield from section("Roles", *map(_role, blueprint.roles))
    yield from section("Metrics", _metrics(blueprint))
    yield from section("Alarms", _alarms(blueprint))
    yield from section("Planned changes", *_changes(blueprint))
    yield from section("Figures", _figures(blueprint))
    yield from section(
        "Remarks",
        bullets(f"**{each.topic}**: {each.text}{_at(cited(each.said))}" for each in blueprint.remarks),
    )
    yield from section("Differences from the document", _fixes(blueprint))
    yield from section("Open questions", bullets(blueprint.questions))
    yield from section("Sources", _documents(blueprint))


def _at(places: str) -> str:
    return f" ({places})" if places else ""


# --- writes and streams ---------------------------------------------------------------------------------


def _rule(rule: RuleBlueprint) -> str:
    notes = [rule.text, *map(write_text, rule.writes), *together(rule)]
    return f"### {rule.name}\n\n{bullets([*filter(None, notes), *_source(cited(rule.said))])}"


def together(of: PatternBlueprint | RuleBlueprint) -> Iterator[str]:
    """Return what is said of the whole of several requests."""
    if of.is_transaction:
        yield "in one transaction"
    if of.actions is not None:
        yield f"at most {of.actions} actions"
    if of.requires:
        yield f"requires {', '.join(of.requires)}"


def write_text(write: WriteBlueprint) -> str:
    """Write a write in a line, with its expressions as they were given."""
    keys = " AND ".join(f"{key.attribute} {key.operator} {' AND '.join(key.templates)}" for key in write.key)
    said = " ".join(filter(None, (write.operation, write.entity, ", ".join(write.fields), keys)))
    return joined(
        (
            code(said) + (f" x {write.count}" if write.count > 1 else ""),
            code(write.update_expression),
            f"if {code(write.condition_expression)}" if write.condition_expression else "",
            names_text(write.names),
            cited(write.said),
        )
    )


def names_text(names: Mapping[str, str]) -> str:
    """Write the placeholders of expressions with their names."""
    shown = ", ".join(f"{code(name)} is {code(value)}" for name, value in names.items())
    return f"where {shown}" if shown else ""


def _source(places: str) -> Iterator[str]:
    if places:
        yield f"said in {places}"


def _ttl_rules(blueprint: Contents) -> Iterator[str]:
    for each in blueprint.ttl_rules:
        rule = each.rule
        span = "" if rule.seconds is None else f" after {rule.seconds / _DAY_S:g} days"
        parts = (
            f"**{each.of}** by {code(rule.stored) or 'no attribute'}{span}",
            f"to {rule.purpose}" if rule.purpose else "",
            f"in {rule.unit}" if rule.unit != "seconds" else "",
            "left open" if rule.is_optional else "",
            f"taken away by {rule.removed_by}" if rule.removed_by else "",
            each.about,
        )
        yield joined(parts) + _at(cited(rule.said))


def _consumers(blueprint: Contents) -> Iterator[str]:
    for each in blueprint.consumers:
        facts = (
            each.about,
            f"batches of {each.batch_size}" if each.batch_size is not None else "",
            f"{each.parallelization} at once for a shard" if each.parallelization is not None else "",
            "" if each.has_dead_letters is None else f"{'' if each.has_dead_letters else 'no '}dead letters",
        )
        yield f"### {each.name} ({each.kind}){_at(cited(each.said))}"
        yield joined(facts)
        if each.handlers:
            header = ["handler", "of", "when", "needs", "reads", "writes", "sends", "about", "said in"]
            yield table(header, map(_handler, each.handlers))


def _handler(handler: HandlerBlueprint) -> list[str]:
    when = joined(
        (
            ", ".join(handler.events),
            f"{', '.join(handler.fields)} changed" if handler.fields else "",
            json.dumps(handler.when, ensure_ascii=False) if handler.when is not None else "",
        )
    )
    again = {None: "", True: "may run twice", False: "must not run twice"}[handler.is_idempotent]
    return [
        handler.name,
        ", ".join(handler.entities) or "all",
        when,
        ", ".join(handler.needs),
        ", ".join(handler.reads),
        ", ".join(handler.writes),
        ", ".join(handler.sends),
        joined((handler.about, again)),
        cited(handler.said),
    ]


def _services(blueprint: Contents) -> str:
    rows = [
        [each.name, ", ".join(each.patterns), ", ".join(each.writes), each.about, cited(each.said)]
        for each in blueprint.services
    ]
    return table(["service", "patterns", "writes", "about", "said in"], rows) if rows else ""


# --- how much and how often -----------------------------------------------------------------------------


def _volumes(blueprint: Contents) -> str:
    rows = [
        [
            each.entity,
            amount(each.count) + (f" per {each.per}" if each.per else ""),
            amount(each.kb),
            amount(each.upto_kb),
            amount(each.growth_per_month),
            amount(each.hottest_share),
            each.because,
            cited(each.said),
        ]
        for each in blueprint.volumes
    ]
    header = [
        "entity",
        "items",
        "KB each",
        "up to KB",
        "new a month",
        "share of the hottest partition",
        "because",
    ]
    return table([*header, "said in"], rows) if rows else ""


def _rates(blueprint: Contents) -> str:
    rows = [
        [each.entity, f"{each.creates:g}", f"{each.updates:g}", f"{each.deletes:g}"]
        for each in blueprint.rates
    ]
    return table(["entity", "creates", "updates", "deletes"], rows) if rows else ""


def _loads(blueprint: Contents) -> str:
    header = ["what", "a second at the peak", "a month", "a month per user", "to the busiest key", "fails"]
    return table([*header, "because", "said in"], map(_load, blueprint.loads)) if blueprint.loads else ""


def _load(load: LoadBlueprint) -> list[str]:
    numbers = (load.peak_per_s, load.monthly, load.monthly_per_user, load.hottest_share, load.fails)
    return [f"{load.kind} {load.of}", *map(amount, numbers), load.because, cited(load.said)]


# --- who may, and what is watched -----------------------------------------------------------------------


def _role(role: RoleBlueprint) -> str:
    facts = [
        role.about,
        f"for {', '.join(role.services)}" if role.services else "",
        *_source(cited(role.said)),
    ]
    parts = [f"### {role.name}", bullets(filter(None, facts))]
    if role.statements:
        header = ["effect", "actions", "resources", "conditions", "said in"]
        parts.append(table(header, map(_statement, role.statements)))
    return "\n\n".join(filter(None, parts))


def _statement(statement: StatementBlueprint) -> list[str]:
    return [
        statement.effect,
        ", ".join(map(code, statement.actions)),
        ", ".join(map(code, statement.resources)),
        code(json.dumps(dict(statement.conditions), ensure_ascii=False)) if statement.conditions else "",
        cited(statement.said),
    ]


def _metrics(blueprint: Contents) -> str:
    rows = [
        [each.name, each.namespace, ", ".join(each.dimensions), each.statistic, each.about, cited(each.said)]
        for each in blueprint.metrics
    ]
    return table(["metric", "namespace", "dimensions", "statistic", "about", "said in"], rows) if rows else ""


def _alarms(blueprint: Contents) -> str:
    header = ["alarm", "metric", "rings", "over", "region", "tells", "about", "said in"]
    return table(header, map(_alarm, blueprint.alarms)) if blueprint.alarms else ""


def _alarm(alarm: AlarmBlueprint) -> list[str]:
    of = ", ".join(f"{name}={value}" for name, value in alarm.dimensions.items())
    rings = (
        ""
        if alarm.threshold is None
        else f"{alarm.comparison} {amount(alarm.threshold)} {alarm.unit}".strip()
    )
    over = "" if alarm.period_s is None else f"{alarm.periods or 1} x {alarm.period_s:g} s"
    metric = " ".join(filter(None, (alarm.statistic, code(alarm.metric or alarm.expression), of)))
    tells = ", ".join(alarm.actions)
    return [alarm.name, metric, rings, over, alarm.region or "", tells, alarm.about, cited(alarm.said)]


# --- plans and statements -------------------------------------------------------------------------------


def _changes(blueprint: Contents) -> Iterator[str]:
    for each in blueprint.changes:
        yield f"### {each.name}{_at(cited(each.said))}"
        yield each.about
        yield "\n".join(f"{number}. {step}" for number, step in enumerate(each.steps, start=1))


def _figures(blueprint: Contents) -> str:
    header = ["figure", "value", "formula", "terms", "about", "said in"]
    return table(header, map(_figure, blueprint.figures)) if blueprint.figures else ""


def _figure(figure: FigureBlueprint) -> list[str]:
    upto = "" if figure.upto is None else f" to {amount(figure.upto)}"
    terms = ", ".join(
        f"{name} = {amount(term) if isinstance(term, int | float) else term}"
        for name, term in figure.terms.items()
    )
    value = f"{amount(figure.value)}{upto} {figure.unit}".strip()
    return [figure.name, value, code(figure.formula), terms, figure.about, cited(figure.said)]


def _fixes(blueprint: Contents) -> str:
    rows = [[each.id, each.defect, each.repair, ", ".join(map(code, each.parts))] for each in blueprint.fixes]
    return table(["id", "the document", "here", "parts"], rows) if rows else ""


def _documents(blueprint: Contents) -> str:
    rows = [
        [each.id, each.title, "" if each.lines is None else str(each.lines), each.about]
        for each in blueprint.documents
    ]
    return table(["document", "title", "lines", "about"], rows) if rows else ""
