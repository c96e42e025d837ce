"""The system as the command line runs it."""

from __future__ import annotations

from typing import Final

from singletable.systems import System, Trial
from singletable_systems.lunch_cache.design import LunchCache
from singletable_systems.lunch_cache.seeding import seed, workers
from singletable_systems.lunch_cache.seeding.samples import samples

_ONE_MENU: Final = Trial(
    "one menu by its key: a restaurant, and the week that it is in Stockholm (boto3)",
    """\
PYTHON - <<'EOF'
from datetime import datetime
from zoneinfo import ZoneInfo
import boto3
dynamodb = boto3.resource(
    "dynamodb", endpoint_url="URL", region_name="us-east-1",
    aws_access_key_id="local", aws_secret_access_key="local",
)
year, week, _ = datetime.now(ZoneInfo("Europe/Stockholm")).isocalendar()
found = dynamodb.Table("lunch-cache-dev").get_item(Key={"pk": f"niagara-{year}-{week:02}"})
for lunch in found["Item"]["lunches"]:
    print(lunch["weekday"], lunch["name"], lunch["price"], "kr")
EOF
""",
)
_ALL_MENUS: Final = Trial(
    "what restaurants serve this week, however their names are written (Python)",
    """\
PYTHON - <<'EOF'
from singletable_systems.lunch_cache import LunchCache, Menus
with LunchCache.open("URL", environment="dev") as db:
    found = Menus(db).all_this_week(["Niagara", "Gröna Lunden", "la cantina", "Nowhere"])
    for menu in found.menus:
        print(menu.restaurant, menu.lunch_count, "lunches,", menu.lunches[0].name, "among them")
    print("none of", *found.missing)
EOF
""",
)
_HISTORY: Final = Trial(
    "what was scraped of a restaurant, the newest first, from the index (AWS CLI)",
    """\
CREDENTIALS aws dynamodb query \\
  --endpoint-url URL --table-name lunch-cache-dev --index-name RestaurantIndex \\
  --key-condition-expression 'restaurant = :name' --no-scan-index-forward \\
  --expression-attribute-values '{":name": {"S": "spisa-hos-helena"}}' \\
  --query 'Items[].[pk.S, lunchCount.N, validationErrors.L[0].M.message.S]' --output text
""",
)

SYSTEM: Final = System(
    name="lunch_cache",
    title="Lunch Cache: the weekly lunch menus of restaurants, cached for two weeks",
    design=LunchCache,
    seed=seed,
    environment={"environment": "dev"},
    workers=workers,
    samples=samples,
    trials=(_ONE_MENU, _ALL_MENUS, _HISTORY),
)
