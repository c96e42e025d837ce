"""What one call of a service does, in a line of text:

own_batch [ ~Batch(status) +BatchEvent ] reminders! ~Reminder(status)*Reminder/Batch

own_batch        asks a pattern
reminders!       asks it with a strongly consistent read
feed:20          asks for 20 items of it
users*1-3        asks one to three times, or for so many keys
+Batch           creates, =Batch puts, ~Batch(status) updates these fields, -Batch deletes with all that it owns,
                 ?Batch checks that it is there, %Batch counts what a delete would delete
~X*Reminder/Batch  as often as a batch has reminders
[ … ]            one transaction
"""

from __future__ import annotations

import re
from typing import Final

from singletable.blueprint import StepBlueprint
from singletable.design import Design
from singletable.errors import DeclarationError

_KINDS: Final = {
    "": "pattern",
    "+": "create",
    "=": "put",
    "~": "update",
    "-": "delete",
    "?": "check",
    "%": "plan",
}
_STEP: Final = re.compile(
    r"(?P<sign>[-+=~?%]?)(?P<of>\w+)(?:\((?P<fields>[\w,]*)\))?(?P<consistent>!)?(?::(?P<limit>\d+))?"
    r"(?:\*(?:(?P<child>[A-Za-z]\w*)/(?P<parent>\w+)|(?P<least>\d+)(?:-(?P<most>\d+))?(?:~(?P<expected>[\d.]+))?))?"
)


def read_steps(text: str, design: type[Design]) -> tuple[StepBlueprint, ...]:
    """Read the steps of a service; refuse patterns and entities that the design does not have."""
    steps: list[StepBlueprint] = []
    transactions, together = 0, 0
    for word in text.split():
        if word == "[":
            transactions += 1
            together = transactions
        elif word == "]":
            together = 0
        else:
            steps.append(_step(word, together, design))
    return tuple(steps)


def _step(word: str, together: int, design: type[Design]) -> StepBlueprint:
    found = _STEP.fullmatch(word)
    if found is None:
        raise DeclarationError(
            f"{word!r} is no step", hint="user, feed:20, +Batch, ~Batch(status), users*1-3"
        )
    kind, of = _KINDS[found["sign"]], found["of"]
    known = {schema.entity.__name__ for schema in design.catalog.schemas.values()}
    named = {of} if kind == "pattern" else set()
    entities = {each for each in (found["child"], found["parent"]) if each} | ({of} - named)
    unknown = sorted((named - design.patterns().keys()) | (entities - known))
    if unknown:
        raise DeclarationError(f"{design.__name__} has no {', '.join(unknown)}")
    least = float(found["least"] or 1)
    return StepBlueprint(
        kind,
        of,
        tuple(filter(None, (found["fields"] or "").split(","))),
        least,
        float(found["most"] or least),
        (found["child"], found["parent"]) if found["child"] else (),
        int(found["limit"]) if found["limit"] else None,
        True if found["consistent"] else None,
        together,
        float(found["expected"]) if found["expected"] else None,
    )
