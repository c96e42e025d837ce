"""Terraform as blueprints: HCL, states and plans in JSON, and files that are none."""

from __future__ import annotations

import builtins
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable.blueprint import (
    BlueprintError,
    ConsumerBlueprint,
    HandlerBlueprint,
    IndexBlueprint,
    RegionBlueprint,
    StatementBlueprint,
)
from singletable.blueprint.foreign.terraform import from_terraform

Data = dict[str, Any]
ARN = "arn:{Partition}:dynamodb:{Region}:{AccountId}:table/"

WHOLE = """
variable "env" {
  type    = string
  default = "dev"
  validation {
    condition     = contains(["dev", "prod"], var.env)
    error_message = "dev or prod"
  }
}
variable "keep" { default = true }
variable "reads" { type = number }
locals {
  prefix = "shop-${var.env}"
  tags   = { Team = "core", Env = var.env }
}
resource "aws_dynamodb_table" "orders" {
  name                        = "${local.prefix}-orders"
  billing_mode                = var.env == "prod" ? "PROVISIONED" : "PAY_PER_REQUEST"
  read_capacity               = 5
  write_capacity              = "6"
  hash_key                    = "PK"
  range_key                   = "SK"
  stream_enabled              = true
  stream_view_type            = "NEW_IMAGE"
  deletion_protection_enabled = true
  table_class                 = "STANDARD_INFREQUENT_ACCESS"
  restore_date_time           = "2025-01-01"
  attribute {
    name = "PK"
    type = "S"
  }
  attribute {
    name = "at"
    type = "N"
  }
  global_secondary_index {
    name               = "GSI1"
    hash_key           = "SK"
    range_key          = "PK"
    projection_type    = "INCLUDE"
    non_key_attributes = ["a", "b"]
    read_capacity      = var.reads
    write_capacity     = 1
  }
  global_secondary_index {
    name            = "GSI2"
    hash_key        = "SK"
    projection_type = "ALL"
    read_capacity   = 1
    write_capacity  = 2
  }
  local_secondary_index {
    name            = "ByTime"
    range_key       = "at"
    projection_type = "KEYS_ONLY"
  }
  dynamic "replica" {
    for_each = var.regions
    content { region_name = replica.value }
  }
  replica { region_name = "eu-west-1" }
  server_side_encryption {
    enabled     = true
    kms_key_arn = aws_kms_key.mine.arn
  }
  point_in_time_recovery {
    enabled                 = var.keep
    recovery_period_in_days = 14
  }
  ttl {
    attribute_name = "expires"
    enabled        = true
  }
  tags = merge(local.tags, { Name = "orders" })
}
"""

AROUND = """
resource "aws_dynamodb_table" "orders" {
  name     = "orders"
  hash_key = "PK"
  attribute {
    name = "PK"
    type = "S"
  }
}
data "aws_iam_policy_document" "app" {
  statement {
    sid       = "Read"
    actions   = ["dynamodb:GetItem"]
    resources = [aws_dynamodb_table.orders.arn, "${aws_dynamodb_table.orders.arn}/index/*"]
    condition {
      test     = "ForAllValues:StringEquals"
      variable = "dynamodb:LeadingKeys"
      values   = ["x"]
    }
  }
}
resource "aws_iam_role" "app" { name = "app-${var.env}" }
resource "aws_iam_role_policy" "app" {
  role   = aws_iam_role.app.id
  policy = data.aws_iam_policy_document.app.json
}
resource "aws_iam_policy" "wide" {
  name = "wide"
  policy = jsonencode({
    Statement = [
      {
        Effect   = "Allow"
        Action   = "dynamodb:*"
        Resource = "arn:aws:dynamodb:*:*:table/${aws_dynamodb_table.orders.name}"
      },
      { Effect = "Allow", Action = ["s3:*"], Resource = "*" },
    ]
  })
}
resource "aws_iam_policy" "here" {
  name   = "here"
  policy = <<EOF
{"Statement": [{"Effect": "Deny", "Action": "dynamodb:Scan", "Resource": "${aws_dynamodb_table.orders.arn}"}]}
EOF
}
resource "aws_cloudwatch_metric_alarm" "throttles" {
  alarm_name          = "throttles"
  metric_name         = "ThrottledRequests"
  namespace           = "AWS/DynamoDB"
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 2
  period              = "60"
  threshold           = 0
  statistic           = "Sum"
  alarm_actions       = [aws_sns_topic.ops.arn]
  dimensions          = { TableName = aws_dynamodb_table.orders.name }
}
resource "aws_lambda_event_source_mapping" "notify" {
  event_source_arn       = aws_dynamodb_table.orders.stream_arn
  function_name          = aws_lambda_function.notify.arn
  batch_size             = 10
  parallelization_factor = 2
  filter_criteria {
    filter { pattern = jsonencode({ eventName = ["INSERT"] }) }
  }
  destination_config {
    on_failure { destination_arn = aws_sqs_queue.letters.arn }
  }
}
resource "aws_appautoscaling_target" "read" {
  min_capacity       = 1
  max_capacity       = 10
  resource_id        = "table/${aws_dynamodb_table.orders.name}"
  scalable_dimension = "dynamodb:table:ReadCapacityUnits"
}
resource "aws_appautoscaling_policy" "read" {
  resource_id        = "table/${aws_dynamodb_table.orders.name}"
  scalable_dimension = "dynamodb:table:ReadCapacityUnits"
  target_tracking_scaling_policy_configuration { target_value = 70 }
}
resource "aws_dynamodb_contributor_insights" "all" { table_name = aws_dynamodb_table.orders.name }
resource "aws_dynamodb_kinesis_streaming_destination" "events" {
  table_name = aws_dynamodb_table.orders.name
  stream_arn = aws_kinesis_stream.events.arn
}
"""


