"""The catalogue of ingredients, what people have at home, and names that nobody knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from singletable import Entity
from singletable_systems.smart_cooking.model.entities import (
    InvalidIngredient,
    InvalidIngredientReport,
    MasterIngredient,
    UserIngredient,
)
from singletable_systems.smart_cooking.model.keys import IngredientId
from singletable_systems.smart_cooking.model.names import normalize
from singletable_systems.smart_cooking.operating.seeding.people import Member

# Of each category: names, each with its aliases behind it. The first one is that of the document (002:149-166).
_CATALOGUE: Final = {
    "meat": (
        "Thịt gà: gà, chicken, thịt gà ta",
        "Thịt bò: bò, beef",
        "Thịt heo: thịt lợn, pork",
        "Thịt vịt: vịt, duck",
        "Sườn heo: sườn non, pork ribs",
        "Giò lụa: chả lụa",
    ),
    "seafood": (
        "Tôm: tôm sú, shrimp, prawn",
        "Cua: crab",
        "Cá hồi: salmon",
        "Cá basa: basa",
        "Mực: squid",
    ),
    "vegetable": (
        "Cà chua: tomato",
        "Hành tây: onion",
        "Hành lá: spring onion, scallion",
        "Tỏi: garlic",
        "Gừng: ginger",
        "Cà rốt: carrot",
        "Khoai tây: potato",
        "Rau muống: water spinach, morning glory",
        "Cải thảo: napa cabbage",
        "Giá đỗ: bean sprouts",
        "Nấm hương: nấm đông cô, shiitake",
        "Bông cải xanh: broccoli",
        "Ớt: chilli, chili",
        "Dưa leo: dưa chuột, cucumber",
    ),
    "herb": (
        "Sả: lemongrass",
        "Rau mùi: ngò rí, coriander, cilantro",
        "Húng quế: basil, Thai basil",
        "Bạc hà: mint",
    ),
    "dairy": (
        "Trứng gà: trứng, egg",
        "Bơ: butter",
        "Parmesan: phô mai Parmesan",
        "Mozzarella",
        "Sữa tươi: milk",
    ),
    "grain": (
        "Gạo: rice",
        "Bánh phở: pho noodles",
        "Bún: rice vermicelli",
        "Mì Ý: spaghetti, pasta",
        "Bánh mì: bread, baguette",
        "Bột mì: flour",
        "Bánh tráng: rice paper",
    ),
    "legume": ("Đậu phụ: đậu hũ, tofu", "Đậu phộng: lạc, peanut", "Đậu xanh: mung bean"),
    "seasoning": (
        "Nước mắm: fish sauce",
        "Nước tương: xì dầu, soy sauce",
        "Dầu ăn: oil",
        "Dầu ô liu: olive oil",
        "Nước cốt dừa: coconut milk",
        "Bột cà ri: curry powder",
        "Đường: sugar",
        "Muối: salt",
        "Tiêu: pepper",
    ),
}
_AT_HOME: Final = 6
_FIRST_UNKNOWN: Final = 7
_OTHER_UNKNOWN: Final = 2


def catalogue(created_at: datetime) -> list[MasterIngredient]:
    """Return the ingredients that the app knows."""
    return [
        _ingredient(category, *line.split(": "), created_at=created_at)
        for category, lines in _CATALOGUE.items()
        for line in lines
    ]


def _ingredient(category: str, name: str, aliases: str = "", *, created_at: datetime) -> MasterIngredient:
    return MasterIngredient(
        ingredient_id=ingredient_id(name),
        name=name,
        category=category,
        aliases=aliases.split(", ") if aliases else [],
        created_at=created_at,
        updated_at=created_at,
    )


def ingredient_id(name: str) -> IngredientId:
    """Return the id of an ingredient: `Thịt gà` is `thit-ga`."""
    return IngredientId(normalize(name).replace(" ", "-"))


_NAMES: Final = tuple(line.partition(": ")[0] for lines in _CATALOGUE.values() for line in lines)


def pantry(member: Member, now: datetime) -> Iterator[UserIngredient]:
    """Make up what somebody has at home."""
    for turn in range(_AT_HOME):
        name = _NAMES[(member.number * 7 + turn * 11) % len(_NAMES)]
        yield UserIngredient(
            user_id=member.user_id,
            ingredient_id=ingredient_id(name),
            ingredient_name=name,
            added_at=now - timedelta(days=1 + turn, minutes=member.place),
        )


# --- names that nobody knows ------------------------------------------------------------------------------------


def unknown_name(circle: int, turn: int) -> str:
    """Return a name that one circle has asked for, and no other: a secret sauce."""
    return f"Sốt bí mật số {circle * 10 + turn}"


def reports(circle: int, members: Sequence[Member], now: datetime) -> Iterator[Entity]:
    """Make up who has reported what. What the first circle misses is reported most."""
    for turn in range(_FIRST_UNKNOWN if circle == 0 else _OTHER_UNKNOWN):
        name, at = unknown_name(circle, turn), now - timedelta(days=9 + turn)
        times = (6 - turn % 2, 3, 1) if circle == 0 else (1, 1)
        is_known_now = turn == (_FIRST_UNKNOWN if circle == 0 else _OTHER_UNKNOWN) - 1
        yield InvalidIngredient(
            ingredient_name=name,
            total_reports=sum(times),
            status="resolved" if is_known_now else "pending",
            admin_notes="It is soy sauce with ginger." if is_known_now else "",
            created_at=at,
            updated_at=at,
        )
        for place, count in enumerate(times):
            yield InvalidIngredientReport(
                report_id=f"i{circle:04}-{turn}-{place}",
                ingredient_name=name,
                user_id=members[(turn + place) % len(members)].user_id,
                user_report_count=count,
                created_at=at + timedelta(hours=place),
                updated_at=at + timedelta(hours=place),
            )
