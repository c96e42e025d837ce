"""Is what is deployed as the design says? The table is described by the target, the rest by its stacks' templates.

CloudFormation keeps the template that a stack was deployed with, and tells it. Terraform keeps a state of its own,
with which `terraform plan` compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from singletable.blueprint.foreign.yaml_text import yaml_node
from singletable.blueprint.forms import BlueprintError
from singletable.client import Capabilities, open_client
from singletable.client.cloudformation import NoStacksError, deployed_stack
from singletable.design.model.declarations import Projection
from singletable.design.tables.definition import IndexDefinition, TableDefinition, found_table
from singletable.design.tables.drift import differences, unsupported
from singletable.stack.changes import changes_between
from singletable.stack.files import Format, template_of
from singletable.stack.resources import Capacity, Index, Scaling, Stack, Table

# What packaging puts in the place of the code, which SAM does with each deployment.
_OF_PACKAGING: Final = ("CodeUri",)


@dataclass(frozen=True, slots=True)
class Found:
    """One difference between a design and what is deployed: where, and what."""

    where: str  # the table, or the name of a stack
    says: str

    def __str__(self) -> str:
        return f"{self.where}: {self.says}"


@dataclass(frozen=True, slots=True)
class Checked:
    """All differences, and what could not be compared."""

    differences: tuple[Found, ...]
    not_compared: tuple[str, ...]


def check(
    stacks: Sequence[Stack], target: str, form: Format, *, capabilities: Capabilities | None = None
) -> Checked:
    """Compare stacks with what a region of AWS (its code) or an endpoint (its URL) has. Nothing is changed."""
    is_url = "://" in target
    address = target if is_url else f"dynamodb://{target}"
    (table,) = (each for each in stacks[0].resources if isinstance(each, Table))
    with open_client(address, capabilities=capabilities) as client:
        there = client.run(found_table(table.name, client.capabilities))
        known = client.capabilities
    if there is None:
        found = [Found(table.name, "there is no such table")]
        missing: list[str] = []
    else:
        declared = scaled(defined(table), table, there)
        found = [Found(table.name, str(each)) for each in differences(declared, there, known)]
        missing = [f"{table.name}: {each}" for each in unsupported(declared, known)]
    if form == "terraform":
        missing.append("what stands around the table: terraform plan compares it")
        return Checked(tuple(found), tuple(missing))
    for stack in stacks:
        region = stack.region if is_url or stack.region != stacks[0].region else target
        try:
            found += _of_stack(stack, form, region, target if is_url else None)
        except NoStacksError:
            missing.append("what stands around the table: the target has no CloudFormation")
            break
        except BlueprintError as error:
            missing.append(f"{stack.name}: {error}")
    return Checked(tuple(found), tuple(missing))


def _of_stack(stack: Stack, form: Format, region: str, url: str | None) -> Iterator[Found]:
    there = deployed_stack(stack.name, region=region, url=url)
    if there is None:
        yield Found(stack.name, f"there is no such stack in {region}")
        return
    if not there.is_settled:
        yield Found(stack.name, f"its last deployment has ended in {there.status}")
    # What sam deploy brings is in YAML, whatever it was given.
    old = there.template if isinstance(there.template, Mapping) else _read_yaml(there.template)
    if "Resources" not in old:
        yield Found(stack.name, "it was deployed with another template")
        return
    for change in changes_between(old, template_of(stack, form)):
        if change.path not in _OF_PACKAGING:
            yield Found(stack.name, str(change))


def _read_yaml(text: str) -> Mapping[str, Any]:
    found = yaml_node(text, "template", "cloudformation").value
    return found if isinstance(found, Mapping) else {}


# --- the table --------------------------------------------------------------------------------------------------


def defined(table: Table) -> TableDefinition:
    """Return the table of a stack as what a target describes is compared with: with the stage's own billing."""
    return TableDefinition(
        name=table.name,
        pk=table.pk,
        sk=table.sk,
        attribute_types=table.types,
        indexes=tuple(map(_index, table.indexes)),
        billing="PAY_PER_REQUEST" if table.capacity is None else "PROVISIONED",
        capacity=_units(table.capacity),
        stream="NEW_AND_OLD_IMAGES" if table.replicas else table.stream,
        # The target tells the ARN of a key, and not whose it is; the stack's is a parameter or an alias.
        encryption="AWS_OWNED" if table.encryption == "AWS_OWNED" else "AWS_MANAGED",
        deletion_protection=table.deletion_protection,
        ttl=table.ttl,
        pitr_days=table.pitr_days,
        tags=table.tags,
    )


def _index(index: Index) -> IndexDefinition:
    projection: Projection = tuple(sorted(index.included))
    if index.projection in ("ALL", "KEYS_ONLY"):
        projection = "ALL" if index.projection == "ALL" else "KEYS_ONLY"
    return IndexDefinition(index.name, index.pk, index.sk, projection, _units(index.capacity), index.is_local)


def _units(capacity: Capacity | None) -> tuple[int, int] | None:
    return None if capacity is None else (capacity.read_units, capacity.write_units)


def scaled(declared: TableDefinition, table: Table, there: TableDefinition) -> TableDefinition:
    """Take units that auto scaling has set, within its bounds, for declared."""
    indexes = []
    for index, made in zip(table.indexes, declared.indexes, strict=True):
        found = there.index(index.name)
        units = None if found is None else found.capacity
        indexes.append(replace(made, capacity=_within(index.capacity, units)))
    return replace(declared, capacity=_within(table.capacity, there.capacity), indexes=tuple(indexes))


def _within(capacity: Capacity | None, found: tuple[int, int] | None) -> tuple[int, int] | None:
    if capacity is None or found is None:
        return _units(capacity)
    read = _chosen(capacity.read_units, capacity.read_scaling, found[0])
    return read, _chosen(capacity.write_units, capacity.write_scaling, found[1])


def _chosen(units: int, scaling: Scaling | None, found: int) -> int:
    is_scaled = scaling is not None and scaling.units_min <= found <= scaling.units_max
    return found if is_scaled else units
