"""The stack of a design on AWS, as data and as templates. Only check.py asks AWS, and nothing here changes it.

options.py     the place of a table: region, account, the environment in its name; what a stage decides
policies.py    IAM policies: documents as AWS takes them, and whether they allow a call
roles.py       reader, writer, consumer, maintenance and owner, made from a design's access patterns
metrics.py     the metrics of CloudWatch that are watched, with their dimensions
alarms.py      alarms on them: requests as CloudWatch takes them, and a check of their metrics
described.py   roles and alarms as blueprints
resources.py   a whole stack as neutral data: a class for each kind of resource
make.py        makes one from a blueprint: tables.py; trusted.py and deployer.py for its roles
cloudformation.py  a stack as a template of CloudFormation or SAM (table_templates.py, template_values.py)
terraform.py   a stack as a Terraform configuration (terraform_tables.py, terraform_values.py; hcl.py writes HCL)
changes.py     what a new template changes, and what that takes away
check.py       whether what is deployed is as the design says
files.py       the files of each format, written all or none, and read again
parts.py       all that stands around a table: functions.py with filters.py, schedules.py, backups.py,
               dashboard.py; watching.py and planned_alarms.py for alarms with actions; names.py cuts names
deployable.py  all of it for a system, a design or a blueprint, and what to run next
packaging.py   the code of a design as a zip for AWS Lambda (reached.py: the modules that go along)
"""

from __future__ import annotations

from singletable.stack.alarms import Alarm, Series, standard_alarms
from singletable.stack.changes import TemplateChange, changes_between, refuse_losses
from singletable.stack.check import Checked, check
from singletable.stack.cloudformation import template_text, to_cloudformation, to_sam
from singletable.stack.deployable import Deployable, NextCommand, deployable, next_commands
from singletable.stack.described import (
    alarm_blueprint,
    anywhere,
    role_blueprint,
    with_roles_and_alarms,
)
from singletable.stack.files import stack_files, write_files
from singletable.stack.make import make_stack, make_stacks
from singletable.stack.metrics import METRICS, Metric
from singletable.stack.options import Deployment, StackOptions
from singletable.stack.packaging import Package
from singletable.stack.policies import Policy, Statement
from singletable.stack.resources import Stack
from singletable.stack.roles import Roles, roles_of
from singletable.stack.terraform import to_terraform

__all__ = [
    "METRICS",
    "Alarm",
    "Checked",
    "Deployable",
    "Deployment",
    "Metric",
    "NextCommand",
    "Package",
    "Policy",
    "Roles",
    "Series",
    "Stack",
    "StackOptions",
    "Statement",
    "TemplateChange",
    "alarm_blueprint",
    "anywhere",
    "changes_between",
    "check",
    "deployable",
    "make_stack",
    "make_stacks",
    "next_commands",
    "refuse_losses",
    "role_blueprint",
    "roles_of",
    "stack_files",
    "standard_alarms",
    "template_text",
    "to_cloudformation",
    "to_sam",
    "to_terraform",
    "with_roles_and_alarms",
    "write_files",
]
