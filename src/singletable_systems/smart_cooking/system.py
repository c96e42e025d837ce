"""The system as the command line runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from singletable.systems import System, Trial, Worker
from singletable_systems.smart_cooking.design import SmartCooking
from singletable_systems.smart_cooking.seeding import seed
from singletable_systems.smart_cooking.seeding.samples import samples
from singletable_systems.smart_cooking.trending import Trending

_SEARCH: Final = Trial(
    "ingredients that are found by `ga`, also by their other names (boto3)",
    """\
PYTHON - <<'EOF'
import boto3
dynamodb = boto3.resource(
    "dynamodb", endpoint_url="URL", region_name="us-east-1",
    aws_access_key_id="local", aws_secret_access_key="local",
)
found = dynamodb.Table("smart-cooking-data-dev").query(
    IndexName="GSI2",
    KeyConditionExpression="GSI2PK = :search AND begins_with(GSI2SK, :term)",
    ExpressionAttributeValues={":search": "INGREDIENT#SEARCH", ":term": "NAME#ga"},
)
for item in found["Items"]:
    print(item["GSI2SK"], "is", item.get("ingredient_name") or item["name"])
EOF
""",
)
_SUGGEST: Final = Trial(
    "Mai has chicken, rice, and something that nobody knows: what is there comes first (Python)",
    """\
PYTHON - <<'EOF'
from singletable_systems.smart_cooking import PantrySource, SmartCooking, Suggestions, UserId
with SmartCooking.open("URL", environment="dev") as db:
    given = Suggestions(db, PantrySource()).suggest(UserId("mai"), ["chicken", "Gạo", "kryptonite"], count=5)
    for recipe in given.recipes:
        print("generated" if recipe.is_ai_generated else recipe.average_rating, recipe.title)
    for name in given.suggestion.invalid_ingredients:
        print(name, "is reported:", db.invalid_ingredient(name).one().total_reports)
EOF
""",
)
_FEED: Final = Trial(
    "the newest public posts, from an index that nothing else is in (AWS CLI)",
    """\
CREDENTIALS aws dynamodb query \\
  --endpoint-url URL --table-name smart-cooking-data-dev --index-name GSI3 \\
  --key-condition-expression 'GSI3PK = :feed' --no-scan-index-forward --limit 5 \\
  --expression-attribute-values '{":feed": {"S": "FEED#PUBLIC"}}' \\
  --query 'Items[].[created_at.S, user_name.S, content.S]' --output text
""",
)


def workers(db: SmartCooking) -> tuple[Worker, ...]:
    """Return what runs beside an open Smart Cooking: the ranking is counted anew."""
    return (Trending(db).worker(),)


SYSTEM: Final = System(
    name="smart_cooking",
    title="Smart Cooking: recipes from what is at home, with ratings, cooking history, friends and feeds",
    design=SmartCooking,
    seed=seed,
    environment={"environment": "dev"},
    migrations=Path(__file__).with_name("migrations"),
    workers=workers,
    samples=samples,
    trials=(_SEARCH, _SUGGEST, _FEED),
)
