"""How far a call goes through the code: `python -m benchmarks.walks [--json] [--trace WALK]`.

For each walk: calls into src, modules that it comes to, how many of them are of design, how often it goes from one
module of design to another, and from one package to another. A walk goes from call to call; the way back is not
counted. Each was gone several times before, so that nothing is loaded or compiled on the way. A generator that
goes on is a call, a comprehension is not. What an import loads is counted in an interpreter of its own.

Modules are told by their files, so that trees whose modules have other names can be compared.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, Final

import orjson

import singletable
from benchmarks import payloads
from singletable import (
    Change,
    CountOf,
    Database,
    Design,
    Entity,
    Gt,
    Index,
    Key,
    Keys,
    Query,
    SortKey,
    Table,
    Unique,
    on,
    pattern,
)
from singletable_systems.smart_cooking.model.keys import UserId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.rules.drafts import IngredientLine, RecipeDraft
from singletable_systems.smart_cooking.services.accounts import Accounts
from singletable_systems.smart_cooking.services.ratings import Ratings
from singletable_systems.smart_cooking.services.recipes import Recipes

SOURCE: Final = Path(singletable.__path__[0]).resolve().parent
DESIGN: Final = "singletable.design"
RECORDS: Final = 3
WARM: Final = 3
COMPREHENSIONS: Final = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})  # frames before Python 3.12
HEAD: Final = (
    "| walk | calls | modules | of design | changes of module in design | changes of package |\n"
    "|---|--:|--:|--:|--:|--:|"
)
IMPORT_HEAD: Final = (
    "| import | modules of singletable | of design | of engine, storage, wire | apsw | boto3 |\n"
    "|---|--:|--:|--:|---|---|"
)

A_DESIGN: Final = """
from singletable import Design, Entity, Get, Key, Keys, Table, pattern

class NoteTable(Table):
    name = "notes"
    sk = None

class NotePK(Key, template="NOTE#{note_id}"):
    note_id: str

class Note(Entity):
    key = Keys(NotePK)
    note_id: str

class Notes(Design):
    table = NoteTable
    entities = (Note,)

    @pattern("1 Get a note")
    def note(self, note_id: str) -> Get[Note]:
        return Note.key.get(NotePK(note_id=note_id))
"""
# What is imported, each by an interpreter that has imported nothing else of ours.
IMPORTS: Final = {
    "a design": A_DESIGN,
    "singletable.client": "import singletable.client",
    "singletable.design": "import singletable.design",
    "singletable": "import singletable",
    "singletable.Database": "import singletable; singletable.Database",
}


# --- what is walked through ---------------------------------------------------------------------------------


class ShopTable(Table):
    name = "shops"
    pitr_days = None
    stream = "NEW_AND_OLD_IMAGES"
    by_title = Index("ByTitle", pk="GSI1PK", sk="GSI1SK")


class ShopPK(Key, template="SHOP#{shop_id}"):
    shop_id: str


class ShopSK(SortKey, template="SHOP"):
    pass


class ProductSK(SortKey, template="PRODUCT#{product_id}"):
    product_id: str


class TitlePK(Key, template="TITLE#{title}"):
    title: str


class CodePK(Key, template="CODE#{code}"):
    code: str


class NoteSK(SortKey, template="NOTE#{note_id}"):
    note_id: str


class Shop(Entity):
    key = Keys(ShopPK, ShopSK)

    shop_id: str
    products: Annotated[int, CountOf("Product")] = 0


class Product(Entity):
    key = Keys(ShopPK, ProductSK)
    by_title = ShopTable.by_title.keys(TitlePK, ProductSK)
    unique_code = Unique(CodePK)

    shop_id: str
    product_id: str
    title: str
    code: str
    amount: int = 0


class Note(Entity):
    key = Keys(ShopPK, NoteSK)

    shop_id: str
    note_id: str
    text: str = ""


class Shops(Design):
    table = ShopTable
    entities = (Shop, Product, Note)

    @pattern("1 Products by title")
    def titled(self, title: str) -> Query[Product]:
        return Product.by_title.query(TitlePK(title=title)).where(Gt("amount", 0))


class WatchedShops(Shops):
    """Sees notes, and does nothing with them."""

    @on(Note)
    def see(self, change: Change[Note]) -> None:
        assert change.new is not None


def walks(stack: ExitStack) -> Iterator[tuple[str, Callable[[], object]]]:
    """Prepare each walk by going it several times; yield its name, and what to do."""
    database = stack.enter_context(Database.open(":memory:"))
    database.create_table(**payloads.TABLE_DEFINITION)
    numbers = iter(range(1_000_000))
    put = {
        "TableName": payloads.TABLE,
        "Item": payloads.Payloads(payloads.ONE_KB, items=1).item(0),
        "ConditionExpression": "attribute_not_exists(#k) OR #v = :v",
        "ExpressionAttributeNames": {"#k": "PK", "#v": "version"},
        "ExpressionAttributeValues": {":v": {"N": "1"}},
    }
    body = orjson.dumps(put)
    yield "PutItem with a condition, of Python values", warm(lambda: database.call("PutItem", put))
    yield "PutItem with a condition, of JSON", warm(lambda: database.answer("PutItem", body))
    shops = stack.enter_context(Shops.open(":memory:"))
    shops.create(Shop(shop_id="s"))

    def create() -> object:
        number = next(numbers)
        return shops.create(
            Product(shop_id="s", product_id=f"p{number}", title="cup", code=f"c{number}", amount=1)
        )

    yield "db.create with a unique value, a counter and an index", warm(create)
    yield "a page of a design by an index with a filter", warm(lambda: shops.titled("cup").page(5))
    query = {
        "TableName": "shops",
        "IndexName": "ByTitle",
        "KeyConditionExpression": "GSI1PK = :k",
        "FilterExpression": "amount > :n",
        "ExpressionAttributeValues": {":k": {"S": "TITLE#cup"}, ":n": {"N": "0"}},
        "Limit": 5,
    }
    engine: Any = shops.session.client
    asked = orjson.dumps(query)
    yield "Query by an index with a filter, of JSON", warm(lambda: engine.database.answer("Query", asked))
    yield f"{RECORDS} stream records to one handler", handled(stack, numbers)
    yield "Smart Cooking's rate", rated(stack)


def handled(stack: ExitStack, numbers: Iterator[int]) -> Callable[[], object]:
    """Write records, let a consumer in this thread handle them, and again; return what handles the last ones."""
    db = stack.enter_context(WatchedShops.open(":memory:"))
    consumer = db.consume(background=False)
    stack.callback(consumer.stop)
    for _ in range(WARM + 1):
        consumer.drain()
        for _ in range(RECORDS):
            db.create(Note(shop_id="s", note_id=f"n{next(numbers)}"))
    return consumer.drain


def rated(stack: ExitStack) -> Callable[[], object]:
    """Let some users rate a recipe; return what lets another one."""
    db = stack.enter_context(SmartCooking.open(":memory:"))
    users = [UserId(f"user-{number:02}") for number in range(WARM + 2)]
    for each in users:
        Accounts(db).sign_up(f"{each}@example.com", each, each, user_id=each)
    draft = RecipeDraft(
        title="Gà xào sả ớt",
        cuisine_type="Vietnamese",
        cooking_method="stir-fry",
        meal_type="main",
        ingredients=[IngredientLine(ingredient_name=name) for name in ("Thịt gà", "Sả")],
    )
    recipe_id = Recipes(db).write(users[0], draft, is_public=True).recipe.recipe_id
    ratings = Ratings(db)
    for each in users[1:-1]:
        ratings.rate(each, recipe_id, 3)
    return lambda: ratings.rate(users[-1], recipe_id, 3)


def warm(function: Callable[[], object]) -> Callable[[], object]:
    for _ in range(WARM):
        function()
    return function


# --- counting -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk came to."""

    name: str
    calls: int
    modules: int
    design_modules: int
    design_changes: int
    package_changes: int