def table(arguments: str = "", label: str = "t") -> str:
    return f'resource "aws_dynamodb_table" "{label}" {{\n  hash_key = "PK"\n{arguments}\n}}\n'


# --- HCL ------------------------------------------------------------------------------------------------


def test_table_has_all_its_settings() -> None:
    found = from_terraform(WHOLE)
    made = found.table
    assert (made.name, made.environments) == ("shop-{env}-orders", {"env": ("dev", "prod")})
    assert (made.pk, made.sk, made.types) == ("PK", "SK", {"PK": "S", "at": "N"})
    assert (made.billing, made.capacity) == ("PROVISIONED", (5, 6))
    assert (made.stream, made.ttl, made.pitr_days) == ("NEW_IMAGE", "expires", 14)
    assert (made.encryption, made.key) == ("CUSTOMER_MANAGED", "{aws_kms_key.mine.arn}")
    assert (made.deletion_protection, made.table_class) == (True, "STANDARD_INFREQUENT_ACCESS")
    assert made.tags == {"Team": "core", "Env": "{env}", "Name": "orders"}
    assert made.regions == (RegionBlueprint("eu-west-1", "", True),)
    assert found.indexes == (
        IndexBlueprint("GSI1", ("SK",), ("PK",), "INCLUDE", ("a", "b")),
        IndexBlueprint("GSI2", ("SK",), capacity=(1, 2)),
        IndexBlueprint("ByTime", ("PK",), ("at",), "KEYS_ONLY", is_local=True),
    )
    assert (found.name, found.entities) == ("orders", ())


def test_what_the_file_leaves_open_is_a_question() -> None:
    questions = from_terraform(WHOLE).questions
    assert "singletable blueprint from-table" in questions[0]
    assert set(questions[1:]) == {
        'aws_dynamodb_table.orders.billing_mode depends on var.env == "prod"; its first branch is taken',
        "aws_dynamodb_table.orders has dynamic blocks replica, which are made when it is applied",
        "aws_dynamodb_table.orders.global_secondary_index[0].read_capacity is {reads}, which the file leaves open",
        "not read of the table: restore_date_time",
    }


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ('"plain"', "plain"),
        ("var.given", "{given}"),
        ('"a-${var.given}-$${b}"', "a-{given}-${b}"),
        ('format("%s-%s", var.given, "x")', "{given}-x"),
        ('join("-", ["a", var.given])', "a-{given}"),
        ('lower("A-${var.Given}")', "a-{Given}"),
        ('"${terraform.workspace}-${data.aws_region.current.name}"', "{workspace}-{Region}"),
        ("local.deep.name", "deep-{given}"),
        ("(local.indirect)", "deep-{given}"),
        ('replace("a.b", ".", "-")', "a-b"),
        ('try("first", "second")', "first"),
        ('coalesce(null, "", "third")', "third"),
        ("each.value.name", "{each.value.name}"),
        ("aws_ssm_parameter.x[0].value", "{aws_ssm_parameter.x[0].value}"),
        ('"say \\"hi\\""', 'say "hi"'),
        ('"r\\u00f8d \\U0001f34e"', "rød 🍎"),
        ('"\\u00f \\UFFFFFFFF"', "\\u00f \\UFFFFFFFF"),
    ],
)
def test_expressions_are_worked_out(expression: str, name: str) -> None:
    text = 'locals {\n  deep = { name = "deep-${var.given}" }\n  indirect = local.deep.name\n}\n'
    assert from_terraform(text + table(f"  name = {expression}")).table.name == name


