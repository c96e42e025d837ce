"""The pieces of a stack: roles, policies and alarms of a design on AWS, as data. Nothing here calls AWS.

deployment.py  the place of a table: region, account, and the environment in its name
policies.py    IAM policies: documents as AWS takes them, and whether they allow a call
roles.py       reader, writer, consumer and maintenance, made from a design's access patterns
metrics.py     the metrics that DynamoDB has in CloudWatch, with their dimensions
alarms.py      alarms on them: requests as CloudWatch takes them, and a check of their metrics
described.py   roles and alarms as blueprints
"""

from __future__ import annotations

from singletable.stack.alarms import Alarm, Series, standard_alarms
from singletable.stack.deployment import Deployment
from singletable.stack.described import (
    alarm_blueprint,
    anywhere,
    role_blueprint,
    with_roles_and_alarms,
)
from singletable.stack.metrics import METRICS, Metric
from singletable.stack.policies import Policy, Statement
from singletable.stack.roles import Roles, roles_of

__all__ = [
    "METRICS",
    "Alarm",
    "Deployment",
    "Metric",
    "Policy",
    "Roles",
    "Series",
    "Statement",
    "alarm_blueprint",
    "anywhere",
    "role_blueprint",
    "roles_of",
    "standard_alarms",
    "with_roles_and_alarms",
]
