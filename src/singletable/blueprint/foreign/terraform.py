"""Terraform: resources of HCL, or `terraform show -json` of a state or plan, as a table and what stands around it.

A configuration has no entities. What depends on variables and conditions is worked out as `hcl_text` says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from singletable.blueprint.blueprint import Blueprint
from singletable.blueprint.foreign.hcl_text import Expressions, blocks, hcl_node
from singletable.blueprint.foreign.infrastructure import COMPARISONS, PITR_DAYS, Found, encryption, handler
from singletable.blueprint.foreign.nodes import Node, chosen, json_node
from singletable.blueprint.surroundings import AlarmBlueprint, ConsumerBlueprint
from singletable.blueprint.tables import IndexBlueprint, RegionBlueprint, TableBlueprint

_KIND: Final = "Terraform configuration"
_TABLE: Final = "aws_dynamodb_table"
_READ: Final = frozenset(
    {
        "name", "hash_key", "range_key", "attribute", "global_secondary_index", "local_secondary_index",
        "billing_mode", "read_capacity", "write_capacity", "stream_enabled", "stream_view_type",
        "server_side_encryption", "point_in_time_recovery", "ttl", "deletion_protection_enabled", "table_class",
        "tags", "replica", "provider", "timeouts", "arn", "id", "stream_arn", "stream_label", "tags_all", "region",
    }
)  # fmt: skip
_NEEDED: Final = frozenset(
    {
        _TABLE, "aws_dynamodb_table_replica", "aws_dynamodb_contributor_insights", "aws_iam_role",
        "aws_dynamodb_kinesis_streaming_destination", "aws_appautoscaling_target", "aws_appautoscaling_policy",
        "aws_iam_role_policy", "aws_iam_policy", "aws_iam_user_policy", "aws_cloudwatch_metric_alarm",
        "aws_lambda_event_source_mapping", "aws_pipes_pipe",
    }
)  # fmt: skip
# What says how resources are made, and not what they are.
_META: Final = frozenset(
    {"dynamic", "count", "for_each", "lifecycle", "depends_on", "provisioner", "connection", "timeouts"}
)
_PLACEHOLDER: Final = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class _Resource:
    """A resource: its address, type and label; its values as settings and as names."""

    address: str
    kind: str
    label: str
    settings: Node
    names: Node
    written: Node  # as the file has it


def from_terraform(text: str, table: str | None = None) -> Blueprint:
    """Read a configuration. `table` is the address, label or name of its table, if it has several."""
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return _from_json(json_node(text.lstrip("\ufeff"), _KIND), table)
    file = hcl_node(text.lstrip("\ufeff"), _KIND)
    expressions = Expressions(file)
    found = _Configuration(questions=expressions.questions, values_of=expressions.values_of)
    for (kind, label), node in blocks(file, "resource"):
        if kind in _NEEDED:
            given = {name: value for name, value in node.mapping().items() if name not in _META}
            body = Node(given, node.path, node.locate)
            settings, names = expressions.settings_in(body), expressions.names_in(body)
            found.resources.append(_Resource(f"{kind}.{label}", kind, label, settings, names, node))
    modules = [
        labels[0] for labels, node in blocks(file, "module") if "dynamo" in str(node.at("source").value)
    ]
    return found.blueprint(table, modules)


# --- JSON of a state or plan ----------------------------------------------------------------------------


def _from_json(root: Node, table: str | None) -> Blueprint:
    values = root.at("planned_values") if root.at("planned_values").exists else root.at("values")
    if not values.exists:
        raise root.error(
            "this is JSON, and neither a state nor a plan of Terraform: terraform show -json writes one of them"
        )
    found = _Configuration(questions=[], values_of=lambda _: ())
    references = _references(root)
    for node in _in_modules(values.need("root_module")):
        kind, address = node.need("type").text(), node.need("address").text()
        if kind not in _NEEDED or node.at("mode").value == "data":
            continue
        given = node.at("values")
        known = {name: value for name, value in given.mapping().items() if value is not None}
        for member, name in references.get(address, {}).items():
            known.setdefault(member, name)
        each = Node(known, given.path, given.locate)
        found.resources.append(_Resource(address, kind, node.need("name").text(), each, each, each))
    if root.at("planned_values").exists:
        found.found.questions.append(
            "what is known after the plan is applied, such as policies with its ARNs"
        )
    return found.blueprint(table, [])


def _in_modules(module: Node) -> Iterator[Node]:
    left = [module]
    while left:
        here = left.pop(0)
        yield from here.at("resources").each()
        left += here.at("child_modules").each()


def _references(root: Node) -> dict[str, dict[str, str]]:
    """Return what a plan says of streams and tables that have no ARN yet: the resource that they are of."""
    found: dict[str, dict[str, str]] = {}
    for node in root.at("configuration").at("root_module").at("resources").each():
        for member in ("event_source_arn", "table_name", "source"):
            expression = node.at("expressions").at(member)
            listed = expression.at("references").value if isinstance(expression.value, dict) else None
            for each in listed if isinstance(listed, list) else []:
                if isinstance(each, str) and each.startswith(f"{_TABLE}.") and each.count(".") >= 2:
                    found.setdefault(node.need("address").text(), {})[member] = f"{{{each}}}"
                    break
    return found


# --- both -----------------------------------------------------------------------------------------------


class _Configuration:
    """The resources of a configuration, worked out."""

    def __init__(self, questions: list[str], values_of: Callable[[str], tuple[str, ...]]) -> None:
        self.found = Found(questions=questions)
        self.values_of = values_of
        self.resources: list[_Resource] = []

    def of(self, *kinds: str) -> Iterator[_Resource]:
        """Yield resources of these types."""
        return (each for each in self.resources if each.kind in kinds)

    def blueprint(self, table: str | None, modules: list[str]) -> Blueprint:
        """Return the table that is asked for, and all that speaks of it."""
        tables = {each.address: each for each in self.of(_TABLE)}
        wanted = table
        for each in tables.values():
            if table in (each.label, each.names.at("name").told()) and table not in tables:
                wanted = each.address
        if modules:
            self.found.questions.append(f"tables of modules: {', '.join(modules)[:200]} are not read")
        resource = tables[chosen(tables, wanted, _KIND)]
        self._drop_questions_of(each for each in tables.values() if each is not resource)
        name = resource.names.at("name").told() or resource.label
        for member in ("count", "for_each"):
            if resource.written.at(member).exists:
                self.found.questions.append(
                    f"{resource.address} has {member}: one of these tables is described"
                )
        self._dynamic(resource)
        found = self._table(name, resource)
        indexes = [*self._indexes(resource, is_local=False), *self._indexes(resource, is_local=True)]
        self._around(name, resource)
        return self.found.blueprint(resource.label, found, indexes, _KIND)

    def _drop_questions_of(self, others: Iterator[_Resource]) -> None:
        starts = tuple(f"{each.address}." for each in others)
        self.found.questions[:] = [each for each in self.found.questions if not each.startswith(starts)]

    def _dynamic(self, resource: _Resource) -> None:
        for each in resource.written.at("dynamic").each():
            for label, _ in each.members():
                self.found.questions.append(
                    f"{resource.address} has dynamic blocks {label}, which are made when it is applied"
                )

    # --- the table --------------------------------------------------------------------------------------

    def _table(self, name: str, resource: _Resource) -> TableBlueprint:
        node, names = resource.settings, resource.names
        if unread := [
            each for each, value in node.mapping().items() if each not in _READ and value not in (None, [])
        ]:
            self.found.questions.append(f"not read of the table: {', '.join(unread)[:200]}")
        sse, pitr, ttl = (
            _block(node, each) for each in ("server_side_encryption", "point_in_time_recovery", "ttl")
        )
        key = _block(names, "server_side_encryption").at("kms_key_arn").told() or None
        encrypted, customer = encryption(key, is_on=self.found.flag(sse.at("enabled")))
        days = self.found.whole(pitr.at("recovery_period_in_days"))
        has_ttl = not ttl.at("enabled").exists or self.found.flag(ttl.at("enabled"))
        view = node.at("stream_view_type").told() or "NEW_AND_OLD_IMAGES"
        regions = [each.need("region_name").text() for each in names.at("replica").each()]
        regions += [
            each.names.at("provider").told() or each.label
            for each in self.of("aws_dynamodb_table_replica")
            if f"table/{name}" in (each.names.at("global_table_arn").told() or "")
        ]
        values = {each: self.values_of(each) for each in _PLACEHOLDER.findall(name)}
        return TableBlueprint(
            name=name,
            pk=_hash_key(resource),
            sk=node.at("range_key").told() or None,
            types={
                each.need("name").text(): each.need("type").text() for each in node.at("attribute").each()
            },
            billing=node.at("billing_mode").told() or "PROVISIONED",
            capacity=self._capacity(node),
            table_class=node.at("table_class").told() or "STANDARD",
            stream=view if self.found.flag(node.at("stream_enabled")) else None,
            encryption=encrypted,
            key=customer,
            pitr_days=(days or PITR_DAYS) if self.found.flag(pitr.at("enabled")) else None,
            deletion_protection=self.found.flag(node.at("deletion_protection_enabled")),
            ttl=(ttl.at("attribute_name").told() or None) if has_ttl else None,
            tags=self.found.tags(names.at("tags")),
            regions=tuple(RegionBlueprint(each, is_replica=True) for each in regions),
            contributor_insights=any(
                _is_table(each.names.at("table_name"), name, resource)
                and not each.names.at("index_name").exists
                for each in self.of("aws_dynamodb_contributor_insights")
            ),
            environments={each: found for each, found in values.items() if found},
            scaling=dict(self._scaling(name)),
        )

    def _capacity(self, node: Node) -> tuple[int, ...] | None:
        reads, writes = (
            self.found.whole(node.at("read_capacity")),
            self.found.whole(node.at("write_capacity")),
        )
        # On demand, a state says 0 for both.
        return None if not reads or not writes else (reads, writes)

    def _indexes(self, resource: _Resource, *, is_local: bool) -> Iterator[IndexBlueprint]:
        node = resource.settings
        for each in node.at("local_secondary_index" if is_local else "global_secondary_index").each():
            pk, sk = (each.at(f"{role}_key") for role in ("hash", "range"))
            roles = [
                (key.need("attribute_name").text(), key.need("key_type").text())
                for key in each.at("key_schema").each()
            ]
            table_pk = (_hash_key(resource),)
            yield IndexBlueprint(
                name=each.need("name").text(),
                pk=table_pk if is_local else tuple(_keys(pk, "hash_keys", each)) or _of_role(roles, "HASH"),
                sk=tuple(_keys(sk, "range_keys", each)) or _of_role(roles, "RANGE"),
                projection=each.at("projection_type").told() or "ALL",
                included=each.at("non_key_attributes").texts(),
                capacity=self._capacity(each),
                is_local=is_local,
            )

    def _scaling(self, name: str) -> Iterator[tuple[str, tuple[float, ...]]]:
        policies = {}
        for each in self.of("aws_appautoscaling_policy"):
            tracking = _block(each.settings, "target_tracking_scaling_policy_configuration")
            scaled = (each.names.at("resource_id").told(), _way(each))
            policies[scaled] = tracking.at("target_value")
        for each in self.of("aws_appautoscaling_target"):
            if each.names.at("resource_id").told() != f"table/{name}":
                continue
            target = policies.get((f"table/{name}", _way(each)))
            limits = [self.found.number(each.settings.at(f"{end}_capacity")) for end in ("min", "max")]
            limits.append(None if target is None else self.found.number(target))
            known = tuple(limit for limit in limits if limit is not None)
            if len(known) == len(limits):
                yield _way(each), known

    # --- around the table -------------------------------------------------------------------------------

    def _around(self, table: str, resource: _Resource) -> None:
        for each in self.of("aws_iam_role_policy", "aws_iam_policy", "aws_iam_user_policy"):
            holder = (
                each.names.at("role").told() or each.names.at("user").told() or each.names.at("name").told()
            )
            role = holder.strip("{}") if holder and _PLACEHOLDER.fullmatch(holder) else holder
            self.found.add_statements(role or each.label, each.names.at("policy").value, table)
        for each in self.of("aws_iam_role"):
            for policy in each.names.at("inline_policy").each():
                name = each.names.at("name").told() or each.label
                self.found.add_statements(name, policy.at("policy").value, table)
        for each in self.of("aws_cloudwatch_metric_alarm"):
            self._alarm(each, table, resource)
        for each in self.of("aws_lambda_event_source_mapping"):
            if _is_stream(each.names.at("event_source_arn"), table, resource):
                self._consumer(each)
        for each in self.of("aws_dynamodb_kinesis_streaming_destination"):
            if _is_table(each.names.at("table_name"), table, resource):
                name = each.names.at("stream_arn").told() or each.label
                self.found.consumers.append(ConsumerBlueprint(name, "kinesis"))
        for each in self.of("aws_pipes_pipe"):
            if _is_stream(each.names.at("source"), table, resource):
                self.found.consumers.append(
                    ConsumerBlueprint(each.names.at("name").told() or each.label, "pipes")
                )

    def _alarm(self, resource: _Resource, table: str, of: _Resource) -> None:
        node, names = resource.settings, resource.names
        metrics = [(node, names.at("dimensions"))]
        for each, named in zip(node.at("metric_query").each(), names.at("metric_query").each(), strict=False):
            metrics.append((_block(each, "metric"), _block(named, "metric").at("dimensions")))
        for metric, listed in metrics:
            if isinstance(listed.value, str) or not _is_table(listed.at("TableName"), table, of):
                continue
            comparison = node.at("comparison_operator").told() or "GreaterThanThreshold"
            statistic = metric.at("statistic").told() or metric.at("extended_statistic").told()
            actions = names.at("alarm_actions").value
            self.found.alarms.append(
                AlarmBlueprint(
                    name=names.at("alarm_name").told() or resource.label,
                    metric=metric.at("metric_name").told() or "",
                    namespace=metric.at("namespace").told() or "AWS/DynamoDB",
                    dimensions={name: each.told() or "" for name, each in listed.members()},
                    statistic=statistic or metric.at("stat").told() or "",
                    comparison=COMPARISONS.get(comparison, comparison),
                    threshold=self.found.number(node.at("threshold")),
                    unit=metric.at("unit").told() or "",
                    period_s=self.found.number(metric.at("period")),
                    periods=self.found.whole(node.at("evaluation_periods")),
                    actions=tuple(map(str, actions)) if isinstance(actions, list) else (),
                    about=node.at("alarm_description").told() or "",
                )
            )

    def _consumer(self, resource: _Resource) -> None:
        node = resource.settings
        function = resource.names.at("function_name").told() or resource.label
        # A function that is a resource of the file has its label.
        steps = function.strip("{}").split(".") if _PLACEHOLDER.fullmatch(function) else [function]
        name = steps[1] if len(steps) == 3 else steps[0] if len(steps) == 1 else function
        filters = [each.at("pattern").value for each in _block(node, "filter_criteria").at("filter").each()]
        self.found.consumers.append(
            ConsumerBlueprint(
                name=name,
                handlers=handler(name, filters),
                batch_size=self.found.whole(node.at("batch_size")),
                parallelization=self.found.whole(node.at("parallelization_factor")),
                has_dead_letters=_block(_block(node, "destination_config"), "on_failure").exists,
            )
        )


def _hash_key(resource: _Resource) -> str:
    """Return the partition key, which a module may have as a variable that is null unless it is given."""
    found = resource.settings.at("hash_key")
    return (found if found.exists else resource.names.need("hash_key")).text()


def _block(node: Node, name: str) -> Node:
    """Return a block that stands once, or not at all."""
    found = node.at(name)
    if isinstance(found.value, dict):
        return found
    return next(iter(found.each()), Node(None, found.path, found.locate))


def _keys(node: Node, several: str, index: Node) -> Iterator[str]:
    if node.exists and node.text():
        yield node.text()
    else:
        yield from index.at(several).texts()


def _of_role(keys: list[tuple[str, str]], role: str) -> tuple[str, ...]:
    return tuple(name for name, each in keys if each == role)


def _way(resource: _Resource) -> str:
    return "read" if "Read" in (resource.names.at("scalable_dimension").told() or "") else "write"


def _is_table(node: Node, table: str, resource: _Resource) -> bool:
    value: Any = node.value
    return value == table or (isinstance(value, str) and value.startswith(f"{{{resource.address}."))


def _is_stream(node: Node, table: str, resource: _Resource) -> bool:
    value: Any = node.value
    return isinstance(value, str) and (
        f"table/{table}/stream/" in value or value.startswith(f"{{{resource.address}.stream_arn")
    )