def test_expression_that_is_not_worked_out_is_a_question() -> None:
    found = from_terraform(table('  name = "t"\n  tags = { for k in var.all : k => k.tag }'))
    assert found.table.tags == {}
    assert any("tags is {for k in" in question for question in found.questions)


def test_count_is_a_question_and_unsaid_billing_is_provisioned() -> None:
    found = from_terraform(table("  count = 2"))
    assert (found.table.name, found.table.billing, found.table.capacity) == ("t", "PROVISIONED", None)
    assert any("has count" in question for question in found.questions)


def test_module_of_variables_and_dynamic_blocks_has_placeholders() -> None:
    text = """
variable "key" { default = null }
variable "sort" { default = null }
resource "aws_dynamodb_table" "this" {
  count     = var.create && !local.other ? 1 : 0
  name      = var.name
  hash_key  = var.key
  range_key = var.sort
  dynamic "attribute" {
    for_each = var.attributes != null ? var.attributes : []
    content {
      name = attribute.value.name
      type = attribute.value.type
    }
  }
  tags = merge(var.tags, { "Name" = format("%s", var.name) }, )
  lifecycle { ignore_changes = [read_capacity] }
}
"""
    found = from_terraform(text)
    assert (found.table.name, found.table.pk, found.table.sk) == ("{name}", "{key}", None)
    assert found.table.tags == {"Name": "{name}"}
    assert found.questions[1:] == (
        "aws_dynamodb_table.this has count: one of these tables is described",
        "aws_dynamodb_table.this has dynamic blocks attribute, which are made when it is applied",
    )


def test_one_of_several_tables_is_chosen() -> None:
    other = '  name = "second"\n  billing_mode = var.x ? "A" : "B"'
    text = table('  name = "first"', "a") + table(other, "b")
    assert [from_terraform(text, each).table.name for each in ("a", "aws_dynamodb_table.b", "second")] == [
        "first", "second", "second",
    ]  # fmt: skip
    assert len(from_terraform(text, "a").questions) == 1
    with pytest.raises(
        BlueprintError, match=r"has 2 tables, and you have to name one: 'aws_dynamodb_table\.a', "
    ):
        from_terraform(text)
    with pytest.raises(BlueprintError, match="no table 'c'"):
        from_terraform(text, "c")


def test_statements_that_speak_of_the_table_are_roles() -> None:
    roles = {role.name: role.statements for role in from_terraform(AROUND).roles}
    arn = ARN + "orders"
    assert roles == {
        "app-{env}": (
            StatementBlueprint(
                "Allow",
                ("dynamodb:GetItem",),
                (arn, arn + "/index/*"),
                {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["x"]}},
                "Read",
            ),
        ),
        "wide": (StatementBlueprint("Allow", ("dynamodb:*",), ("arn:aws:dynamodb:*:*:table/orders",)),),
        "here": (StatementBlueprint("Deny", ("dynamodb:Scan",), (arn,)),),
    }


def test_alarms_consumers_and_scaling_of_the_table() -> None:
    found = from_terraform(AROUND)
    assert found.consumers == (
        ConsumerBlueprint("notify", "lambda", (HandlerBlueprint("notify", events=("INSERT",)),), 10, 2, True),
        ConsumerBlueprint("{aws_kinesis_stream.events.arn}", "kinesis"),
    )
    (alarm,) = found.alarms
    assert (alarm.name, alarm.metric, alarm.statistic) == ("throttles", "ThrottledRequests", "Sum")
    assert (alarm.comparison, alarm.threshold, alarm.period_s, alarm.periods) == (">", 0, 60, 2)
    assert (alarm.dimensions, alarm.actions) == ({"TableName": "orders"}, ("{aws_sns_topic.ops.arn}",))
    assert found.table.scaling == {"read": (1, 10, 70)}
    assert found.table.contributor_insights is True


