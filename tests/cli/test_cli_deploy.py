"""`deploy`, `roles` and `alarms`: what they print and write, and what they refuse."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from singletable.blueprint import Blueprint, IndexBlueprint, TableBlueprint
from singletable.systems import find_system
from support.run_commands import Run, command

STAGE = ("--env", "stage=prod", "--region", "eu-north-1")
NAME = "kefir-app-prod-table"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    return command(capsys)


def _kefir_without_indexes() -> Blueprint:
    return replace(find_system("kefir").blueprint(), indexes=(), patterns=())


def test_templates_are_written_with_the_command_that_deploys_them(run: Run, tmp_path: Path) -> None:
    ran = run("deploy", "kefir", *STAGE, "--out", "stack")
    assert ran.code == 0
    assert ran.out == ""
    assert f"aws cloudformation deploy --stack-name {NAME} " in ran.err
    assert f"aws s3 cp stack/function.zip s3://BUCKET/{NAME}/" in ran.err
    assert sorted(each.name for each in (tmp_path / "stack").iterdir()) == [
        "function.zip",
        f"{NAME}-deployer.template.json",
        f"{NAME}.template.json",
    ]
    assert [each.name for each in tmp_path.iterdir()] == ["stack"]


def test_template_is_printed_without_a_folder(run: Run, tmp_path: Path) -> None:
    ran = run("deploy", "kefir", *STAGE)
    assert json.loads(ran.out)["Resources"]["Table"]["Properties"]["TableName"] == NAME
    assert list(tmp_path.iterdir()) == []


def test_sam_has_its_transform(run: Run) -> None:
    ran = run("deploy", "kefir", *STAGE, "--format", "sam")
    assert json.loads(ran.out)["Transform"] == "AWS::Serverless-2016-10-31"


def test_terraform_is_a_folder_for_each_stack_with_the_code_beside(run: Run, tmp_path: Path) -> None:
    ran = run("deploy", "kefir", *STAGE, "--format", "terraform", "--out", "stack")
    assert ran.code == 0
    assert f"terraform -chdir=stack/{NAME} apply" in ran.err
    assert sorted(each.name for each in (tmp_path / "stack" / NAME).iterdir()) == [
        "function.zip", "main.tf", "outputs.tf", "providers.tf", "variables.tf", "versions.tf",
    ]  # fmt: skip
    assert [each.name for each in (tmp_path / "stack").iterdir()] == [NAME]


def test_new_version_of_a_configuration_is_compared_and_refused_too(run: Run, tmp_path: Path) -> None:
    line = ("--region", "eu-north-1", "--env", "stage=prod", "--format", "terraform")
    shop = Blueprint("Shop", TableBlueprint("shop-{stage}"), indexes=(IndexBlueprint("GSI1", ("a",)),))
    for name, blueprint in (("shop.json", shop), ("less.json", replace(shop, indexes=()))):
        (tmp_path / name).write_text(blueprint.to_json())
    run("deploy", "shop.json", *line, "--out", "stack")
    compare = (*line, "--diff", "stack", "--json")
    assert json.loads(run("deploy", "shop.json", *compare).out)["changes"] == []
    found = run("deploy", "less.json", *compare, "--out", "stack")
    assert found.code == 1
    losses = [each["loses"] for each in json.loads(found.out)["changes"] if each["loses"]]
    assert losses == ["the index GSI1 is dropped"]
    (tmp_path / "stack" / "shop-prod" / "main.tf").write_text("resource {{{")
    ran = run("deploy", "shop.json", *compare)
    assert ran.code == 2
    assert "this is no HCL" in ran.err


def test_same_version_changes_nothing(run: Run) -> None:
    run("deploy", "kefir", *STAGE, "--out", "stack")
    ran = run("deploy", "kefir", *STAGE, "--diff", "stack", "--json")
    assert (ran.code, json.loads(ran.out)["changes"]) == (0, [])


def test_dropped_index_is_refused_until_it_is_allowed(run: Run, tmp_path: Path) -> None:
    run("deploy", "kefir", *STAGE, "--out", "stack")
    before = (tmp_path / "stack" / f"{NAME}.template.json").read_text()
    (tmp_path / "less.json").write_text(_kefir_without_indexes().to_json())
    line = ("deploy", "less.json", *STAGE, "--diff", "stack", "--out", "stack")
    ran = run(*line)
    assert ran.code == 1
    assert "removed  Table.GlobalSecondaryIndexes.GSI1: the index GSI1 is dropped" in ran.out
    assert "ST902: Table: the index GSI1 is dropped, and 1 more\n\nhint: nothing is written" in ran.err
    assert (tmp_path / "stack" / f"{NAME}.template.json").read_text() == before
    found = json.loads(run(*line, "--json").out)
    assert found["refused"] is True
    assert found["files"] == []
    ran = run(*line, "--allow-replacement")
    assert ran.code == 0
    assert "a blueprint has no code: its handlers are left out" in ran.err
    assert (tmp_path / "stack" / f"{NAME}.template.json").read_text() != before


def test_stacks_beside_that_of_the_table_are_compared_too(run: Run, tmp_path: Path) -> None:
    line = ("deploy", "lunch_cache", "--env", "environment=prod", "--region", "eu-north-1")
    run(*line, "--out", "stack")
    (tmp_path / "stack" / "lunch-cache-prod-billing.template.json").unlink()
    ran = run(*line, "--tag", "team=kitchen", "--diff", "stack")
    assert ran.code == 0
    assert "added    Table.Tags\n" in ran.out
    assert "added    DeployerRole.Tags (in lunch-cache-prod-deployer)\n" in ran.out
    assert "added    AlarmTopic (in lunch-cache-prod-billing)\n" in ran.out
    one = run(*line, "--diff", "stack/lunch-cache-prod.template.json", "--json")
    assert json.loads(one.out)["changes"] == []


def test_table_of_another_name_is_a_replacement(run: Run) -> None:
    run("deploy", "kefir", *STAGE, "--out", "stack")
    ran = run("deploy", "kefir", "--env", "stage=dev", "--region", "eu-north-1", "--diff", "stack")
    assert ran.code == 1
    assert "the table is replaced by an empty one, since its TableName changes" in ran.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(("kefir", "--region", "Stockholm"), "'Stockholm' is no region of AWS", id="region"),
        pytest.param(("lunch_cache", *STAGE), "has no {stage}", id="placeholder"),
        pytest.param(("kefir:documented", *STAGE, "--env", "x=1"), "has no {x}", id="of a blueprint"),
        pytest.param(("kefir", *STAGE, "--billing", "PROVISIONED"), "nothing says how much", id="capacity"),
        pytest.param(("kefir", *STAGE, "--capacity", "5"), "'5' is no READ,WRITE", id="units"),
        pytest.param(("kefir", *STAGE, "--capacity", "0,5"), "each is at least 1", id="none"),
        pytest.param(("kefir", *STAGE, "--capacity", "5,5"), "billed by its requests", id="units of none"),
        pytest.param(("kefir", *STAGE, "--diff", "missing.json"), "missing.json cannot be read", id="old"),
        pytest.param(("kefir", *STAGE, "--check", "Stockholm"), "is no URL and no region", id="place"),
        pytest.param(("kefir", *STAGE, "--tag", "aws:x=y"), "'aws:x=y' is no tag", id="tag"),
        pytest.param(("kefir", *STAGE, "--tag", "team=a&b"), "'team=a&b' is no tag", id="sign"),
        pytest.param(("kefir", *STAGE, "--compute", "ecs"), "is no service that takes roles", id="compute"),
        pytest.param(("kefir", *STAGE, "--out", "file/below"), "file/below cannot be written", id="folder"),
        pytest.param(
            ("kefir", "--env", f"stage={'x' * 60}", "--region", "eu-north-1"), "IAM takes 64", id="long"
        ),
    ],
)
def test_wrong_use_is_refused_and_nothing_written(
    run: Run, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    (tmp_path / "file").write_text("")
    ran = run("deploy", *words, *(() if "--out" in words else ("--out", "stack")))
    assert ran.code == 2
    assert said in ran.err
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_all_files_are_written_or_none(run: Run, tmp_path: Path) -> None:
    stack = tmp_path / "new" / "stack"
    line = (
        "deploy",
        "lunch_cache",
        "--region",
        "eu-north-1",
        "--env",
        "environment=prod",
        "--out",
        str(stack),
    )
    names = [f"lunch-cache-prod{each}.template.json" for each in ("", "-deployer", "-billing")]
    for name in names:
        (stack / name).mkdir(parents=True)  # in the way of one of them
        ran = run(*line)
        assert (ran.code, ran.err.splitlines()[0]) == (2, f"error: {stack} cannot be written: Is a directory")
        assert [each.name for each in stack.iterdir()] == [name]
        (stack / name).rmdir()
    (stack / "mine.txt").write_text("mine")
    assert run(*line).code == 0
    assert sorted(each.name for each in stack.iterdir()) == sorted([*names, "mine.txt"])
    assert [each.name for each in (tmp_path / "new").iterdir()] == ["stack"]


def test_roles_say_who_may_take_them(run: Run) -> None:
    roles = json.loads(run("roles", "kefir", *STAGE, "--json").out)["roles"]
    trusted = {each["name"]: each["trust"]["Statement"][0]["Principal"] for each in roles}
    assert trusted == {
        f"{NAME}-consumer-eu-north-1": {"Service": ["lambda.amazonaws.com"]},
        f"{NAME}-deployer-eu-north-1": {"Service": ["cloudformation.amazonaws.com"]},
        f"{NAME}-maintenance-eu-north-1": {
            "AWS": {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}
        },
        f"{NAME}-owner-eu-north-1": {"Federated": "cognito-identity.amazonaws.com"},
        f"{NAME}-reader-eu-north-1": {"Service": ["lambda.amazonaws.com"]},
        f"{NAME}-schedules-eu-north-1": {"Service": ["scheduler.amazonaws.com"]},
        f"{NAME}-writer-eu-north-1": {"Service": ["lambda.amazonaws.com"]},
        f"{NAME}-workers-eu-north-1": {"Service": ["lambda.amazonaws.com"]},
    }


def test_role_that_is_not_there_is_refused(run: Run) -> None:
    ran = run("roles", "lunch_cache", "--region", "eu-north-1", "--only", "owner")
    assert ran.code == 2
    assert "its roles: deployer, maintenance, reader, writer" in ran.err


def test_alarms_are_those_of_the_stacks_as_requests_of_cloudwatch(run: Run) -> None:
    found = json.loads(run("alarms", "kefir", *STAGE, "--json").out)["alarms"]
    template = json.loads(run("deploy", "kefir", *STAGE).out)["Resources"].values()
    deployed = {
        each["Properties"]["AlarmName"] for each in template if each["Type"] == "AWS::CloudWatch::Alarm"
    }
    assert {each["AlarmName"] for each in found} == deployed
    assert len(run("alarms", "kefir", *STAGE).out.splitlines()) == len(deployed) > 30
    bills = run("alarms", "lunch_cache", "--region", "eu-north-1").out
    assert bills.count("(in us-east-1)") == 3


def test_resource_policy_of_the_table_is_read_from_a_file(run: Run, tmp_path: Path) -> None:
    statement = {
        "Effect": "Allow",
        "Principal": {"AWS": "arn:aws:iam::${AWS::AccountId}:role/r"},
        "Action": "dynamodb:GetItem",
        "Resource": "*",
        "Condition": {"StringEquals": {"aws:PrincipalTag/team": "${aws:username}"}},
    }
    (tmp_path / "policy.json").write_text(json.dumps({"Version": "2012-10-17", "Statement": [statement]}))
    ran = run("deploy", "kefir", *STAGE, "--table-policy", "policy.json")
    document = json.loads(ran.out)["Resources"]["Table"]["Properties"]["ResourcePolicy"]["PolicyDocument"]
    (found,) = document["Statement"]
    assert found["Principal"]["AWS"] == {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:role/r"}
    assert found["Condition"] == statement["Condition"]
    for text, said in (
        ("{}", "it has no Statement"),
        ("{", "is no policy in JSON"),
        ('{"Statement": ["x"]}', "is no object"),
    ):
        (tmp_path / "policy.json").write_text(text)
        assert said in run("deploy", "kefir", *STAGE, "--table-policy", "policy.json").err
