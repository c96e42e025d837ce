"""TTL608: a sample of a TTL attribute that is not as long after as the rule says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from singletable.lint.expiry import Expiry, expiries
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

_NEAR_S = 86_400 / 2


def check(view: View) -> Iterator[Finding]:
    """Compare samples of the TTL attribute with those of the time that it counts from."""
    for each in expiries(view):
        if each.rule.seconds is None or not each.rule.after:
            continue
        for start, end in _samples(view, each):
            took = end - start
            if abs(took - each.rule.seconds) > min(_NEAR_S, each.rule.seconds / 10):
                yield finding(
                    RULE,
                    *each.paths,
                    view.attribute_path(each.entity.name, each.rule.after),
                    message=f"the sample of {each.name} is {took / 86_400:.2f} days after {each.rule.after}, "
                    f"and the rule says {each.rule.seconds / 86_400:.4g} days",
                    because=f"{end:.0f} is stated, and {start:.0f} + {each.rule.seconds:.0f} is "
                    f"{start + each.rule.seconds:.0f}",
                    repair="put the sample right, or the rule",
                )


def _samples(view: View, each: Expiry) -> Iterator[tuple[float, float]]:
    """Yield the time that it counts from and the time of expiry, where a sample has both."""
    after = view.fields(each.entity.name).get(each.rule.after or "")
    if after is None:
        return
    pairs = [(item.get(after.stored), item.get(each.rule.stored)) for item in each.entity.samples]
    ends = each.rule.samples or (each.attribute.samples if each.attribute is not None else ())
    if not pairs and len(after.samples) == len(ends) == 1:
        pairs = [(after.samples[0], ends[0])]
    for start, end in dict.fromkeys(pairs):
        begun = _seconds(start)
        if begun is not None and isinstance(end, int | float) and not isinstance(end, bool):
            yield begun, float(end)


def _seconds(value: object) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value / 1000 if value > 1e11 else float(value)
    try:
        time = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).timestamp()


RULE = Rule("TTL608", Severity.DISAGREEMENT, "A sample of a TTL attribute contradicts its rule", check)
