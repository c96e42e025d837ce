"""CloudFormation templates as blueprints: tables and what stands around them, and templates that are none."""

from __future__ import annotations

import builtins
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable.blueprint import (
    BlueprintError,
    ConsumerBlueprint,
    HandlerBlueprint,
    IndexBlueprint,
    RegionBlueprint,
    StatementBlueprint,
)
from singletable.blueprint.foreign.cloudformation import from_cloudformation

Data = dict[str, Any]
ARN = "arn:{Partition}:dynamodb:{Region}:{AccountId}:table/"

WHOLE = """\
AWSTemplateFormatVersion: '2010-09-09'
Parameters:
  Env: {Type: String, Default: dev, AllowedValues: [dev, prod]}
  Reads: {Type: Number, Default: 7}
  Writes: {Type: Number}
Conditions:
  IsProd: !Equals [!Ref Env, prod]
Resources:
  Orders:
    Type: AWS::DynamoDB::Table
    Condition: IsProd
    Properties:
      TableName: !Sub '${Env}-orders-${AWS::Region}'
      BillingMode: !If [IsProd, PROVISIONED, PAY_PER_REQUEST]
      AttributeDefinitions:
        - {AttributeName: PK, AttributeType: S}
        - {AttributeName: SK, AttributeType: S}
        - {AttributeName: at, AttributeType: N}
      KeySchema:
        - {AttributeName: PK, KeyType: HASH}
        - {AttributeName: SK, KeyType: RANGE}
      ProvisionedThroughput: {ReadCapacityUnits: !Ref Reads, WriteCapacityUnits: '5'}
      GlobalSecondaryIndexes:
        - IndexName: GSI1
          KeySchema: [{AttributeName: SK, KeyType: HASH}, {AttributeName: PK, KeyType: RANGE}]
          Projection: {ProjectionType: INCLUDE, NonKeyAttributes: [a, b]}
          ProvisionedThroughput: {ReadCapacityUnits: 1, WriteCapacityUnits: !Ref Writes}
        - !If
          - IsProd
          - IndexName: GSI2
            KeySchema: [{AttributeName: SK, KeyType: HASH}]
            Projection: {ProjectionType: ALL}
          - !Ref AWS::NoValue
      LocalSecondaryIndexes:
        - IndexName: ByTime
          KeySchema: [{AttributeName: PK, KeyType: HASH}, {AttributeName: at, KeyType: RANGE}]
          Projection: {ProjectionType: KEYS_ONLY}
      StreamSpecification: {StreamViewType: NEW_IMAGE}
      SSESpecification: {SSEEnabled: true, SSEType: KMS, KMSMasterKeyId: !GetAtt Key.Arn}
      PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: 20}
      TimeToLiveSpecification: {AttributeName: expires, Enabled: true}
      DeletionProtectionEnabled: true
      TableClass: STANDARD_INFREQUENT_ACCESS
      ContributorInsightsSpecification: {Enabled: 'true'}
      Tags: [{Key: env, Value: !Ref Env}]
      WarmThroughput: {ReadUnitsPerSecond: 5}
  Key: {Type: AWS::KMS::Key}
"""

