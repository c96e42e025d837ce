"""CloudFormation templates, JSON and YAML, and those of SAM: a table with its indexes, and what stands around it.

A template has no entities. What depends on parameters and conditions is worked out as `functions` says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from singletable.blueprint.blueprint import Blueprint
from singletable.blueprint.foreign.functions import Functions
from singletable.blueprint.foreign.infrastructure import COMPARISONS, PITR_DAYS, Found, encryption, handler
from singletable.blueprint.foreign.nodes import Node, check_length, chosen, json_node
from singletable.blueprint.foreign.yaml_text import yaml_node
from singletable.blueprint.surroundings import AlarmBlueprint, ConsumerBlueprint
from singletable.blueprint.tables import IndexBlueprint, RegionBlueprint, TableBlueprint

_KIND: Final = "CloudFormation template"
_CHARACTERS_MAX: Final = 2_000_000  # a template has at most 1 MB (CloudFormation guide, "Quotas")
_TABLE: Final = "AWS::DynamoDB::Table"
_GLOBAL: Final = "AWS::DynamoDB::GlobalTable"
_SIMPLE: Final = "AWS::Serverless::SimpleTable"
_FUNCTION: Final = "AWS::Serverless::Function"
_READ: Final = frozenset(
    {
        "TableName", "KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes", "LocalSecondaryIndexes",
        "BillingMode", "ProvisionedThroughput", "StreamSpecification", "SSESpecification",
        "TimeToLiveSpecification",
        "PointInTimeRecoverySpecification", "DeletionProtectionEnabled", "TableClass", "Tags", "Replicas",
        "ContributorInsightsSpecification", "KinesisStreamSpecification", "PrimaryKey",
        "WriteProvisionedThroughputSettings",
    }
)  # fmt: skip
_PLACEHOLDER: Final = re.compile(r"\{([^{}]+)\}")
# What the policy templates of SAM allow (SAM guide, "Policy template list").
_SAM_POLICIES: Final = {
    "DynamoDBCrudPolicy": (
        "GetItem", "DeleteItem", "PutItem", "Scan", "Query", "UpdateItem", "BatchWriteItem", "BatchGetItem",
        "DescribeTable", "ConditionCheckItem",
    ),
    "DynamoDBReadPolicy": ("GetItem", "Scan", "Query", "BatchGetItem", "DescribeTable"),
    "DynamoDBWritePolicy": ("PutItem", "UpdateItem", "BatchWriteItem"),
    "DynamoDBReconfigurePolicy": ("UpdateTable",),
    "DynamoDBStreamReadPolicy": ("DescribeStream", "GetRecords", "GetShardIterator"),
}  # fmt: skip


def from_cloudformation(text: str, table: str | None = None) -> Blueprint:
    """Read a template. `table` is the logical id, or the name, of its table, if it has several."""
    check_length(text, _KIND, _CHARACTERS_MAX)
    is_json = text.lstrip("\ufeff \t\r\n").startswith("{")
    template = (
        json_node(text, _KIND) if is_json else yaml_node(text.lstrip("\ufeff"), _KIND, "cloudformation")
    )
    if not isinstance(template.value, dict) or not isinstance(template.value.get("Resources"), dict):
        raise template.error(f'this is no {_KIND}: it has no "Resources" at its top')
    return _Stack(template).blueprint(table)


class _Stack:
    """The resources of a template."""

    def __init__(self, template: Node) -> None:
        self.ask = Functions(template)
        self.found = Found(questions=self.ask.questions)
        self.resources: dict[str, tuple[str, Node]] = {}
        for name, node in template.at("Resources").members():
            if name.startswith("Fn::ForEach"):
                self.found.questions.append(f"{name[:60]} makes resources in a loop, which is not read")
                continue
            kind = node.at("Type")
            if kind.exists:
                self.resources[name] = kind.text(), node

    def of(self, *kinds: str) -> Iterator[tuple[str, Node, Node]]:
        """Yield resources of these types: their ids, and their properties as settings and as names."""
        for name, (kind, node) in self.resources.items():
            if kind in kinds:
                properties = node.at("Properties")
                yield name, self.ask.settings_in(properties), self.ask.names_in(properties)

    def blueprint(self, table: str | None) -> Blueprint:
        """Return the table that is asked for, and all that speaks of it."""
        ask = self.ask
        tables = [name for name, (kind, _) in self.resources.items() if kind in (_TABLE, _GLOBAL, _SIMPLE)]
        named = {self._name_of(logical): logical for logical in tables}
        ask.questions.clear()
        logical = chosen(dict.fromkeys(tables), named.get(table, table) if table is not None else None, _KIND)
        kind, resource = self.resources[logical]
        name = self._name_of(logical)
        if name is None:
            name = f"{{StackName}}-{logical}"
            ask.questions.append(f"the name of {logical}: CloudFormation makes one up from that of the stack")
        arn = f"arn:{{Partition}}:dynamodb:{{Region}}:{{AccountId}}:table/{name}"
        ask.names[logical] = {"": name, "Arn": arn, "StreamArn": f"{arn}/stream/*"}
        if resource.at("Condition").exists:
            ask.questions.append(
                f"{logical} is made while the condition {resource.at('Condition').text()} holds"
            )
        properties = resource.at("Properties")
        settings, names = ask.settings_in(properties), ask.names_in(properties)
        found = self._table(kind, name, settings, names)
        indexes = [*self._indexes(settings, is_local=False), *self._indexes(settings, is_local=True)]
        self._around(name)
        if kinesis := names.at("KinesisStreamSpecification").at("StreamArn").told():
            self.found.consumers.append(ConsumerBlueprint(kinesis, "kinesis"))
        return self.found.blueprint(logical, found, indexes, _KIND)

    def _name_of(self, logical: str) -> str | None:
        properties = self.resources[logical][1].at("Properties")
        return self.ask.names_in(properties.at("TableName")).told()

    # --- the table --------------------------------------------------------------------------------------

    def _table(self, kind: str, name: str, node: Node, names: Node) -> TableBlueprint:
        ask = self.ask
        # A global table says most settings for each replica.
        replicas = list(node.at("Replicas").each())
        own, own_names = node, names
        if kind == _GLOBAL and replicas:
            own, own_names = replicas[0], next(iter(names.at("Replicas").each()))
            if any(_without_region(each) != _without_region(own) for each in replicas):
                self.found.questions.append(
                    "replicas have settings of their own; those of the first are taken"
                )
        if unread := [each for each in node.mapping() if each not in _READ]:
            self.found.questions.append(f"not read of the table: {', '.join(unread)[:200]}")
        keys, types = _keys(kind, node)
        billing, capacity = self._billing(kind, node)
        customer_key = own_names.at("SSESpecification").at("KMSMasterKeyId").told()
        encrypted, key = encryption(
            customer_key, is_on=self.found.flag(node.at("SSESpecification").at("SSEEnabled"))
        )
        pitr = own.at("PointInTimeRecoverySpecification")
        days = self.found.whole(pitr.at("RecoveryPeriodInDays"))
        stream, ttl = node.at("StreamSpecification"), node.at("TimeToLiveSpecification")
        is_streaming = stream.exists and stream.at("StreamEnabled").value is not False
        has_ttl = not ttl.at("Enabled").exists or self.found.flag(ttl.at("Enabled"))
        values = {each: ask.values_of(each) for each in _PLACEHOLDER.findall(name)}
        regions = names.at("Replicas").each()
        return TableBlueprint(
            name=name,
            pk=keys[0],
            sk=keys[1] if len(keys) > 1 else None,
            types=types,
            billing=billing,
            capacity=capacity,
            table_class=own.at("TableClass").told() or "STANDARD",
            stream=(stream.at("StreamViewType").told() or "NEW_AND_OLD_IMAGES") if is_streaming else None,
            encryption=encrypted,
            key=key,
            pitr_days=(days or PITR_DAYS) if self.found.flag(pitr.at("PointInTimeRecoveryEnabled")) else None,
            deletion_protection=self.found.flag(own.at("DeletionProtectionEnabled")),
            ttl=ttl.at("AttributeName").told() if has_ttl else None,
            tags=self.found.tags(own_names.at("Tags")),
            regions=tuple(RegionBlueprint(each.need("Region").text(), is_replica=True) for each in regions),
            contributor_insights=self.found.flag(own.at("ContributorInsightsSpecification").at("Enabled")),
            environments={each: found for each, found in values.items() if found},
            scaling=dict(self._scaling(kind, node, own, name)),
        )

    def _billing(self, kind: str, node: Node) -> tuple[str, tuple[int, ...] | None]:
        capacity = self._capacity(node.at("ProvisionedThroughput"))
        # Unsaid, a table is provisioned, and one of SAM's is on demand unless it has units.
        unsaid = "PAY_PER_REQUEST" if kind == _SIMPLE and capacity is None else "PROVISIONED"
        return node.at("BillingMode").told() or unsaid, capacity

    def _capacity(self, units: Node) -> tuple[int, ...] | None:
        if not units.exists:
            return None
        reads, writes = (self.found.whole(units.at(f"{way}CapacityUnits")) for way in ("Read", "Write"))
        return None if reads is None or writes is None else (reads, writes)

    def _indexes(self, node: Node, *, is_local: bool) -> Iterator[IndexBlueprint]:
        for each in node.at("LocalSecondaryIndexes" if is_local else "GlobalSecondaryIndexes").each():
            keys = list(_schema(each.need("KeySchema")))
            projection = each.at("Projection")
            yield IndexBlueprint(
                name=each.need("IndexName").text(),
                pk=tuple(name for name, role in keys if role == "HASH"),
                sk=tuple(name for name, role in keys if role == "RANGE"),
                projection=projection.at("ProjectionType").told() or "KEYS_ONLY",
                included=projection.at("NonKeyAttributes").texts(),
                capacity=self._capacity(each.at("ProvisionedThroughput")),
                is_local=is_local,
            )

    # --- scaling ----------------------------------------------------------------------------------------

    def _scaling(
        self, kind: str, node: Node, own: Node, name: str
    ) -> Iterator[tuple[str, tuple[float, ...]]]:
        tracking = "TargetTrackingScalingPolicyConfiguration"
        if kind == _GLOBAL:
            for way, where in (("read", own), ("write", node)):
                member = f"{way.title()}ProvisionedThroughputSettings"
                limits = where.at(member).at(f"{way.title()}CapacityAutoScalingSettings")
                yield from self._limits(way, limits, limits.at(tracking).at("TargetValue"))
            return
        policies = {
            names.at("ScalingTargetId").told(): settings.at(tracking).at("TargetValue")
            for _, settings, names in self.of("AWS::ApplicationAutoScaling::ScalingPolicy")
        }
        for logical, settings, names in self.of("AWS::ApplicationAutoScaling::ScalableTarget"):
            target = policies.get(f"{{{logical}}}")
            if names.at("ResourceId").told() == f"table/{name}" and target is not None:
                dimension = settings.at("ScalableDimension").told() or ""
                yield from self._limits("read" if "Read" in dimension else "write", settings, target)

    def _limits(self, way: str, node: Node, target: Node) -> Iterator[tuple[str, tuple[float, ...]]]:
        limits = [
            self.found.number(each) for each in (node.at("MinCapacity"), node.at("MaxCapacity"), target)
        ]
        known = tuple(each for each in limits if each is not None)
        if len(known) == len(limits):
            yield way, known

    # --- around the table -------------------------------------------------------------------------------

    def _around(self, table: str) -> None:
        self._roles(table)
        for logical, settings, names in self.of("AWS::CloudWatch::Alarm"):
            self._alarm(logical, settings, names, table)
        for logical, settings, names in self.of("AWS::Lambda::EventSourceMapping"):
            name = names.at("FunctionName").told() or logical
            if _is_stream(names.at("EventSourceArn"), table):
                self._consumer(name, settings)
        for logical, settings, names in self.of(_FUNCTION):
            for event, properties in settings.at("Events").members():
                stream = names.at("Events").at(event).at("Properties").at("Stream")
                if properties.at("Type").value == "DynamoDB" and _is_stream(stream, table):
                    self._consumer(logical, properties.at("Properties"))
        for logical, _, names in self.of("AWS::Pipes::Pipe"):
            if _is_stream(names.at("Source"), table):
                self.found.consumers.append(ConsumerBlueprint(names.at("Name").told() or logical, "pipes"))

    def _roles(self, table: str) -> None:
        called = {
            logical: names.at("RoleName").told() or logical for logical, _, names in self.of("AWS::IAM::Role")
        }
        for logical, _, names in self.of("AWS::IAM::Role"):
            for policy in names.at("Policies").each():
                self.found.add_statements(called[logical], policy.at("PolicyDocument").value, table)
        kinds = ("Policy", "ManagedPolicy", "RolePolicy", "UserPolicy", "GroupPolicy")
        for logical, _, names in self.of(*(f"AWS::IAM::{kind}" for kind in kinds)):
            holders = list(names.at("Roles").texts()) or [names.at("RoleName").told() or logical]
            for holder in holders:
                role = called.get(holder.strip("{}"), holder)
                self.found.add_statements(role, names.at("PolicyDocument").value, table)
        for logical, _, names in self.of(_FUNCTION):
            policies = names.at("Policies").value
            for policy in policies if isinstance(policies, list) else [policies]:
                if isinstance(policy, dict):
                    self.found.add_statements(logical, _sam_document(policy), table)

    def _alarm(self, logical: str, node: Node, names: Node, table: str) -> None:
        metrics = [(node, names.at("Dimensions"))]
        for each, named in zip(node.at("Metrics").each(), names.at("Metrics").each(), strict=False):
            stat = each.at("MetricStat")
            metric = {**stat.mapping(), **stat.at("Metric").mapping(), "Statistic": stat.at("Stat").value}
            told = named.at("MetricStat").at("Metric").at("Dimensions")
            metrics.append((Node(metric, stat.path, stat.locate), told))
        for metric_node, listed in metrics:
            dimensions = {str(each.at("Name").value): str(each.at("Value").value) for each in listed.each()}
            if dimensions.get("TableName") != table:
                continue
            comparison = node.at("ComparisonOperator").told() or "GreaterThanThreshold"
            statistic = metric_node.at("Statistic")
            actions = names.at("AlarmActions").value
            self.found.alarms.append(
                AlarmBlueprint(
                    name=names.at("AlarmName").told() or logical,
                    metric=metric_node.at("MetricName").told() or "",
                    namespace=metric_node.at("Namespace").told() or "AWS/DynamoDB",
                    dimensions=dimensions,
                    statistic=statistic.told() or metric_node.at("ExtendedStatistic").told() or "",
                    comparison=COMPARISONS.get(comparison, comparison),
                    threshold=self.found.number(node.at("Threshold")),
                    unit=metric_node.at("Unit").told() or "",
                    period_s=self.found.number(metric_node.at("Period")),
                    periods=self.found.whole(node.at("EvaluationPeriods")),
                    actions=tuple(map(str, actions)) if isinstance(actions, list) else (),
                    about=node.at("AlarmDescription").told() or "",
                )
            )

    def _consumer(self, name: str, node: Node) -> None:
        # A function that is a resource of the template has its logical id.
        called = name[1:-1].removesuffix(".Arn") if re.fullmatch(r"\{[^{}]*\}", name) else name
        filters = [each.at("Pattern").value for each in node.at("FilterCriteria").at("Filters").each()]
        self.found.consumers.append(
            ConsumerBlueprint(
                name=called,
                handlers=handler(called, filters),
                batch_size=self.found.whole(node.at("BatchSize")),
                parallelization=self.found.whole(node.at("ParallelizationFactor")),
                has_dead_letters=node.at("DestinationConfig").at("OnFailure").exists,
            )
        )


def _without_region(replica: Node) -> dict[str, Any]:
    return {name: value for name, value in replica.mapping().items() if name != "Region"}


def _keys(kind: str, node: Node) -> tuple[list[str], dict[str, str]]:
    if kind == _SIMPLE:
        key = node.at("PrimaryKey")
        name = key.at("Name").told() or "id"
        return [name], {name: (key.at("Type").told() or "String")[:1]}
    types: dict[str, str] = {}
    for each in node.at("AttributeDefinitions").each():
        types[each.need("AttributeName").text()] = each.need("AttributeType").text()
    found = {role: name for name, role in _schema(node.need("KeySchema"))}
    if "HASH" not in found:
        raise node.error(f"{node.shown}.KeySchema has no key of the type HASH")
    return [found["HASH"], *([found["RANGE"]] if "RANGE" in found else [])], types


def _schema(node: Node) -> Iterator[tuple[str, str]]:
    for each in node.each():
        yield each.need("AttributeName").text(), each.need("KeyType").text()


def _is_stream(arn: Node, table: str) -> bool:
    return f"table/{table}/stream/" in (arn.told() or "")


def _sam_document(policy: dict[str, Any]) -> dict[str, Any]:
    """Return a policy of a SAM function as a document: it may be a template of SAM's with the name of a table."""
    if "Statement" in policy:
        return policy
    statements = []
    for name, argument in policy.items():
        table = argument.get("TableName") if isinstance(argument, dict) else None
        if name in _SAM_POLICIES and isinstance(table, str):
            arn = f"arn:{{Partition}}:dynamodb:{{Region}}:{{AccountId}}:table/{table}"
            parts = ("/stream/*",) if "Stream" in name else ("", "/index/*")
            statements.append(
                {
                    "Sid": name,
                    "Effect": "Allow",
                    "Action": [f"dynamodb:{action}" for action in _SAM_POLICIES[name]],
                    "Resource": [arn + part for part in parts],
                }
            )
    return {"Statement": statements}
