"""The placeholders of PerfectIt's design document, with the values that tests put into them."""

from __future__ import annotations

TEXT, PRECISE = "2025-01-01T00:00:00Z", "2025-01-01T00:00:00.000Z"  # 001:95, and ours

# What stands for the placeholders of the document. The ids of the card and of its author are those of its sample.
FILLED = {
    "<userId>": "user123",
    "<authorId>": "user123",
    "<username>": "maker",
    "<cardId>": "123",
    "<entityId>": "123",
    "<targetId>": "123",
    "<category>": "woodworking",
    "<categoryId>": "woodworking",
    "<parentId>": "crafts",
    "<sortOrder>": "7",
    "<commentId>": "com1",
    "<collectionId>": "col1",
    "<searchableField>": "wood",
    "<type>": "CARD",
    "<score>": "42",
    "<timestamp>": TEXT,
    "<YYYY-MM-DD>": "2025-01-01",
    "<today>": "2025-01-01",
}


def filled(template: str) -> str:
    """Return a template of the document with values in it."""
    for placeholder, value in FILLED.items():
        template = template.replace(placeholder, value)
    assert "<" not in template
    return template
