"""What a damaged file still has: its trees by name, and to which of them pages belong that nothing names any more.

Pages below a damaged one are named by nothing. They are believed only where all free pages are known, since a free
page may still hold rows that were deleted; and only for the one tree whose rows they fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

import apsw
import orjson

from singletable import errors
from singletable.storage import schema
from singletable.storage.repair.pages import LEAF_TABLE, TREE_KINDS, Pages
from singletable.storage.repair.trees import (
    LOST,
    Row,
    Tree,
    read_rows,
    read_tree,
    rows_of_page,
    unnamed_trees,
)
from singletable.storage.tables import Table
from singletable.values.reading import read_item

_SCHEMA: Final = "sqlite_schema"
# The columns of a row by their types: n null, i integer, t text, b bytes; a capital: or null.
_FIXED: Final = {
    _SCHEMA: "tttiT",
    "meta": "ti",
    "catalog": "tib",
    "counter": "nii",
    "backfill": "ni",
    "dropped": "t",
    "token": "tib",
    "log": "ni",
    "stream": "nititbI",
    "shard": "iiIiiiIiI",
    "consumer": "itiiiiiTII",
    "dead_letter": "itiibti",
    "restore": "nIiTbb",
}
_FORMS: Final = {"item": "nbbib", "key": "bbi", "index": "bbbbi", "log": "niibbBB"}
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "n": (type(None),),
    "i": (int,),
    "t": (str,),
    "b": (bytes,),
    "I": (int, type(None)),
    "T": (str, type(None)),
    "B": (bytes, type(None)),
}
_SAMPLE_ROWS: Final = 50


class Findings:
    """The trees of a damaged file. A name is that of the table or index in SQLite's schema."""

    def __init__(self, pages: Pages) -> None:
        self.pages = pages
        self.trees: dict[str, Tree] = {}
        self._more: dict[str, list[Tree]] = {}
        self.homeless: list[tuple[Tree, list[str]]] = []
        """Trees without a name that fit several tables, with the names of those."""
        self._find_roots()
        damaged = set(pages.damaged)
        placed = {page for tree in self.trees.values() for page in tree.damaged}
        self._free = pages.free(placed=placed)
        self.is_all_placed = damaged <= placed | self._free.pages | {1}

    # --- where each tree begins -------------------------------------------------------------------

    def _find_roots(self) -> None:
        known = read_tree(self.pages, 1)
        self.trees[_SCHEMA] = known
        rows = list(read_rows(self.pages, known))
        if not known.is_whole:
            rows += self._unnamed_rows_of_schema()
        for row in rows:
            if row_fits(_FIXED[_SCHEMA], row) and row.is_whole:
                kind, name, _, root, _ = row.columns
                if kind in ("table", "index") and root and name not in self.trees:
                    self.trees[name] = read_tree(self.pages, root)
        if not _FIXED.keys() <= self.trees.keys():
            self._guess_fixed_roots()

    def _unnamed_rows_of_schema(self) -> Iterator[Row]:
        named, free = set(self.trees[_SCHEMA].named), self.pages.free(placed=set()).pages
        for number in range(2, self.pages.count + 1):
            if self.pages.kinds[number] == LEAF_TABLE and number not in named and number not in free:
                rows = rows_of_page(self.pages, number)
                first = next(rows, None)
                if first is not None and row_fits(_FIXED[_SCHEMA], first):
                    yield first
                    yield from rows

    def _guess_fixed_roots(self) -> None:
        """Look for the fixed tables where a new file has them, or one that VACUUM has written."""
        for roots in _usual_roots():
            found = {name: read_tree(self.pages, root) for name, root in roots.items()}
            if all(self._fits(_FIXED[name], tree, is_empty_fine=True) for name, tree in found.items()):
                self.trees = found | self.trees
                return

    def _fits(self, form: str, tree: Tree, *, is_empty_fine: bool = False) -> bool:
        rows = list(islice(read_rows(self.pages, tree), _SAMPLE_ROWS))
        return (bool(rows) or is_empty_fine) and all(row_fits(form, row) for row in rows)

    # --- rows -------------------------------------------------------------------------------------

    def rows(self, name: str) -> Iterator[Row]:
        """Yield the rows of a tree that can be read. None has a value of another type than it is to have."""
        form = _form(name)
        for tree in self._trees_of(name):
            for row in read_rows(self.pages, tree):
                if form is None or row_fits(form, row):
                    yield row

    def rows_of(self, tree: Tree) -> Iterator[Row]:
        """Yield the rows of a tree without a name."""
        return read_rows(self.pages, tree)

    def whole_rows(self, name: str) -> list[tuple[Any, ...]]:
        """Return the rows of a small table. A null for its id is replaced with that."""
        form = _form(name)
        assert form is not None
        rows = (row for row in self.rows(name) if row.is_whole)
        return [(row.id, *row.columns[1:]) if form[0] == "n" else row.columns for row in rows]

    def _trees_of(self, name: str) -> list[Tree]:
        tree = self.trees.get(name)
        return [*([tree] if tree else []), *self._more.get(name, ())]

    def is_complete(self, name: str) -> bool:
        """Tell whether no row of a tree can be missing."""
        tree, more = self.trees.get(name), self._more.get(name, [])
        if tree is not None and tree.is_whole:
            return True
        form = _form(name)
        if form is None or form[0] != "n":
            return False  # of an index, the pages between root and leaves hold entries too
        only_between = tree is None or len(tree.damaged) == len(tree.damaged_between)
        return bool(more) and only_between and self.is_all_placed and all(one.is_whole for one in more)

    def ends_known(self, name: str) -> bool:
        """Tell whether the last row of a table cannot be missing."""
        return self.is_complete(name) or (name in self.trees and not self.trees[name].ends_damaged)

    # --- pages that nothing names -----------------------------------------------------------------

    def place_unnamed(
        self, tables: Iterable[Table], logged: Iterable[int], counts: dict[int, tuple[int, int]]
    ) -> None:
        """Find out to which table or log pages belong that nothing names. The counts of tables help to tell."""
        by_name = {schema.item_table(table.id): table for table in tables}
        named = {schema.log_table(table.id): table for table in by_name.values()} | by_name
        # Others too: a table that is being taken away may have such pages.
        others = (*self.trees, *(row[0] for row in self.whole_rows("dropped")))
        names = {*by_name, *(f"{name}_key" for name in by_name), *map(schema.log_table, logged), *others}
        wanting = sorted(name for name in names if name not in self.trees or self.trees[name].hides_pages)
        if not wanting or not self._free.is_complete:
            return
        for tree in unnamed_trees(self.pages, self._unnamed_pages()):
            fitting = [name for name in wanting if self._could_be(name, named.get(name), tree)]
            if len(fitting) > 1:
                fitting = self._told_apart(fitting, tree, counts)
            if len(fitting) == 1:
                self._more.setdefault(fitting[0], []).append(tree)
            elif owners := [name for name in fitting if name in by_name]:
                self.homeless.append((tree, owners))

    def _unnamed_pages(self) -> list[int]:
        named = {page for tree in self.trees.values() for page in tree.named}
        pages = self.pages
        return [
            number
            for number in range(2, pages.count + 1)
            if pages.kinds[number] in TREE_KINDS and number not in named and number not in self._free.pages
        ]

    def _could_be(self, name: str, table: Table | None, tree: Tree) -> bool:
        form = _form(name)
        if form is None or not self._fits(form, tree):
            return False
        if table is None:
            return True
        is_right = _is_entry_of if form == _FORMS["log"] else is_item_of
        sample = islice(read_rows(self.pages, tree), _SAMPLE_ROWS)
        return all(LOST in row.columns or is_right(table, row) for row in sample)

    def _told_apart(self, names: list[str], tree: Tree, counts: dict[int, tuple[int, int]]) -> list[str]:
        """Rule out the tables that cannot have these rows. Several may have equal keys, and even equal row ids."""
        if _form(names[0]) != _FORMS["item"]:
            return names
        rows = {row.id: row.columns for row in read_rows(self.pages, tree)}
        return [name for name in names if self._may_have(name, rows, tree, counts)]

    def _may_have(
        self, name: str, rows: dict[int, tuple[Any, ...]], tree: Tree, counts: dict[int, tuple[int, int]]
    ) -> bool:
        if any(row.id in rows for row in self.rows(name)):
            return False  # it has other rows with these ids
        if self.is_complete(f"{name}_key"):
            keys = {(entry.columns[2], *entry.columns[:2]) for entry in self.rows(f"{name}_key")}
            return all(
                LOST in columns[1:3] or (row_id, *columns[1:3]) in keys for row_id, columns in rows.items()
            )
        count = counts.get(int(name.removeprefix("item_")))
        if name in self.trees or count is None:
            return True
        if (
            self.is_all_placed and tree.is_whole
        ):  # it is all of its table: a root that is right is named by nothing
            return count == (len(rows), sum(columns[3] for columns in rows.values()))
        return count[0] >= len(rows)