@dataclass(frozen=True, slots=True)
class Import:
    """What an import loads."""

    name: str
    modules: int
    design_modules: int
    engine_modules: int
    has_apsw: bool
    has_boto3: bool


def counted(name: str, steps: list[str]) -> Walk:
    """Count the steps of a walk, each the module that was called."""
    changes = [(before, after) for before, after in pairwise(steps) if before != after]
    return Walk(
        name,
        calls=len(steps),
        modules=len(set(steps)),
        design_modules=sum(is_of(step, DESIGN) for step in set(steps)),
        design_changes=sum(is_of(before, DESIGN) and is_of(after, DESIGN) for before, after in changes),
        package_changes=sum(package(before) != package(after) for before, after in changes),
    )


def walked(function: Callable[[], object]) -> list[str]:
    """Do something; return the modules of src that were called, in their order."""
    steps: list[str] = []
    known: dict[str, str | None] = {}

    def look(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event != "call" or code.co_name in COMPREHENSIONS:
            return
        path = code.co_filename
        if path not in known:
            known[path] = module_of(path)
        module = known[path]
        if module is not None:
            steps.append(module)

    sys.setprofile(look)
    try:
        function()
    finally:
        sys.setprofile(None)
    return steps


def module_of(path: str) -> str | None:
    """Return the module of a file, if it is one of src. Functions that were made from a text have no file."""
    file = Path(path)
    if not file.is_absolute() or not file.is_relative_to(SOURCE):
        return None
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def package(module: str) -> str:
    return ".".join(module.split(".")[:2])


def is_of(module: str, name: str) -> bool:
    return module == name or module.startswith(f"{name}.")


def imported(name: str, code: str) -> Import:
    """Import something in a fresh interpreter; count what it loaded."""
    run = [sys.executable, "-c", f"{code}\nimport sys\nprint(*sorted(sys.modules))"]
    loaded = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()
    ours = [module for module in loaded if is_of(module, "singletable")]
    engine = [f"singletable.{each}" for each in ("engine", "storage", "wire", "database")]
    return Import(
        name,
        modules=len(ours),
        design_modules=sum(is_of(module, DESIGN) for module in ours),
        engine_modules=sum(any(is_of(module, each) for each in engine) for module in ours),
        has_apsw="apsw" in loaded,
        has_boto3="boto3" in loaded,
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.walks", description="Count how far calls go.")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--trace", metavar="TEXT", help="print the modules of the walk whose name holds this text"
    )
    arguments = parser.parse_args()
    with ExitStack() as stack:
        steps = {name: walked(function) for name, function in walks(stack)}
    if arguments.trace is not None:
        for name in steps:
            if arguments.trace in name:
                print(*steps[name], sep="\n")
        return
    gone = [counted(name, each) for name, each in steps.items()]
    loaded = [imported(name, code) for name, code in IMPORTS.items()]
    if arguments.json:
        found = {"walks": [asdict(each) for each in gone], "imports": [asdict(each) for each in loaded]}
        print(json.dumps(found, indent=2))
        return
    print(HEAD)
    for each in gone:
        print("|", " | ".join(map(shown, asdict(each).values())), "|")
    print(f"\n{IMPORT_HEAD}")
    for one in loaded:
        print("|", " | ".join(map(shown, asdict(one).values())), "|")


def shown(value: object) -> str:
    if isinstance(value, bool):
        return "loaded" if value else "-"
    return f"{value:,}" if isinstance(value, int) else str(value)


if __name__ == "__main__":
    main()
