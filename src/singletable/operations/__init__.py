"""How a design is operated on AWS, as data: who may do what, and what wakes somebody up.

deployment.py  where a table is: region, account, and the environment that its name tells
policies.py    IAM policies: documents as AWS takes them, and whether they allow a call
roles.py       reader, writer, consumer and maintenance, made from a design's access patterns
metrics.py     the metrics that DynamoDB has in CloudWatch, with their dimensions
alarms.py      alarms on them: requests as CloudWatch takes them, and what is wrong with them
"""

from __future__ import annotations

from singletable.operations.alarms import Alarm, Series, standard_alarms
from singletable.operations.deployment import Deployment
from singletable.operations.metrics import METRICS, Metric
from singletable.operations.policies import Policy, Statement
from singletable.operations.roles import Roles, roles_of

__all__ = [
    "METRICS",
    "Alarm",
    "Deployment",
    "Metric",
    "Policy",
    "Roles",
    "Series",
    "Statement",
    "roles_of",
    "standard_alarms",
]
