"""PAT320: a query for one item whose key is known in full."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.requests import is_equality, queries, shown
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Read, View


def check(view: View) -> Iterator[Finding]:
    """Look for queries of the table that can find no more than one item."""
    for read in queries(view):
        request = read.read
        if request.index is not None or request.pk or request.filter or request.filter_expression:
            continue
        if any(not is_equality(each) or len(each.templates) != 1 for each in read.asked) or not read.of("pk"):
            continue
        keys = _key(view, read)
        if keys:
            yield finding(
                RULE,
                read.path,
                message=f"a Query asks for one item by its full key, {keys}",
                because="a GetItem of this key is the same read, without a page to go through, and takes several "
                "keys at once in a BatchGetItem",
                repair=f"send a GetItem with {keys}",
            )


def _key(view: View, read: Read) -> str | None:
    """Return the key of the one item that there can be; None if there can be several."""
    asked = [shown(each) for each in read.asked]
    if any(not each.role for each in read.asked):
        return None
    if read.of("sk") or not view.table.sk:
        return " and ".join(asked)
    met = view.met_by(read)
    if len(met) != 1 or len(met[0].sk) != 1 or not met[0].sk[0].is_constant:
        return None
    given = {slot.name for each in read.of("pk") for template in each.templates for slot in template.slots}
    return " and ".join([*asked, f"{view.table.sk[0]} = {met[0].sk[0].text}"]) if given else None


RULE = Rule("PAT320", Severity.WARNING, "A query asks for one item by its full key", check)
