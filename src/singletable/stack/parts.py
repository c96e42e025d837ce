"""All that stands around the table of a design: its functions, schedules, alarms, dashboard and backups.

`make_stacks` puts them into stacks. Without a package there are no functions: a blueprint alone has no code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from singletable.blueprint import Blueprint
from singletable.errors import StackError
from singletable.stack.alarms import Alarm as AlarmRule
from singletable.stack.backups import backups_of
from singletable.stack.dashboard import Watched, dashboard_of
from singletable.stack.functions import FunctionSettings, stream_function
from singletable.stack.names import LENGTH_MAX, logical_id
from singletable.stack.options import StackOptions, table_name
from singletable.stack.packaging import Architecture, Package, Progress, package
from singletable.stack.planned_alarms import backup_alarm, function_alarms, planned_alarms, schedule_alarm
from singletable.stack.policies import Statement
from singletable.stack.resources import (
    Attribute,
    Bucket,
    Code,
    Parameter,
    Ref,
    Resource,
    Stack,
    Sub,
    Text,
)
from singletable.stack.roles import roles_of
from singletable.stack.schedules import group_name, scheduled_workers, schedules_role_name, workers_name
from singletable.stack.tables import TABLE, table_of
from singletable.stack.trusted import key_use
from singletable.stack.watching import alarm_resources, alarm_topic, billing_rules, billing_stack
from singletable.systems import System, bucket_name

CODE_BUCKET: Final = "CodeBucket"
CODE_FILE: Final = "function.zip"


@dataclass(frozen=True, slots=True)
class Parts:
    """What a stack has beside its table and roles."""

    resources: tuple[Resource, ...]
    parameters: tuple[Parameter, ...] = ()
    consuming: tuple[Statement, ...] = ()
    """What the role of the stream's function needs beside the table."""
    billing: Stack | None = None
    """The alarms on the bill: a stack of its own, in the region of the bill."""


def package_of(
    system: System,
    reference: str,
    *,
    site: Path | None = None,
    runtime: str | None = None,
    architecture: Architecture = "x86_64",
    progress: Progress | None = None,
) -> Package:
    """Make the package of a system's functions. The reference says where it is: "shop.system:SYSTEM".

    The rest is as for `package`.
    """
    prepare = system.prepare
    return package(
        system.design,
        system=reference if system.scheduled else None,
        prepare=None if prepare is None else f"{prepare.__module__}:{prepare.__qualname__}",
        site=site,
        runtime=runtime,
        architecture=architecture,
        progress=progress,
    )


def needs_functions(blueprint: Blueprint, system: System | None) -> bool:
    """Tell whether a design has code to run on AWS: handlers of its stream, or scheduled workers."""
    return _is_followed(blueprint) or bool(system is not None and system.scheduled)


def _is_followed(blueprint: Blueprint) -> bool:
    return bool(blueprint.consumers) and blueprint.table.stream is not None


def parts_of(
    blueprint: Blueprint,
    options: StackOptions,
    *,
    package: Package | None = None,
    system: System | None = None,
    emails: tuple[Text, ...] = (),
    users: float | None = None,
) -> Parts:
    """Make all parts around a design's table. Alarms tell the addresses; the plan is that of so many users."""
    made = _Maker(_in_order(blueprint), options)
    if package is not None:
        made.add_functions(package, system)
    made.add_backups()
    return made.parts(emails, users)


def _in_order(blueprint: Blueprint) -> Blueprint:
    """Return a blueprint in the order of names, P2 before P10: that of declarations does not change a stack."""
    return replace(
        blueprint,
        indexes=tuple(sorted(blueprint.indexes, key=lambda each: _natural(each.name))),
        entities=tuple(sorted(blueprint.entities, key=lambda each: _natural(each.name))),
        patterns=tuple(sorted(blueprint.patterns, key=lambda each: _natural(f"{each.number} {each.title}"))),
    )


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    return tuple((int(digits or 0), text) for digits, text in re.findall(r"(\d+)|(\D+)", name))


def _refuse_bucket(name: str) -> None:
    most = LENGTH_MAX["bucket"]
    if not re.fullmatch(rf"[a-z0-9][a-z0-9-]{{1,{most - 1}}}", name):
        raise StackError(
            f"the bucket would be named {name}, of {len(name)} characters",
            hint=f"S3 takes {most}: small letters, digits and dashes; give the table or the stage another name",
        )


