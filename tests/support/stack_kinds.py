"""A stack with a resource of each kind."""

from __future__ import annotations

from singletable.stack import Alarm, Policy, Series, Stack, StackOptions, Statement, make_stack
from singletable.stack import resources as kinds
from singletable.stack.resources import Attribute, Parameter, Ref, Sub
from support.stack_blueprints import made_up

REGION = "eu-north-1"
TAGS = {"team": "kitchen"}


def whole_stack() -> Stack:
    """Return a stack with a resource of each kind."""
    rule = Alarm("late", "it is late", (Series("age", "IteratorAge", "Maximum", {"FunctionName": "f"}),), 5)
    further: list[kinds.Resource] = [
        kinds.Topic("Topic", "alarms", (Ref("Email"),), publishers=("cloudwatch.amazonaws.com",), tags=TAGS),
        kinds.Queue("Letters", "dead-letters", tags=TAGS),
        kinds.LogGroup("Logs", "/aws/lambda/follow", tags=TAGS),
        kinds.Function(
            "Follow",
            "follow",
            "app.handler",
            kinds.Code("follow.zip", Ref("CodeBucket"), Ref("CodeKey")),
            Attribute("WorkRole", "Arn"),
            environment={"TABLE": Ref("Table")},
            log_group=Ref("Logs"),
            tags=TAGS,
        ),
        kinds.EventSource(
            "Source",
            Ref("Follow"),
            Attribute("Table", "StreamArn"),
            window_s=1,
            parallelization=2,
            filters=({"eventName": ["INSERT"]},),
            destination=Attribute("Letters", "Arn"),
        ),
        kinds.Bucket("Archive", Sub("archive-${AWS::AccountId}"), TAGS),
        kinds.ScheduleGroup("Group", "group", TAGS),
        kinds.Schedule(
            "Nightly",
            "nightly",
            "cron(0 3 * * ? *)",
            Ref("Group"),
            Attribute("Follow", "Arn"),
            Attribute("WorkRole", "Arn"),
            timezone="Europe/Stockholm",
            payload={"work": "trending"},
            dead_letters=Attribute("Letters", "Arn"),
            window_minutes=15,
        ),
        kinds.Role(
            "WorkRole",
            "work",
            kinds.Trust(services=("lambda.amazonaws.com", "scheduler.amazonaws.com", "backup.amazonaws.com")),
            (Policy("work", (Statement("Send", ("sqs:SendMessage",), ("${Letters.Arn}",)),)),),
            managed=(Sub("arn:${AWS::Partition}:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"),),
        ),
        kinds.Alarm("Late", rule, (Ref("Topic"),), (Ref("Topic"),), TAGS),
        kinds.Dashboard(
            "Board",
            "board",
            {
                "widgets": [
                    {
                        "type": "text",
                        "width": 6,
                        "height": 3,
                        "properties": {"markdown": "in ${AWS::Region}"},
                    }
                ]
            },
        ),
        kinds.BackupPlan(
            "Backups",
            "weekly",
            "vault",
            (kinds.BackupRule("weekly", "cron(0 3 ? * 1 *)", 90),),
            (Attribute("Table", "Arn"),),
            Attribute("WorkRole", "Arn"),
            tags=TAGS,
        ),
    ]
    parameters = [Parameter(each, f"the {each}") for each in ("CodeBucket", "CodeKey", "Email")]
    number = next(each for each in range(30) if made_up(each).table.stream == "NEW_AND_OLD_IMAGES")
    options = StackOptions(REGION, {"stage": "prod"})
    return make_stack(made_up(number), options, further=further, parameters=parameters)
