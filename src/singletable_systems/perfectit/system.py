"""The system as the command line runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from singletable.systems import System, Trial
from singletable_systems.perfectit.consuming import workers
from singletable_systems.perfectit.design import PerfectIt
from singletable_systems.perfectit.seeding import seed
from singletable_systems.perfectit.seeding.samples import samples

_CARD: Final = Trial(
    "a card with its votes, its words and its comments, all in one partition (boto3)",
    """\
PYTHON - <<'EOF'
import boto3
dynamodb = boto3.resource(
    "dynamodb", endpoint_url="URL", region_name="us-east-1",
    aws_access_key_id="local", aws_secret_access_key="local",
)
found = dynamodb.Table("perfectit-main").query(
    KeyConditionExpression="PK = :card", ExpressionAttributeValues={":card": "CARD#c000000"}
)
for item in found["Items"]:
    print(item["SK"], item.get("title") or item.get("text") or item.get("score", ""))
EOF
""",
)
_VOTE: Final = Trial(
    "Ada votes against the best card, twice, and it is counted once; the list follows (Python)",
    """\
PYTHON - <<'EOF'
from singletable_systems.perfectit import PerfectIt, UserId, Voting
with PerfectIt.open("URL") as db:
    best = db.top_voted().first()
    for _ in range(2):
        Voting(db).vote(UserId("ada"), best.card_id, -1)
    stats = db.stats(best.card_id).one()
    print(best.title, stats.up_votes, "for,", stats.down_votes, "against")
    for card in db.top_voted().limit(5).all():
        print(card.vote_score, card.title, "by", card.user_id)
EOF
""",
)
_INDEX: Final = Trial(
    "the best scores, from the index of votes: five billion stands for zero (AWS CLI)",
    """\
CREDENTIALS aws dynamodb query \\
  --endpoint-url URL --table-name perfectit-main --index-name GSI5 \\
  --key-condition-expression 'GSI5PK = :cards' --no-scan-index-forward --limit 5 \\
  --expression-attribute-values '{":cards": {"S": "VOTETYPE#CARD"}}' \\
  --query 'Items[].[GSI5SK.S]' --output text
""",
)

SYSTEM: Final = System(
    name="perfectit",
    title="PerfectIt: cards that say how to do things perfectly, with votes, comments and collections",
    design=PerfectIt,
    seed=seed,
    environment={"environment": "main"},
    migrations=Path(__file__).with_name("migrations"),
    workers=workers,
    trials=(_CARD, _VOTE, _INDEX),
    samples=samples,
)