def _form(name: str) -> str | None:
    if name in _FIXED:
        return _FIXED[name]
    kind, _, rest = name.partition("_")
    return _FORMS.get("key" if rest.endswith("_key") else kind)


def row_fits(form: str, row: Row) -> bool:
    """Tell whether the values of a row have the types of a form, as far as they can be read."""
    return len(row.columns) == len(form) and all(
        value is LOST or isinstance(value, _TYPES[one]) for one, value in zip(form, row.columns, strict=True)
    )


def is_item_of(table: Table, row: Row) -> bool:
    """Tell whether the item of a row has the key and the size that stand beside it."""
    _, pk, sk, size, raw = row.columns
    try:
        item, found = read_item(orjson.loads(raw), native=False)
        return (table.key_of(item), found) == ((pk, sk), size)
    except (ValueError, KeyError, TypeError, AttributeError, errors.ApiError):
        return False


def _is_entry_of(table: Table, row: Row) -> bool:
    """Tell whether the items of an entry of a log have the key that stands beside them."""
    _, _, _, pk, sk, before, after = row.columns
    try:
        images = [orjson.loads(image) for image in (before, after) if image is not None]
        # A key attribute is never empty.
        return bool(sk) == (table.sort_name is not None) and all(
            table.key_of(image) == (pk, sk) for image in images
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return False


def _usual_roots() -> Iterator[dict[str, int]]:
    connection = apsw.Connection(":memory:")
    try:
        connection.execute(schema.CREATE + schema.CREATE_REGISTERS).fetchall()
        for step in ("", "VACUUM"):
            connection.execute(step).fetchall()
            rows: list[Any] = connection.execute("SELECT name, rootpage FROM sqlite_schema").fetchall()
            yield {name: root for name, root in rows if name in _FIXED}
    finally:
        connection.close()
