"""The stacks of a region or an endpoint, as CloudFormation has them, through boto3."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from singletable.errors import Boto3MissingError


@dataclass(frozen=True, slots=True)
class DeployedStack:
    """A stack that is there: how its last deployment has ended, and its template, as a text if it is no JSON."""

    status: str
    template: Mapping[str, Any] | str

    @property
    def is_settled(self) -> bool:
        """Whether it is as its template says: its last deployment has succeeded, or was undone."""
        return self.status in (
            "CREATE_COMPLETE",
            "UPDATE_COMPLETE",
            "IMPORT_COMPLETE",
            "UPDATE_ROLLBACK_COMPLETE",
        )


class NoStacksError(Exception):
    """An endpoint that is not of AWS has no CloudFormation."""


def deployed_stack(name: str, *, region: str, url: str | None = None) -> DeployedStack | None:
    """Return a stack of a region, or of an endpoint; None if it is not there."""
    try:
        from singletable.client.boto_errors import RAISED, translated
        from singletable.client.connecting import connect_endpoint, connect_region, is_aws
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "botocore":
            raise
        raise Boto3MissingError(
            "CloudFormation is asked with boto3, which is not installed",
            hint='pip install "singletable[boto3]"',
        ) from error
    connection = connect_region(region, None) if url is None else connect_endpoint(url, region)
    try:
        client = connection.client("cloudformation")
        (described,) = client.describe_stacks(StackName=name)["Stacks"]
        body = client.get_template(StackName=name, TemplateStage="Original")["TemplateBody"]
    except RAISED as error:
        # "ValidationError ... Stack with id ... does not exist" (DescribeStacks), and no code of its own.
        if hasattr(error, "response") and "does not exist" in str(error):
            return None
        if url is not None and not is_aws(url):
            raise NoStacksError from error
        raise translated(error, f"CloudFormation in {region}") from error
    return DeployedStack(described["StackStatus"], _template(body))


def _template(body: Any) -> Mapping[str, Any] | str:
    """Return a template, which boto3 reads itself in most cases; the text of one in YAML, as SAM brings it."""
    if isinstance(body, Mapping):
        return body
    try:
        found = json.loads(body)
    except ValueError:
        return str(body)
    return found if isinstance(found, Mapping) else str(body)
