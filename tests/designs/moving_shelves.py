"""Shelves on their way to other keys, with what a stream keeps of them: counts, copies and labels."""

from __future__ import annotations

from typing import Annotated

from singletable.design import (
    BatchGet,
    Collect,
    Collection,
    CopyOf,
    CountOf,
    Derived,
    Design,
    Entity,
    Get,
    Key,
    Keys,
    Query,
    SortKey,
    Table,
    collect,
    pattern,
)


class ShelfTable(Table):
    name = "shelves"
    pitr_days = None
    stream = "NEW_AND_OLD_IMAGES"


class OldShelfPK(Key, template="OLD#{shelf}"):
    shelf: str


class ShelfPK(Key, template="SHELF#{shelf}"):
    shelf: str


class ShelfSK(SortKey, template="SHELF"):
    pass


class JarSK(SortKey, template="JAR#{jar}"):
    jar: str


class SpoonSK(SortKey, template="SPOON#{jar}#{spoon}"):
    jar: str
    spoon: str


class LabelPK(Key, template="LABEL#{label}"):
    label: str


class OldShelf(Entity, name="Shelf"):
    key = Keys(OldShelfPK, ShelfSK)

    shelf: str
    room: str = "cellar"


class OldJar(Entity, name="Jar"):
    key = Keys(OldShelfPK, JarSK)

    shelf: str
    jar: str
    room: str | None = None
    labels: set[str] = set()


class OldSpoon(Entity, name="Spoon"):
    key = Keys(OldShelfPK, SpoonSK)

    shelf: str
    jar: str
    spoon: str


class OldShelves(Design):
    table = ShelfTable
    entities = (OldShelf, OldJar, OldSpoon)


class Shelf(Entity, owns=("Jar",)):
    key = Keys(ShelfPK, ShelfSK, was=(OldShelfPK, ShelfSK))

    shelf: str
    room: str = "cellar"
    jars: Annotated[int, CountOf("Jar", by="stream")] = 0


class Jar(Entity, owns=("Spoon",)):
    key = Keys(ShelfPK, JarSK, was=(OldShelfPK, JarSK))

    shelf: str
    jar: str
    room: Annotated[str | None, CopyOf(Shelf, "room", by="stream")] = None
    labels: set[str] = set()


class Spoon(Entity):
    key = Keys(ShelfPK, SpoonSK, was=(OldShelfPK, SpoonSK))

    shelf: str
    jar: str
    spoon: str


def labels_of(jar: Jar) -> list[Label]:
    return [Label(label=label, shelf=jar.shelf, jar=jar.jar) for label in sorted(jar.labels)]


class LabelSK(SortKey, template="{shelf}#{jar}"):
    shelf: str
    jar: str


class Label(Entity):
    key = Keys(LabelPK, LabelSK)
    made = Derived(Jar, labels_of, by="stream", reads=("labels",))

    label: str
    shelf: str
    jar: str


class OnShelf(Collection):
    jars: list[Jar]


class Shelves(Design):
    table = ShelfTable
    entities = (Shelf, Jar, Spoon, Label)

    @pattern("1 Get a shelf")
    def shelf(self, shelf: str) -> Get[Shelf]:
        return Shelf.key.get(ShelfPK(shelf=shelf), ShelfSK())

    @pattern("2 Get a jar")
    def jar(self, shelf: str, jar: str) -> Get[Jar]:
        return Jar.key.get(ShelfPK(shelf=shelf), JarSK(jar=jar))

    @pattern("3 Get the jars of a shelf")
    def jars(self, shelf: str) -> Query[Jar]:
        return Jar.key.query(ShelfPK(shelf=shelf))

    @pattern("4 Get some jars")
    def some(self, shelf: str, first: str, second: str) -> BatchGet[Jar]:
        return Jar.key.batch_get([(ShelfPK(shelf=shelf), JarSK(jar=jar)) for jar in (first, second)])

    @pattern("5 Get what is on a shelf")
    def whole(self, shelf: str) -> Collect[OnShelf]:
        return collect(OnShelf, ShelfPK(shelf=shelf))

    @pattern("6 Get the jars with a label")
    def labelled(self, label: str) -> Query[Label]:
        return Label.key.query(LabelPK(label=label))