def test_missing_parser_is_told_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any, **more: Any) -> Any:
        if name == "hcl2":
            raise ImportError(name)
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(BlueprintError, match=r"pip install 'singletable\[terraform\]'$"):
        from_terraform(WHOLE)
    assert from_terraform(state(resource())).table.name == "orders"


# --- JSON -----------------------------------------------------------------------------------------------

ORDERS = "arn:aws:dynamodb:eu-north-1:123456789012:table/orders"


def resource(kind: str = "aws_dynamodb_table", label: str = "orders", **values: Any) -> Data:
    table = {
        "name": "orders", "hash_key": "PK", "range_key": None, "billing_mode": "PAY_PER_REQUEST",
        "read_capacity": 0, "write_capacity": 0, "attribute": [{"name": "PK", "type": "S"}],
        "global_secondary_index": [],
        "ttl": [{"attribute_name": "", "enabled": False}], "stream_enabled": True, "stream_view_type": "KEYS_ONLY",
        "server_side_encryption": [], "point_in_time_recovery": [{"enabled": True}], "tags": None, "arn": ORDERS,
    }  # fmt: skip
    given = {**table, **values} if kind == "aws_dynamodb_table" else values
    return {"address": f"{kind}.{label}", "mode": "managed", "type": kind, "name": label, "values": given}


def state(*resources: Data, **more: Any) -> str:
    return json.dumps(
        {"format_version": "1.0", "values": {"root_module": {"resources": list(resources), **more}}}
    )


def test_state_has_the_same_facts() -> None:
    index = {
        "name": "GSI1", "hash_key": "a", "range_key": "", "projection_type": "ALL", "non_key_attributes": None,
        "read_capacity": 0, "write_capacity": 0,
    }  # fmt: skip
    policy = json.dumps({"Statement": {"Effect": "Allow", "Action": "dynamodb:*", "Resource": ORDERS}})
    found = from_terraform(
        state(
            resource(global_secondary_index=[index]),
            resource("aws_iam_role_policy", "p", role="app", policy=policy),
            resource(
                "aws_lambda_event_source_mapping", "m",
                event_source_arn=f"{ORDERS}/stream/2025-01-01T00:00:00.000",
                function_name="arn:aws:lambda:eu-north-1:123456789012:function:notify", batch_size=100,
            ),
            resource("aws_s3_bucket", "b", bucket="b"),
        )
    )  # fmt: skip
    assert (found.table.name, found.table.sk, found.table.capacity) == ("orders", None, None)
    assert (found.table.stream, found.table.pitr_days, found.table.ttl) == ("KEYS_ONLY", 35, None)
    assert found.indexes == (IndexBlueprint("GSI1", ("a",)),)
    assert [(role.name, role.statements[0].actions) for role in found.roles] == [("app", ("dynamodb:*",))]
    assert [consumer.batch_size for consumer in found.consumers] == [100]


def test_table_of_a_module_in_a_plan_is_read_with_its_stream_by_reference() -> None:
    mapping = resource("aws_lambda_event_source_mapping", "m", function_name="f")
    reference = {"references": ["aws_dynamodb_table.orders.stream_arn", "aws_dynamodb_table.orders"]}
    configured = {
        "address": mapping["address"],
        "expressions": {"event_source_arn": reference, "batch_size": {}},
    }
    text = json.dumps(
        {
            "planned_values": {"root_module": {"child_modules": [{"resources": [resource(), mapping]}]}},
            "configuration": {"root_module": {"resources": [configured]}},
        }
    )
    found = from_terraform(text)
    assert [consumer.name for consumer in found.consumers] == ["f"]
    assert any("known after the plan" in question for question in found.questions)


# --- what is no configuration ---------------------------------------------------------------------------