AROUND = """\
Resources:
  Orders:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: orders
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{AttributeName: PK, AttributeType: S}]
      KeySchema: [{AttributeName: PK, KeyType: HASH}]
      StreamSpecification: {StreamViewType: NEW_AND_OLD_IMAGES}
      KinesisStreamSpecification: {StreamArn: !GetAtt Events.Arn}
  App:
    Type: AWS::IAM::Role
    Properties:
      RoleName: app
      Policies:
        - PolicyName: data
          PolicyDocument:
            Version: 2012-10-17
            Statement:
              - Sid: Read
                Effect: Allow
                Action: ['dynamodb:GetItem', 'dynamodb:Query']
                Resource: [!GetAtt Orders.Arn, !Sub '${Orders.Arn}/index/*']
              - {Effect: Allow, Action: 's3:*', Resource: '*'}
              - {Effect: Allow, Action: 'dynamodb:*', Resource: 'arn:aws:dynamodb:*:*:table/customers'}
  More:
    Type: AWS::IAM::Policy
    Properties:
      Roles: [!Ref App]
      PolicyDocument:
        Statement:
          Effect: Deny
          Action: dynamodb:DeleteItem
          Resource: !Join ['', ['arn:aws:dynamodb:*:*:table/', !Ref Orders]]
          Condition: {Bool: {aws:MultiFactorAuthPresent: 'false'}}
  Wide:
    Type: AWS::IAM::ManagedPolicy
    Properties:
      PolicyDocument:
        Statement: [{Effect: Allow, Action: 'dynamodb:*', Resource: 'arn:aws:dynamodb:*:*:table/ord*'}]
  Mapping:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      FunctionName: !Ref Notify
      EventSourceArn: !GetAtt Orders.StreamArn
      BatchSize: 100
      ParallelizationFactor: 2
      DestinationConfig: {OnFailure: {Destination: !GetAtt Letters.Arn}}
      FilterCriteria: {Filters: [{Pattern: '{"eventName": ["INSERT", "MODIFY"]}'}, {Pattern: 'no JSON'}]}
  Elsewhere:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {FunctionName: !Ref Notify, EventSourceArn: 'arn:aws:sqs:eu-north-1:1:queue'}
  Count:
    Type: AWS::Serverless::Function
    Properties:
      Policies:
        - AWSLambdaBasicExecutionRole
        - DynamoDBReadPolicy: {TableName: !Ref Orders}
      Events:
        Changes: {Type: DynamoDB, Properties: {Stream: !GetAtt Orders.StreamArn, BatchSize: 10}}
        Web: {Type: Api}
  Pipe: {Type: AWS::Pipes::Pipe, Properties: {Source: !GetAtt Orders.StreamArn}}
  Throttles:
    Type: AWS::CloudWatch::Alarm
    Properties:
      AlarmName: throttles
      MetricName: ThrottledRequests
      Namespace: AWS/DynamoDB
      Dimensions: [{Name: TableName, Value: !Ref Orders}]
      Statistic: Sum
      Period: 60
      EvaluationPeriods: 5
      Threshold: 1
      ComparisonOperator: GreaterThanOrEqualToThreshold
      AlarmActions: [!Ref Topic]
  Rate:
    Type: AWS::CloudWatch::Alarm
    Properties:
      ComparisonOperator: LessThanThreshold
      EvaluationPeriods: 1
      Threshold: 0.5
      Metrics:
        - Id: m
          MetricStat:
            Stat: p99
            Period: 300
            Metric:
              MetricName: SuccessfulRequestLatency
              Namespace: AWS/DynamoDB
              Dimensions: [{Name: TableName, Value: !Ref Orders}, {Name: Operation, Value: Query}]
        - {Id: e, Expression: m / 2}
  Target:
    Type: AWS::ApplicationAutoScaling::ScalableTarget
    Properties:
      MinCapacity: 1
      MaxCapacity: 10
      ResourceId: !Sub 'table/${Orders}'
      ScalableDimension: dynamodb:table:WriteCapacityUnits
  Scaling:
    Type: AWS::ApplicationAutoScaling::ScalingPolicy
    Properties:
      ScalingTargetId: !Ref Target
      TargetTrackingScalingPolicyConfiguration: {TargetValue: 70}
  Topic: {Type: AWS::SNS::Topic}
  Notify: {Type: AWS::Lambda::Function}
"""


