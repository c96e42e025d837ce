"""The system as the command line runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from singletable.systems import System, Trial
from singletable_systems.kefir.design import Kefir
from singletable_systems.kefir.dispatching import workers
from singletable_systems.kefir.seeding import seed
from singletable_systems.kefir.seeding.samples import samples

_COLLECTION: Final = Trial(
    "Ada, her batches and her devices, in one query (boto3)",
    """\
PYTHON - <<'EOF'
import boto3
dynamodb = boto3.resource(
    "dynamodb", endpoint_url="URL", region_name="us-east-1",
    aws_access_key_id="local", aws_secret_access_key="local",
)
found = dynamodb.Table("kefir-app-dev-table").query(
    KeyConditionExpression="PK = :user", ExpressionAttributeValues={":user": "USER#ada"}
)
for item in found["Items"]:
    print(item["SK"], item.get("name") or item["platform"], item.get("status", ""))
EOF
""",
)
_PATTERNS: Final = Trial(
    "a jar of Ada's was done at midnight: she was reminded of it, and writes a note (Python)",
    """\
PYTHON - <<'EOF'
from singletable_systems.kefir import BatchId, Brewing, Kefir, UserId
with Kefir.open("URL", stage="dev") as db:
    for reminder in db.reminders(BatchId("ada-09")).all():
        print(reminder.status, reminder.message)
    Brewing(db).note(UserId("ada"), BatchId("ada-09"), "Bottles are washed.")
    for event in db.events(BatchId("ada-09")).newest_first().limit(3).all():
        print(event.created_at, event.note or event.photo_key)
EOF
""",
)
_INDEX: Final = Trial(
    "batches of all users that are ready, from one of four shards of an index (AWS CLI)",
    """\
CREDENTIALS aws dynamodb query \\
  --endpoint-url URL --table-name kefir-app-dev-table --index-name GSI2 \\
  --key-condition-expression 'GSI2PK = :ready' \\
  --expression-attribute-values '{":ready": {"S": "STATUS#ready#0"}}' \\
  --query 'Items[].[createdAt.S, userId.S, name.S]' --output text
""",
)

SYSTEM: Final = System(
    name="kefir",
    title="Kefir: batches of water kefir, their timelines, reminders and devices",
    design=Kefir,
    seed=seed,
    environment={"stage": "dev"},
    migrations=Path(__file__).with_name("migrations"),
    workers=workers,
    samples=samples,
    trials=(_COLLECTION, _PATTERNS, _INDEX),
)
