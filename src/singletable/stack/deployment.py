"""The place of a table on AWS: region and account, and the environment in its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Deployment:
    """One place where a design runs."""

    region: str
    account: str
    environment: Mapping[str, str] = field(default_factory=dict)
    partition: str = "aws"

    def table_name(self, template: str) -> str:
        """Return the name of the table here: the template with the values of the environment."""
        return template.format(**self.environment)

    def table_arn(self, table: str) -> str:
        """Return the ARN of a table here."""
        return f"arn:{self.partition}:dynamodb:{self.region}:{self.account}:table/{table}"
