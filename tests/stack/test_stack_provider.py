"""Terraform's own tools on configurations: hclfmt, and the schema of the AWS provider (make test-terraform).

The schema is that of cdktf-cdktf-provider-aws, which is made from the provider's, and tells every argument with
the page of the registry that describes it.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from singletable.stack import Stack, StackOptions, make_stack, make_stacks
from singletable.stack.files import template_of
from singletable.stack.terraform import is_of_cloudformation, to_terraform
from singletable.systems import installed_systems
from support import stack_kinds, whole_stacks
from support.stack_blueprints import made_up

pytestmark = pytest.mark.terraform

PROVIDER = "cdktf-cdktf-provider-aws==21.22.1"  # of the provider 6.25.0
HCLFMT = "github.com/hashicorp/hcl/v2/cmd/hclfmt@v2.24.0"
REGION = "eu-north-1"
NUMBERS = range(30)
OF_TERRAFORM = {"lifecycle", "depends_on", "provider", "count", "for_each"}
# Of a later provider than the schema's, which the configuration then asks for.
LATER = {"aws_dynamodb_table.global_secondary_index.key_schema"}

Type = dict[str, Any]


def stacks() -> Iterator[Stack]:
    """Yield the stacks of all systems with all parts, one with every kind of resource, and thirty made up."""
    options = StackOptions(REGION, {"stage": "prod", "environment": "prod"})
    for name, system in installed_systems().items():
        yield whole_stacks.whole_stack(name)
        yield from make_stacks(system.blueprint(), options)[2:]
    yield stack_kinds.whole_stack()
    yield from (make_stack(made_up(number), options) for number in NUMBERS)
    several = replace(options, replicas=("eu-west-1",))
    design = made_up(1)
    table = replace(design.table, stream="NEW_AND_OLD_IMAGES", pitr_days=35, encryption="AWS_OWNED")
    yield make_stack(replace(design, table=table), several)


# --- the schema ------------------------------------------------------------------------------------------


class Schema:
    """The types of the provider's resources and data sources, by the page of each in the registry."""

    def __init__(self, types: dict[str, Type]) -> None:
        self._types = types
        self._configs: dict[str, Type] = {}
        for each in types.values():
            if "cdktf.TerraformMetaArguments" in each.get("interfaces", ()):
                page = next((found[1] for found in map(_argument, each.get("properties", ())) if found), None)
                if page is not None:
                    self._configs.setdefault(page, each)

    def wrong(self, kind: str, given: dict[str, Any]) -> list[str]:
        """Name the arguments that a resource does not have, or lacks."""
        found = self._configs.get(f"resources/{kind.removeprefix('aws_')}")
        return [f"there is no resource {kind}"] if found is None else [*self._wrong(found, given, kind)]

    def _wrong(self, of: Type, given: dict[str, Any], where: str) -> Iterator[str]:
        known = {found[2]: each for each in of["properties"] if (found := _argument(each))}
        for name, value in given.items():
            place = f"{where}.{name}"
            if place in LATER or (name in OF_TERRAFORM and "." not in where):
                continue
            if name not in known:
                yield f"{place} is unknown"
                continue
            inner = self._inner(known[name]["type"])
            for each in value if isinstance(value, list) else [value]:
                if inner is not None and isinstance(each, dict):
                    yield from self._wrong(inner, each, place)
        for name, each in known.items():
            is_said_otherwise = name == "hash_key" and "key_schema" in given  # as later providers take it
            if not each.get("optional") and name not in given and not is_said_otherwise:
                yield f"{where}.{name} is missing"

    def _inner(self, kind: Type) -> Type | None:
        """Return the type of a block; None for a plain value."""
        names = re.findall(r'"fqn": "(@cdktf/provider-aws\.[^"]+)"', json.dumps(kind))
        return self._types[names[0]] if names else None

    def has_attribute(self, kind: str, name: str, *, is_data: bool) -> bool:
        """Tell whether a resource or a data source tells an attribute."""
        page = f"{'data-sources' if is_data else 'resources'}/{kind.removeprefix('aws_')}"
        config = self._configs.get(page)
        if config is None:
            return False
        of = self._types[config["fqn"].removesuffix("Config")]
        camel = re.sub(r"_([a-z])", lambda found: found[1].upper(), name)
        return any(each["name"] == camel for each in of["properties"])


def _argument(member: Type) -> re.Match[str] | None:
    """Return the page of the registry that tells of an argument, and its name there."""
    docs = member.get("docs", {})
    told = f"{docs.get('summary', '')} {docs.get('remarks', '')}"
    return re.search(r"/docs/((?:resources|data-sources)/\w+)#(\w+) ", told)


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    folder = tmp_path_factory.mktemp("provider")
    line = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), PROVIDER]
    subprocess.run(line, check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".jsii.tgz"))
        packed = io.BytesIO(archive.read(name))
    with tarfile.open(fileobj=packed, mode="r:gz") as inner:
        member = inner.extractfile("package/.jsii")
        assert member is not None
        return Schema(json.load(member)["types"])


def test_every_argument_and_attribute_is_one_of_the_provider_s(schema: Schema) -> None:
    wrong: list[str] = []
    seen = set()
    for stack in stacks():
        for address, each in template_of(stack, "terraform")["Resources"].items():
            seen.add(each["Type"])
            wrong += [
                f"{stack.name}: {address}: {what}" for what in schema.wrong(each["Type"], each["Properties"])
            ]
        text = to_terraform(stack)["main.tf"]
        for data, kind, attribute in re.findall(r"(?<![\w.])(data\.)?(aws_\w+)\.\w+\.(\w+)", text):
            if not schema.has_attribute(kind, attribute, is_data=bool(data)):
                wrong.append(f"{stack.name}: {kind} tells no {attribute}")
    assert wrong == []
    assert len(seen) >= 25


def test_argument_that_the_provider_does_not_have_is_found(schema: Schema) -> None:
    assert schema.wrong("aws_sqs_queue", {"nam": "q"}) == ["aws_sqs_queue.nam is unknown"]
    assert schema.wrong("aws_nothing", {}) == ["there is no resource aws_nothing"]
    table = {"name": "t", "ttl": [{"attribut_name": "a"}]}
    assert schema.wrong("aws_dynamodb_table", table) == ["aws_dynamodb_table.ttl.attribut_name is unknown"]
    assert "aws_lambda_function.role is missing" in schema.wrong("aws_lambda_function", {})
    assert not schema.has_attribute("aws_sqs_queue", "nothing", is_data=False)


# --- the layout ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hclfmt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("go")
    subprocess.run(["go", "install", HCLFMT], env={**os.environ, "GOBIN": str(folder)}, check=True)
    return folder / "hclfmt"


def test_configurations_are_laid_out_as_hclfmt_does(hclfmt: Path, tmp_path: Path) -> None:
    for number, stack in enumerate(stacks()):
        assert not is_of_cloudformation(stack)
        for name, text in to_terraform(stack).items():
            file = tmp_path / f"{number}-{name}"
            file.write_text(text, encoding="utf-8")
            laid_out = subprocess.run([str(hclfmt), str(file)], check=True, capture_output=True).stdout
            assert laid_out.decode() == text
