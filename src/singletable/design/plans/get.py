"""One item by its whole key."""

from __future__ import annotations

from singletable.blueprint import ReadBlueprint
from singletable.client.calls import Call, Params, Steps, read_units
from singletable.design.keys.key import Key, SortKey
from singletable.design.keys.texts import template_of
from singletable.design.plans.plan import E, E_co, Found, Requests, Run, Single, Usage, one_or_all
from singletable.design.plans.shape import PatternCalls, equal_sort
from singletable.design.session.expressions import get_params
from singletable.design.session.session import ask
from singletable.design.session.stored_items import entity_of
from singletable.design.values.items import Item


class Get(Single[E_co]):
    """Reads one item by its whole key."""

    def __init__(self, entity: type[E_co], pk: Key, sk: SortKey | None) -> None:
        self.entity = entity
        self.pk = pk
        self.sk = sk

    def __repr__(self) -> str:
        sk = f", {self.sk!r}" if self.sk is not None else ""
        return f"{self.entity.__name__} of {self.pk!r}{sk}"


def named_fields(plan: Get[E]) -> dict[str, object]:
    """Return the fields of an item that its key holds as they are."""
    keys = [plan.pk] if plan.sk is None else [plan.pk, plan.sk]
    return {part.name: getattr(key, part.name) for key in keys for part in key.parts if part.source is None}


class GetRun(Run[Get[E]]):
    """Carries out a get.

    While keys change (`was=`) it is a dual read: an item that is not under its new key is looked for under its old
    keys, and then under the new key once more, as it may have moved meanwhile.
    """

    def request(self) -> Requests:
        plan, schema = self.plan, self.session.catalog.schema_for(self.plan.entity)
        first = self._params(schema.primary_key_of(plan.pk, plan.sk))
        others = [{**first, "Key": key} for key in schema.old_primary_keys(plan.pk, plan.sk)]
        return one_or_all([first, *others, first] if others else [first])

    def found(self) -> Steps[Found[E | None]]:
        session, plan = self.session, self.plan
        schema = session.catalog.schema_for(plan.entity)
        home = schema.primary_key_of(plan.pk, plan.sk)
        call = Call("GetItem", self._params(home))
        answer = (yield call) if plan.cache_s is None else (yield from ask(session, call, plan.cache_s))
        item: Item | None = answer.get("Item")
        if item is not None:
            entity = entity_of(schema, session, item)
            return Found(entity, Usage(read_units(answer), 1, int(entity is None)))
        usage = Usage(read_units(answer))
        olds = list(schema.old_primary_keys(plan.pk, plan.sk))
        for key in (*olds, home) if olds else ():
            answer = yield from ask(session, Call("GetItem", self._params(key)), plan.cache_s)
            item = answer.get("Item")
            entity = None if item is None else entity_of(schema, session, item)
            usage.add(Usage(read_units(answer), int(item is not None), int(item is not None)))
            if entity is not None and schema.primary_key(entity) == home:
                usage.thrown_away -= 1
                return Found(entity, usage)
        return Found(None, usage)

    def _params(self, key: Item) -> Params:
        return get_params(self.session.table, key, consistent=self.plan.is_consistent)


def get_reads(calls: PatternCalls[Get[E]], name: str | None) -> tuple[ReadBlueprint, ...]:
    """Return the shape of a get."""
    plan, *_ = plans = calls.plans
    read = ReadBlueprint(
        "GetItem",
        (plan.entity.__name__,),
        template_of([each.pk for each in plans], calls.same),
        sort=equal_sort([each.sk for each in plans], calls),
        is_consistent=plan.is_consistent,
        name=name,
    )
    return (read,)
