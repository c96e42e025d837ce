"""What is cooked: eight dishes, with what goes into them and what is done."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from singletable_systems.smart_cooking.model.entities import Step
from singletable_systems.smart_cooking.model.names import normalize


@dataclass(frozen=True, slots=True)
class Line:
    """Something that goes into a dish."""

    name: str
    quantity: Decimal
    unit: str


@dataclass(frozen=True, slots=True)
class Dish:
    """Something to cook."""

    title: str
    description: str
    cuisine_type: str
    cooking_method: str
    meal_type: str
    minutes: int
    calories: int
    lines: tuple[Line, ...]
    steps: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """Return the normal names of the ingredients."""
        return [normalize(line.name) for line in self.lines]

    def text(self) -> dict[str, Any]:
        """Return the fields of a recipe that say how it is cooked."""
        return {
            "description": self.description,
            "cuisine_type": self.cuisine_type,
            "cooking_method": self.cooking_method,
            "meal_type": self.meal_type,
            "prep_time_minutes": 15,
            "cook_time_minutes": self.minutes,
            "servings": 2,
            "calories_per_serving": self.calories,
            "instructions": [
                Step(step_number=place, description=text, duration=f"{self.minutes // len(self.steps)} phút")
                for place, text in enumerate(self.steps, start=1)
            ],
            "ingredient_names": self.names,
        }


def _dish(
    title: str, lists: str, minutes: int, calories: int, lines: str, description: str, *steps: str
) -> Dish:
    cuisine_type, cooking_method, meal_type = lists.split(", ")
    return Dish(
        title,
        description,
        cuisine_type,
        cooking_method,
        meal_type,
        minutes,
        calories,
        tuple(_line(each) for each in lines.split(", ")),
        steps,
    )


def _line(text: str) -> Line:
    quantity, unit, name = text.split(" ", 2)
    return Line(name, Decimal(quantity), unit)


# Most are Vietnamese, many are stir-fried: as the samples of the document (002:182-190).
DISHES: Final = (
    _dish(
        "Gà xào sả ớt",
        "Vietnamese, stir-fry, main",
        20,
        350,
        "300 g Thịt gà, 3 cây Sả, 2 quả Ớt, 4 tép Tỏi, 2 muỗng Nước mắm",
        "Món gà xào thơm ngon, cay vừa.",
        "Ướp gà với sả ớt.",
        "Phi thơm tỏi, cho gà vào xào trên lửa lớn.",
        "Nêm nước mắm, đảo đều rồi tắt bếp.",
    ),
    _dish(
        "Phở bò",
        "Vietnamese, soup, breakfast",
        180,
        450,
        "500 g Thịt bò, 400 g Bánh phở, 1 củ Hành tây, 1 củ Gừng, 3 muỗng Nước mắm",
        "Nước dùng trong, ngọt xương.",
        "Nướng gừng và hành tây.",
        "Ninh xương ba tiếng.",
        "Trụng bánh phở, xếp thịt, chan nước dùng.",
    ),
    _dish(
        "Rau muống xào tỏi",
        "Vietnamese, stir-fry, side",
        10,
        120,
        "400 g Rau muống, 6 tép Tỏi, 2 muỗng Dầu ăn, 1 muỗng Nước mắm, 1 nhúm Muối",
        "Xanh, giòn, thơm tỏi.",
        "Chần rau một phút.",
        "Phi tỏi vàng.",
        "Xào rau thật nhanh trên lửa lớn.",
    ),
    _dish(
        "Thịt kho trứng",
        "Vietnamese, stew, main",
        90,
        520,
        "500 g Thịt heo, 6 quả Trứng gà, 300 ml Nước cốt dừa, 3 muỗng Nước mắm, 2 muỗng Đường",
        "Món của ngày Tết.",
        "Thắng đường, cho thịt vào săn lại.",
        "Thêm nước dừa, kho liu riu.",
        "Cho trứng luộc vào, kho thêm nửa tiếng.",
    ),
    _dish(
        "Tom yum",
        "Thai, soup, starter",
        30,
        240,
        "250 g Tôm, 3 cây Sả, 150 g Nấm hương, 3 quả Ớt, 2 muỗng Nước mắm",
        "Hot, sour, and quickly done.",
        "Bring the stock to the boil with the lemongrass.",
        "Add mushrooms and chilli.",
        "Add the shrimp, and stop when they turn pink.",
    ),
    _dish(
        "Spaghetti al pomodoro",
        "Italian, boil, main",
        25,
        480,
        "200 g Mì Ý, 400 g Cà chua, 2 tép Tỏi, 3 muỗng Dầu ô liu, 8 lá Húng quế",
        "Five things, and salt.",
        "Let the garlic sweat in the oil.",
        "Add the tomatoes and simmer.",
        "Finish the pasta in the sauce.",
    ),
    _dish(
        "Cá hồi hấp gừng",
        "Vietnamese, steam, main",
        15,
        310,
        "300 g Cá hồi, 1 củ Gừng, 3 cây Hành lá, 2 muỗng Nước tương, 1 muỗng Dầu ăn",
        "Nhẹ, thơm gừng.",
        "Xếp cá lên gừng thái sợi.",
        "Hấp mười phút.",
        "Rưới nước tương và dầu nóng lên hành lá.",
    ),
    _dish(
        "Đậu phụ xào nấm",
        "Chinese, stir-fry, main",
        18,
        280,
        "300 g Đậu phụ, 200 g Nấm hương, 2 muỗng Nước tương, 3 tép Tỏi, 2 cây Hành lá",
        "Without meat, and nobody misses it.",
        "Fry the tofu until it is golden.",
        "Fry garlic and mushrooms.",
        "Toss everything with the soy sauce.",
    ),
)