def template(properties: Data, kind: str = "AWS::DynamoDB::Table", **sections: Any) -> str:
    whole = {"KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}], **properties}
    return json.dumps({"Resources": {"T": {"Type": kind, "Properties": whole}}, **sections})


# --- the table ------------------------------------------------------------------------------------------


def test_table_has_all_its_settings() -> None:
    found = from_cloudformation(WHOLE)
    table = found.table
    assert table.name == "{Env}-orders-{Region}"
    assert table.environments == {"Env": ("dev", "prod")}
    assert (table.pk, table.sk, table.types) == ("PK", "SK", {"PK": "S", "SK": "S", "at": "N"})
    assert (table.billing, table.capacity) == ("PROVISIONED", (7, 5))
    assert (table.stream, table.ttl, table.pitr_days) == ("NEW_IMAGE", "expires", 20)
    assert (table.encryption, table.key) == ("CUSTOMER_MANAGED", "{Key.Arn}")
    assert (table.deletion_protection, table.contributor_insights) == (True, True)
    assert (table.table_class, table.tags) == ("STANDARD_INFREQUENT_ACCESS", {"env": "{Env}"})
    assert found.indexes == (
        IndexBlueprint("GSI1", ("SK",), ("PK",), "INCLUDE", ("a", "b")),
        IndexBlueprint("GSI2", ("SK",)),
        IndexBlueprint("ByTime", ("PK",), ("at",), "KEYS_ONLY", is_local=True),
    )
    assert (found.name, found.entities) == ("Orders", ())


def test_what_the_template_leaves_open_is_a_question() -> None:
    questions = from_cloudformation(WHOLE).questions
    units = "Resources.Orders.Properties.GlobalSecondaryIndexes[0].ProvisionedThroughput.WriteCapacityUnits"
    assert "singletable blueprint from-table" in questions[0]
    assert questions[1:] == (
        "Orders is made while the condition IsProd holds",
        "Resources.Orders.Properties.BillingMode depends on IsProd; its first branch is taken",
        "Resources.Orders.Properties.GlobalSecondaryIndexes[1] depends on IsProd; its first branch is taken",
        "not read of the table: WarmThroughput",
        f"{units} is {{Writes}}, which the file leaves open",
    )


def test_json_and_yaml_are_the_same() -> None:
    text = json.dumps(
        {
            "Parameters": {"Env": {"Type": "String"}},
            "Resources": {
                "T": {
                    "Type": "AWS::DynamoDB::Table",
                    "Properties": {
                        "TableName": {"Fn::Sub": ["${Env}-${name}", {"name": {"Ref": "AWS::StackName"}}]},
                        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
                        "SSESpecification": {"SSEEnabled": True},
                    },
                }
            },
        }
    )
    shorter = """
Parameters:
  Env: {Type: String}
Resources:
  T:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: !Sub ['${Env}-${name}', {name: !Ref 'AWS::StackName'}]
      KeySchema: [{AttributeName: id, KeyType: HASH}]
      SSESpecification: {SSEEnabled: yes}
"""
    found = from_cloudformation(text)
    assert found == from_cloudformation(shorter)
    assert (found.table.name, found.table.encryption, found.table.sk) == (
        "{Env}-{StackName}",
        "AWS_MANAGED",
        None,
    )


def test_table_without_a_name_is_named_after_the_stack_and_unsaid_billing_is_provisioned() -> None:
    found = from_cloudformation(template({}))
    assert (found.table.name, found.table.billing) == ("{StackName}-T", "PROVISIONED")
    assert any("the name of T" in question for question in found.questions)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ({"Fn::Join": ["-", ["a", {"Ref": "Env"}, {"Ref": "AWS::NoValue"}]]}, "a-{Env}"),
        ({"Fn::FindInMap": ["Names", {"Ref": "AWS::Region"}, "table"]}, "north"),
        ({"Fn::Select": [1, {"Fn::Split": ["/", "a/b/c"]}]}, "b"),
        ({"Fn::ImportValue": "shared-name"}, "{shared-name}"),
        ({"Fn::GetAtt": "Other.Name"}, "{Other.Name}"),
        ({"Fn::Sub": "${!literal}-${Env}"}, "${literal}-{Env}"),
        ({"Fn::Base64": "x"}, "x"),
        ({"Fn::Cidr": ["x"]}, "{Cidr}"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else value,
)
def test_functions_are_worked_out(name: Data, expected: str) -> None:
    mappings = {"Names": {"eu-north-1": {"table": "north"}}}
    parameters = {"Env": {"Type": "String", "Default": "dev"}}
    found = from_cloudformation(template({"TableName": name}, Mappings=mappings, Parameters=parameters))
    assert found.table.name == expected


def test_encryption_recovery_and_expiry_that_are_off() -> None:
    off = {
        "SSESpecification": {"SSEEnabled": False},
        "PointInTimeRecoverySpecification": {
            "PointInTimeRecoveryEnabled": "false",
            "RecoveryPeriodInDays": 5,
        },
        "TimeToLiveSpecification": {"AttributeName": "ttl", "Enabled": False},
    }
    table = from_cloudformation(template(off)).table
    assert (table.encryption, table.pitr_days, table.ttl) == ("AWS_OWNED", None, None)
    on = {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}
    assert from_cloudformation(template(on)).table.pitr_days == 35
    managed = {"SSESpecification": {"SSEEnabled": True, "KMSMasterKeyId": "alias/aws/dynamodb"}}
    assert from_cloudformation(template(managed)).table.encryption == "AWS_MANAGED"


def test_global_table_has_regions_and_the_settings_of_its_first_replica() -> None:
    def scaling(least: int) -> Data:
        return {
            "MinCapacity": least,
            "MaxCapacity": 10,
            "TargetTrackingScalingPolicyConfiguration": {"TargetValue": 70},
        }

    replica = {
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        "SSESpecification": {"KMSMasterKeyId": "key-1"},
        "DeletionProtectionEnabled": True,
        "Tags": [{"Key": "a", "Value": "b"}],
        "ReadProvisionedThroughputSettings": {"ReadCapacityAutoScalingSettings": scaling(1)},
    }
    found = from_cloudformation(
        template(
            {
                "TableName": "T",
                "SSESpecification": {"SSEEnabled": True, "SSEType": "KMS"},
                "Replicas": [{"Region": "eu-north-1", **replica}, {"Region": {"Ref": "Second"}}],
                "WriteProvisionedThroughputSettings": {"WriteCapacityAutoScalingSettings": scaling(2)},
            },
            "AWS::DynamoDB::GlobalTable",
            Parameters={"Second": {"Type": "String"}},
        )
    )
    table = found.table
    assert table.regions == (RegionBlueprint("eu-north-1", "", True), RegionBlueprint("{Second}", "", True))
    assert (table.pitr_days, table.key, table.deletion_protection, table.tags) == (
        35,
        "key-1",
        True,
        {"a": "b"},
    )
    assert table.scaling == {"read": (1, 10, 70), "write": (2, 10, 70)}
    assert any("replicas" in question for question in found.questions)


def test_simple_table_of_sam_is_on_demand() -> None:
    text = "Resources:\n  T:\n    Type: AWS::Serverless::SimpleTable\n"
    found = from_cloudformation(text)
    assert (found.table.pk, found.table.types, found.table.billing) == ("id", {"id": "S"}, "PAY_PER_REQUEST")
    named = text + "    Properties: {PrimaryKey: {Name: n, Type: Number}, TableName: x, Tags: {a: b}}\n"
    table = from_cloudformation(named).table
    assert (table.name, table.pk, table.types, table.tags) == ("x", "n", {"n": "N"}, {"a": "b"})


def test_one_of_several_tables_is_chosen_by_id_or_name() -> None:
    key = {"KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]}
    tables = {
        name: {"Type": "AWS::DynamoDB::Table", "Properties": {"TableName": name.lower(), **key}}
        for name in "AB"
    }
    text = json.dumps({"Resources": tables})
    assert from_cloudformation(text, "B").table.name == "b"
    assert from_cloudformation(text, "a").table.name == "a"
    with pytest.raises(BlueprintError, match=r"has 2 tables, and you have to name one: 'A', 'B'$"):
        from_cloudformation(text)
    with pytest.raises(BlueprintError, match="no table 'C'; it has 'A', 'B'"):
        from_cloudformation(text, "C")


def test_keys_of_an_index_may_have_several_attributes() -> None:
    schema = [
        {"AttributeName": name, "KeyType": role}
        for name, role in (("a", "HASH"), ("b", "HASH"), ("c", "RANGE"))
    ]
    index = {"IndexName": "I", "KeySchema": schema, "Projection": {"ProjectionType": "ALL"}}
    found = from_cloudformation(template({"GlobalSecondaryIndexes": [index]}))
    assert found.indexes == (IndexBlueprint("I", ("a", "b"), ("c",)),)


# --- around the table -----------------------------------------------------------------------------------


def test_statements_that_speak_of_the_table_are_roles() -> None:
    found = from_cloudformation(AROUND)
    roles = {role.name: role.statements for role in found.roles}
    table = ARN + "orders"
    assert roles["app"] == (
        StatementBlueprint(
            "Allow", ("dynamodb:GetItem", "dynamodb:Query"), (table, table + "/index/*"), {}, "Read"
        ),
        StatementBlueprint(
            "Deny",
            ("dynamodb:DeleteItem",),
            ("arn:aws:dynamodb:*:*:table/orders",),
            {"Bool": {"aws:MultiFactorAuthPresent": "false"}},
        ),
    )
    assert roles["Wide"][0].resources == ("arn:aws:dynamodb:*:*:table/ord*",)
    assert roles["Count"][0].sid == "DynamoDBReadPolicy"
    assert "dynamodb:Query" in roles["Count"][0].actions
    assert set(roles) == {"app", "Wide", "Count"}


def test_readers_of_the_stream_are_consumers() -> None:
    assert from_cloudformation(AROUND).consumers == (
        ConsumerBlueprint(
            "Notify", "lambda", (HandlerBlueprint("Notify", events=("INSERT", "MODIFY")),), 100, 2, True
        ),
        ConsumerBlueprint("Count", "lambda", (), 10, None, False),
        ConsumerBlueprint("Pipe", "pipes"),
        ConsumerBlueprint("{Events.Arn}", "kinesis"),
    )  # fmt: skip


def test_alarms_and_scaling_of_the_table() -> None:
    found = from_cloudformation(AROUND)
    throttles, rate = found.alarms
    assert (throttles.name, throttles.metric, throttles.statistic) == (
        "throttles",
        "ThrottledRequests",
        "Sum",
    )
    assert (throttles.comparison, throttles.threshold, throttles.period_s, throttles.periods) == (
        ">=",
        1,
        60,
        5,
    )
    assert (throttles.dimensions, throttles.actions) == ({"TableName": "orders"}, ("{Topic}",))
    assert (rate.name, rate.metric, rate.statistic, rate.comparison) == (
        "Rate",
        "SuccessfulRequestLatency",
        "p99",
        "<",
    )
    assert rate.dimensions == {"TableName": "orders", "Operation": "Query"}
    assert found.table.scaling == {"write": (1, 10, 70)}


def test_statement_of_what_is_not_allowed_is_a_question() -> None:
    policy = {"Statement": [{"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}]}
    role = {"Type": "AWS::IAM::Role", "Properties": {"Policies": [{"PolicyDocument": policy}]}}
    whole = json.loads(template({"TableName": "t"}))
    whole["Resources"]["R"] = role
    found = from_cloudformation(json.dumps(whole))
    assert found.roles == ()
    assert any("NotAction" in question for question in found.questions)


# --- YAML -----------------------------------------------------------------------------------------------


def test_anchors_and_merges_are_followed() -> None:
    text = """
Resources:
  T:
    Type: AWS::DynamoDB::Table
    Properties:
      KeySchema: [{AttributeName: &id PK, KeyType: HASH}]
      AttributeDefinitions: [{AttributeName: *id, AttributeType: S}]
      ProvisionedThroughput: &units {ReadCapacityUnits: 1, WriteCapacityUnits: 2}
      GlobalSecondaryIndexes:
        - IndexName: I
          KeySchema: [{AttributeName: *id, KeyType: HASH}]
          Projection: {ProjectionType: ALL}
          ProvisionedThroughput: {<<: *units, WriteCapacityUnits: 3}
"""
    found = from_cloudformation(text)
    assert (found.table.types, found.table.capacity, found.indexes[0].capacity) == (
        {"PK": "S"},
        (1, 2),
        (1, 3),
    )


def test_missing_parser_is_told_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any, **more: Any) -> Any:
        if name == "yaml":
            raise ImportError(name)
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(BlueprintError, match=r"pip install 'singletable\[cloudformation\]'$"):
        from_cloudformation("Resources: {}")
    assert from_cloudformation(template({"TableName": "json"})).table.name == "json"


# --- what is no template --------------------------------------------------------------------------------

BOMB = "a: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", 'no "Resources" at its top'),
        ("just a text", 'no "Resources"'),
        ('{"Resources": [1]}', 'no "Resources"'),
        ('{"Resources": {}', r"^line 1, column 16: this is no JSON"),
        ("Resources:\n  T: [", r"^line 3, column 1: this is no YAML"),
        ("a: \t- x: [", "this is no YAML"),
        ("a: 1\n---\nb: 2\n", r"^line 2, column 1: a CloudFormation template is one document"),
        ("? [a]\n: b\n", "a key of a mapping is a text"),
        ("Resources: *nothing", r"^line 1, column 12: the anchor 'nothing' is not defined$"),
        ("Resources: &a {T: *a}", r"the anchor 'a' holds itself$"),
        ("[" * 100_000, "nested too deeply"),
        ("- " * 50_000, "nested too deeply"),
        ("{" * 100_000, "this is no JSON|nested too deeply"),
        ("Resources: {}", "has no DynamoDB table"),
        ("Resources: {T: 5}", r"^line 1, column 16: Resources\.T is 5, and should be a mapping$"),
        ("Resources: {T: {Type: [x]}}", r"Resources\.T\.Type is a list of 1, and should be a text"),
        ("Resources: {T: {Type: 'AWS::DynamoDB::Table'}}", "lacks KeySchema"),
        (template({"KeySchema": [{"AttributeName": "a", "KeyType": "RANGE"}]}), "no key of the type HASH"),
        (template({"KeySchema": "PK"}), "'PK', and should be a list"),
        (template({"TableName": {"a": 1}}), "a mapping of 1, and should be a text"),
        (template({"TableName": {"Fn::Sub": 5}}), "is 5, and should be a text"),
        (template({"DeletionProtectionEnabled": "perhaps"}), "should be true or false"),
        (template({"ProvisionedThroughput": {"ReadCapacityUnits": "many"}}), "'many', and should be a number"),
        (template({"TableName": {"Fn::FindInMap": ["A", "b", "c"]}}), "which have no such entry"),
        (
            template(
                {"BillingMode": {"Ref": "A"}},
                Parameters={"A": {"Default": {"Ref": "B"}}, "B": {"Default": {"Ref": "A"}}},
            ),
            "whose default refers to itself",
        ),
        (
            template(
                {"BillingMode": {"Fn::FindInMap": ["M", "a", "b"]}},
                Mappings={"M": {"a": {"b": {"Fn::FindInMap": ["M", "a", "b"]}}}},
            ),
            "a mapping that refers to itself",
        ),
        (BOMB + "Resources: {T: {Type: 'AWS::DynamoDB::Table', Properties: {Tags: *a11}}}", "repeats too much"),
        ("a" * 2_000_001, "2,000,001 characters"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else None,
)  # fmt: skip
def test_text_that_is_no_template_is_refused_with_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(BlueprintError, match=sentence) as caught:
        from_cloudformation(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=3) | st.sampled_from(["Ref", "Fn::Sub", "Fn::If"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)
PROPERTIES = [
    "TableName", "KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes", "BillingMode", "Replicas", "Tags",
    "ProvisionedThroughput", "StreamSpecification", "SSESpecification", "TimeToLiveSpecification", "TableClass",
    "PointInTimeRecoverySpecification", "DeletionProtectionEnabled", "KinesisStreamSpecification",
]  # fmt: skip
KINDS = [
    "AWS::IAM::Role", "AWS::IAM::Policy", "AWS::CloudWatch::Alarm", "AWS::Lambda::EventSourceMapping",
    "AWS::Serverless::Function", "AWS::Pipes::Pipe", "AWS::ApplicationAutoScaling::ScalableTarget",
]  # fmt: skip
MEMBERS = [
    "Policies", "PolicyDocument", "Roles", "Dimensions", "Metrics", "Events", "EventSourceArn", "Source",
    "MinCapacity",
]  # fmt: skip


@given(
    st.dictionaries(st.sampled_from(PROPERTIES), JSON),
    st.sampled_from(["AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable", "AWS::Serverless::SimpleTable"]),
    st.sampled_from(KINDS),
    st.dictionaries(st.sampled_from(MEMBERS), JSON),
    st.dictionaries(st.sampled_from(["Parameters", "Mappings", "Conditions"]), JSON),
)
def test_wrong_types_anywhere_end_in_a_sentence(
    properties: Data, kind: str, other: str, members: Data, sections: Data
) -> None:
    whole = json.loads(template(properties, kind, **sections))
    whole["Resources"]["Other"] = {"Type": other, "Properties": members}
    sentence = ""
    try:
        from_cloudformation(json.dumps(whole)).to_json()
    except BlueprintError as error:
        sentence = str(error)
    assert "\n" not in sentence


@given(st.text("ab:-[]{}&*!#'\"|> \n\t<,?", max_size=40))
def test_any_text_ends_in_a_sentence(text: str) -> None:
    sentence = ""
    try:
        from_cloudformation("Resources:\n" + text)
    except BlueprintError as error:
        sentence = str(error)
    assert sentence
    assert "\n" not in sentence