CYCLE = "locals {\n  a = local.b\n  b = local.a\n}\n"
BOMB = "locals {\n  a0 = []\n" + "".join(
    f"  a{n} = [{', '.join([f'local.a{n - 1}'] * 9)}]\n" for n in range(1, 12)
) + "}\n"  # fmt: skip


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "has no DynamoDB table"),
        ('resource "aws_dynamodb_table" {', r"^line 1: this is no HCL: it ends too early$"),
        ("a = 1\nb = = 2", r"^line 2, column 5: this is no HCL: this cannot stand here$"),
        ("x = [", "this is no HCL"),
        ("\0", "this is no HCL"),
        ("x = " + "[" * 3000 + "]" * 3000, "nested too deeply"),
        ("{" * 100_000, "no JSON|nested too deeply"),
        ("{}", "neither a state nor a plan"),
        ('{"values": 5}', r"^line 1, column 2: values is 5, and should be a mapping"),
        (state({"type": "aws_dynamodb_table"}), "lacks address"),
        (state(resource(hash_key=None)), "lacks hash_key"),
        (state(resource(attribute={"name": "PK"})), "attribute is a mapping of 1, and should be a list"),
        (
            'resource "aws_dynamodb_table" "t" {\n}',
            r"^line 1, column 1: aws_dynamodb_table\.t lacks hash_key$",
        ),
        (table("  read_capacity = [1]"), r"read_capacity is a list of 1, and should be a number"),
        (table("  stream_enabled = 5"), "stream_enabled is 5, and should be true or false"),
        (table("  ttl = 5"), r"aws_dynamodb_table\.t\.ttl is 5, and should be a list"),
        (CYCLE + table("  name = local.a"), r"refers to 'local\.a', which refers to itself"),
        ('variable "a" { default = var.a }\n' + table("  billing_mode = var.a"), "which refers to itself"),
        (BOMB + table("  tags = local.a11"), "refers to others too often"),
        (table("  name = " + "(" * 200 + '"x' + ")" * 200), "this is no HCL"),
        (table('  name = "' + '${lower("' * 100 + "x" + '")}' * 100 + '"'), "nested too deeply|no HCL"),
        ("#" * 600_001, "600,001 characters"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else None,
)
def test_text_that_is_no_configuration_is_refused_with_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(BlueprintError, match=sentence) as caught:
        from_terraform(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
ARGUMENTS = [
    "name", "hash_key", "range_key", "attribute", "global_secondary_index", "local_secondary_index",
    "billing_mode", "read_capacity", "stream_enabled", "server_side_encryption",
    "point_in_time_recovery", "ttl", "tags",
    "replica",
]  # fmt: skip
KINDS = [
    "aws_iam_role_policy",
    "aws_cloudwatch_metric_alarm",
    "aws_lambda_event_source_mapping",
    "aws_iam_role",
]
MEMBERS = [
    "role",
    "policy",
    "inline_policy",
    "dimensions",
    "metric_query",
    "event_source_arn",
    "filter_criteria",
]


@given(
    st.dictionaries(st.sampled_from(ARGUMENTS), JSON),
    st.sampled_from(KINDS),
    st.dictionaries(st.sampled_from(MEMBERS), JSON),
)
def test_wrong_types_anywhere_end_in_a_sentence(arguments: Data, kind: str, members: Data) -> None:
    sentence = ""
    try:
        from_terraform(state(resource(**arguments), resource(kind, "other", **members))).to_json()
    except BlueprintError as error:
        sentence = str(error)
    assert "\n" not in sentence


PIECES = st.sampled_from(
    ["var.a", "local.a", "local.b", '"x-${var.a}"', "{", "}", "[", "]", "(", ")", ",", "?", ":", "1", "null",
     "merge", "lower", "for", '"', "${", "=", "\\", "jsonencode", "*", "data.aws_region.x.name", "\n"]
)  # fmt: skip


@settings(max_examples=60)
@given(st.lists(PIECES, min_size=1, max_size=8).map(" ".join), st.lists(PIECES, max_size=4).map(" ".join))
def test_any_expression_is_worked_out_or_ends_in_a_sentence(expression: str, other: str) -> None:
    sentence = ""
    text = f"locals {{\n  a = {other or 1}\n  b = local.a\n}}\n" + table(
        f"  name = {expression}\n  tags = {expression}"
    )
    try:
        from_terraform(text).to_json()
    except BlueprintError as error:
        sentence = str(error)
    assert "\n" not in sentence
