"""DOC909: one prefix of a key stands before a name in one place and before an id in another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

if TYPE_CHECKING:
    from singletable.blueprint.positions import Path
    from singletable.lint.keys import Slot

_ID: Final = re.compile(r"_?(?:id|ID|Id)$")
_WORD: Final = re.compile(r"[A-Za-z]+(?:[ -][A-Za-z]+)*")


def check(view: View) -> Iterator[Finding]:
    """Look for `CAT#{category}` with words as samples beside `CAT#{categoryId}`."""
    led: dict[str, list[tuple[Slot, Path]]] = {}
    for place in view.places:
        for role, _, template in place.templates():
            if role == "pk" and len(template.slots) == 1 and template.prefix:
                led.setdefault(template.prefix, []).append((template.slots[0], place.path[:2]))
    for prefix, slots in led.items():
        words = next((each for each in slots if _is_word(each[0])), None)
        if words is None:
            continue
        ids = next((each for each in slots if _is_id_of(each[0], words[0])), None)
        if ids is not None:
            word, identity = words[0], ids[0]
            yield finding(
                RULE,
                words[1],
                ids[1],
                message=f"{prefix} stands before {word.name}, as {word.samples[0]}, and before "
                f"{identity.name} elsewhere",
                because=f"who has the one cannot make the key of the other: {prefix}{word.samples[0]} "
                "is not under "
                f"{prefix}<{identity.name}> unless the id is that word",
                repair=f"say that {identity.name} is the same word, or write {identity.name} in both keys",
            )


def _is_word(slot: Slot) -> bool:
    return bool(
        not _ID.search(slot.name)
        and not slot.is_encoded
        and slot.samples
        and all(_WORD.fullmatch(str(each)) for each in slot.samples)
    )


def _is_id_of(slot: Slot, word: Slot) -> bool:
    """Tell whether a slot is the id of what another names, and nothing says that they are one."""
    is_named_so = slot.name != word.name and _ID.sub("", slot.name) == word.name
    return is_named_so and not set(slot.samples) & set(word.samples) and slot.format not in ("slug", "lower")


RULE = Rule("DOC909", Severity.DISAGREEMENT, "One prefix stands before a name and before an id", check)