class _Maker:
    """Collects the parts of a stack, and the alarms and names that follow from each."""

    def __init__(self, blueprint: Blueprint, options: StackOptions) -> None:
        self._blueprint = blueprint
        self._options = options
        self._table = table_name(blueprint, options.environment)
        self._tags = {**blueprint.table.tags, **options.tags}
        self._found: list[Resource] = []
        self._bucket_names: dict[str, Text] = {}  # by environment variable
        self._rules: list[AlarmRule] = []
        self._consuming: tuple[Statement, ...] = ()
        self._parameters: tuple[Parameter, ...] = ()
        self._watched = Watched()

    def add_functions(self, package: Package, system: System | None) -> None:
        """Add the function of the stream's handlers, and that of scheduled workers."""
        if not needs_functions(self._blueprint, system):
            return
        self._parameters = (Parameter(CODE_BUCKET, "The bucket that the package of the functions is in"),)
        if system is not None:
            self._add_buckets(system)
        settings = self._settings(package, {} if system is None else system.variables)
        if _is_followed(self._blueprint):
            self._add_consumer(settings)
        if system is not None and system.scheduled:
            self._add_workers(system, settings)

    def _settings(self, package: Package, variables: Mapping[str, str]) -> FunctionSettings:
        return FunctionSettings(
            # Named by its content: a stack with another package is another one to CloudFormation.
            Code(CODE_FILE, Ref(CODE_BUCKET), f"{self._table}/{package.digest}.zip"),
            package.runtime,
            package.architecture,
            environment=self._options.environment,
            variables={**self._bucket_names, **self._named(variables)},
            tags=self._tags,
        )

    def _named(self, variables: Mapping[str, str]) -> dict[str, Text]:
        """Fill in the names of what a stack has. They are no references: a function would refer to itself."""
        place, partition, account = self._options.region, "${AWS::Partition}", "${AWS::AccountId}"
        role = schedules_role_name(self._table, place)
        names = {
            "table": self._table,
            "schedule_group": group_name(self._table),
            "schedules_role": f"arn:{partition}:iam::{account}:role/{role}",
            "workers": f"arn:{partition}:lambda:{place}:{account}:function:{workers_name(self._table)}",
        }
        return {name: Sub(value.format(**names)) for name, value in variables.items()}

    def _add_buckets(self, system: System) -> None:
        for each in system.buckets:
            name = bucket_name(
                each.name, table=self._table, account="${AWS::AccountId}", region=self._options.region
            )
            _refuse_bucket(name.replace("${AWS::AccountId}", "0" * 12))
            bucket = Bucket(logical_id(f"{each.name.title()}Bucket"), Sub(name), tags=self._tags)
            self._found.append(bucket)
            self._bucket_names[each.variable] = Ref(bucket.logical_id)

    def _add_consumer(self, settings: FunctionSettings) -> None:
        made = stream_function(
            self._blueprint,
            self._blueprint.consumers[0],
            table=self._table,
            table_id=TABLE,
            role=Attribute("ConsumerRole", "Arn"),
            settings=settings,
        )
        self._found += made.resources()
        self._consuming = made.statements()
        self._rules += function_alarms(made.function.name, reads_stream=True, failures=made.failures.name)
        self._watched = replace(
            self._watched, function=made.function.name, queues=(*self._watched.queues, made.failures.name)
        )

    def _add_workers(self, system: System, settings: FunctionSettings) -> None:
        made = scheduled_workers(
            system.scheduled,
            table=self._table,
            region=self._options.region,
            allowed=(
                *roles_of(self._blueprint, self._options.deployment()).writer.statements,
                *key_use(table_of(self._blueprint, self._options), self._options),
            ),
            settings=settings,
        )
        self._found += made.resources()
        self._rules += function_alarms(made.function.name, reads_stream=False, failures=made.failures.name)
        self._rules.append(schedule_alarm(made.group.name))
        self._watched = replace(
            self._watched, workers=made.function.name, queues=(*self._watched.queues, made.failures.name)
        )

    def add_backups(self) -> None:
        """Add the plan of AWS Backup, where the blueprint has one for this stage."""
        made = backups_of(
            self._blueprint,
            table=self._table,
            table_id=TABLE,
            region=self._options.region,
            environment=self._options.environment,
            tags=self._tags,
        )
        if made is not None:
            self._found += made.resources()
            self._rules.append(backup_alarm(made.plan.vault))

    def parts(self, emails: tuple[Text, ...], users: float | None) -> Parts:
        """Return all parts, with the alarms of the table and the dashboard of all."""
        planned = planned_alarms(self._of_stage(), self._options.deployment(), users=users)
        alarms = alarm_resources((*planned, *self._rules), table=self._table, tags=self._tags)
        watched = replace(self._watched, alarms=tuple(each.rule.name for each in alarms))
        return Parts(
            (
                *self._found,
                alarm_topic(self._table, emails=emails, tags=self._tags),
                *alarms,
                dashboard_of(self._blueprint, table=self._table, watched=watched, users=users),
            ),
            self._parameters,
            self._consuming,
            billing_stack(
                billing_rules(self._blueprint, self._options),
                table=self._table,
                emails=emails,
                tags=self._tags,
            ),
        )

    def _of_stage(self) -> Blueprint:
        """Return the blueprint with the billing of the stage, from which thresholds of capacity follow."""
        table = self._blueprint.table
        billing = self._options.billing or table.billing
        capacity = self._options.capacity or table.capacity
        return replace(self._blueprint, table=replace(table, billing=billing, capacity=capacity))
