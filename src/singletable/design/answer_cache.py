"""Answers of reads that a plan allows to be a little old.

A write through the same session forgets what it changes. What others write is seen when an answer is too old. What
was not there may come at any moment, so an answer that lacks something is kept for a minute at most. How old one
is goes by a clock that nobody can put back.
"""

from __future__ import annotations

import json
from collections import OrderedDict, defaultdict
from threading import Lock
from typing import Any, Final, NamedTuple

from singletable.client.calls import Call
from singletable.design.item_sizes import attribute_bytes
from singletable.design.stored_values import Item
from singletable.limits import KIB

# Of items as they are stored. In Python they take ten times as much.
KEPT_BYTES_MAX: Final = 8 * KIB * KIB
ABSENT_S_MAX: Final = 60.0
_ANSWER_BYTES: Final = KIB  # what is around the items: texts of keys, dicts


class _Kept(NamedTuple):
    """An answer, how long it may be given, how large it is, and the keys that it is about; None if any."""

    until_us: int
    answer: Any
    bytes: int
    keys: frozenset[str] | None


class AnswerCache:
    """Answers by what was asked. Nobody may change one: it is shared by all who ask."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, _Kept] = OrderedDict()
        # Answers by the keys that they are about; those under None are about any.
        self._about: defaultdict[str | None, set[str]] = defaultdict(set)
        self._bytes = 0
        self._emptied = 0
        self._lock = Lock()

    def get(self, key: str, elapsed_us: int) -> Any:
        """Return an answer that may still be given; None if there is none."""
        with self._lock:
            kept = self._answers.get(key)
            return kept.answer if kept is not None and elapsed_us < kept.until_us else None

    def emptied(self) -> int:
        """Return how often something was forgotten: an answer to a question from before may be of before, too."""
        with self._lock:
            return self._emptied

    def put(
        self, key: str, answer: Any, until_us: int, *, emptied: int, keys: frozenset[str] | None = None
    ) -> None:
        """Keep an answer about items of these keys, unless something was forgotten since it was asked for."""
        size = _ANSWER_BYTES + sum(map(_item_bytes, items_in(answer)))
        with self._lock:
            if emptied != self._emptied:
                return
            self._drop(key)
            self._bytes += size
            self._answers[key] = kept = _Kept(until_us, answer, size, keys)
            for about in kept.keys or (None,):
                self._about[about].add(key)
            while self._bytes > KEPT_BYTES_MAX:
                self._drop(next(iter(self._answers)))

    def forget(self, written: Item) -> None:
        """Forget what a write of the item of a key may change: reads of this key, and all queries."""
        with self._lock:
            self._emptied += 1
            if not self._answers:  # of most designs: to write a key as a text is a tenth of a delete
                return
        text = _key_text(written)
        if text is None:
            self.clear()
            return
        with self._lock:
            for key in [key for about in (text, None) for key in self._about.get(about, ())]:
                self._drop(key)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._answers.clear()
            self._about.clear()
            self._bytes = 0
            self._emptied += 1

    def _drop(self, key: str) -> None:
        dropped = self._answers.pop(key, None)
        if dropped is None:
            return
        self._bytes -= dropped.bytes
        for about in dropped.keys or (None,):
            self._about[about].discard(key)
            if not self._about[about]:
                del self._about[about]


def _key_text(key: Item) -> str | None:
    """Return a key of texts as one text; None where it holds numbers, which can be written in several ways."""
    if not all("S" in value for value in key.values()):
        return None
    return json.dumps(key, sort_keys=True)


def keys_of(call: Call) -> frozenset[str] | None:
    """Return the keys of the items that a call asks for; None if it asks for others too."""
    keys: list[Item] = []
    if call.operation == "GetItem":
        keys = [call.params["Key"]]
    elif call.operation == "BatchGetItem":
        keys = [key for wanted in call.params["RequestItems"].values() for key in wanted["Keys"]]
    texts = {_key_text(key) for key in keys}
    return frozenset(text for text in texts if text is not None) if texts and None not in texts else None


def items_in(answer: Any) -> list[Item]:
    """Return the items of an answer."""
    found = [answer["Item"]] if "Item" in answer else []
    return [
        *found,
        *answer.get("Items", ()),
        *(item for each in answer.get("Responses", {}).values() for item in each),
    ]


def is_lacking(call: Call, answer: Any) -> bool:
    """Tell whether something was not there that may come."""
    keys = keys_of(call)
    return len(items_in(answer)) < (1 if keys is None else len(keys))


def _item_bytes(item: Item) -> int:
    return sum(len(name) + attribute_bytes(value) for name, value in item.items())
