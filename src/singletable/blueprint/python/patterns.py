"""Access patterns of a blueprint as methods of Python. One that a design cannot ask is a comment that says why."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

from singletable.blueprint.contents import Contents
from singletable.blueprint.markdown import keys_text
from singletable.blueprint.patterns import (
    KeyCondition,
    PatternBlueprint,
    ReadBlueprint,
    SortBlueprint,
    WriteBlueprint,
)
from singletable.blueprint.python.calls import Calls, Parameter, leading, matched, own_prefix, parameter
from singletable.blueprint.python.conditions import condition_text
from singletable.blueprint.python.entities import EntityPlan, PlacePlan
from singletable.blueprint.python.keys import KeyClasses, UnfitError, tokens_of
from singletable.blueprint.python.names import (
    OF_DESIGNS,
    TYPES,
    Names,
    call,
    camel,
    comment,
    identifier,
    indented,
    number,
    opened,
    plural,
    quoted,
    snake,
    wrapped,
)
from singletable.blueprint.python.tables import TablePlan
from singletable.blueprint.python.types import IMPORTED, Typed, Types

_NUMBER: Final = re.compile(r"[1-9]\d*[a-h]?|0[a-h]?")
_TITLE: Final = re.compile(r"#?0*(\d+[a-h]?)[.:)]? (.+)", re.DOTALL)
# Names that the class of a design needs itself, in decorators and annotations.
_TAKEN: Final = OF_DESIGNS | TYPES | IMPORTED
_OPERATIONS: Final = ("Get", "Lookup", "Query", "Merged", "Walk", "Followed", "Collect", "BatchGet")


@dataclass
class Method:
    """The body of a pattern: what it returns, as an expression and as a type."""

    returns: str
    expression: str


@dataclass
class View:
    """A collection class of a pattern that returns several entities."""

    name: str
    fields: list[tuple[str, str]] = field(default_factory=list)


class PatternWriter:
    """Writes the methods of a design, and the collections that they return."""

    def __init__(
        self,
        blueprint: Contents,
        plans: Sequence[EntityPlan],
        table: TablePlan,
        keys: KeyClasses,
        types: Types,
    ) -> None:
        self._blueprint = blueprint
        self._plans = {plan.source.name: plan for plan in plans if plan.unfit is None}
        self._table = table
        self._keys = keys
        self._types = types
        self._methods = Names(_TAKEN)
        self._numbers: set[str] = set()
        self.views: list[View] = []
        self.written: dict[str, str] = {}  # the methods, by the method or number that a pattern has

    def lines(self) -> Iterator[str]:
        """Return all methods, in the order of the blueprint."""
        for pattern in self._blueprint.patterns:
            yield ""
            yield from self._method(pattern)

    def view_lines(self) -> Iterator[str]:
        """Return the classes of collections."""
        for view in self.views:
            yield from ("", "", f"class {view.name}({self._types.imports.use('Collection')}):")
            yield from indented([f"{name}: {kind}" for name, kind in view.fields])

    # --- one pattern

    def _method(self, pattern: PatternBlueprint) -> list[str]:
        wanted = identifier(pattern.method, "pattern") if pattern.method else snake(pattern.title, "pattern")
        name = self._methods.take(f"{wanted}_" if wanted in _TAKEN else wanted)
        views = len(self.views)
        try:
            names = Names({"self"})
            calls = Calls(
                [parameter(each, names, self._types) for each in pattern.parameters], self._types, self._keys
            )
            method = self._planned(pattern, calls, name)
        except UnfitError as error:
            del self.views[views:]
            self._methods.taken.discard(name)
            return self._left_out(pattern, str(error))
        self.written.setdefault(pattern.method or pattern.number, name)
        lines = [*comment(pattern.about)] if pattern.about.strip() else []
        lines += self._open_notes(pattern, calls)
        lines += call(f"@{self._types.imports.use('pattern')}", self._decorator(pattern, calls), indent=1)
        required = [each for each in calls.parameters if not each.is_many and each.text().count("=") == 0]
        others = [each for each in calls.parameters if not each.is_many and each not in required]
        many = [each for each in calls.parameters if each.is_many]
        # Behind *ids, arguments are given by name.
        order = [*required, *others, *many] if not (many and others) else [*required, *many, *others]
        texts = [each.text() for each in order]
        lines += call(f"def {name}", ["self", *texts], indent=1, tail=f" -> {method.returns}:")
        return [*lines, *indented(wrapped(f"return {method.expression}", 2))]

    def _left_out(self, pattern: PatternBlueprint, why: str) -> list[str]:
        named = " ".join(
            each for each in (pattern.number, pattern.title, f"({pattern.method})") if each != "()"
        )
        asked = "; ".join(self._asked(read) for read in pattern.reads)
        asked += "; ".join(f"{write.operation} {write.entity}" for write in pattern.writes)
        return opened(f"{named} is left out: {why}. It asks: {asked or pattern.documented or 'nothing'}")

    def _asked(self, read: ReadBlueprint) -> str:
        pk, sk = self._names_of(read)
        entities = ", ".join(read.entities)
        where = f" of {read.index}" if read.index else ""
        return f"{read.operation}{where} {entities} {keys_text(read, pk, sk)}".strip()

    def _names_of(self, read: ReadBlueprint) -> tuple[str, str]:
        pk, sk = self._table.attributes(read.index)
        return " + ".join(pk), " + ".join(sk)

    def _open_notes(self, pattern: PatternBlueprint, calls: Calls) -> list[str]:
        notes = list(calls.notes)
        for each in calls.parameters:
            if each.source.is_optional and each.is_used and each.default is None and not each.is_many:
                notes += opened(f"{each.name} may be left out, and nothing says what it is then")
            elif not each.is_used:
                notes += opened(f"what {each.name} is for is not known")
        for required in pattern.requires:
            notes += opened(f"it is said to need {required}")
        return notes

    def _decorator(self, pattern: PatternBlueprint, calls: Calls) -> Iterator[str]:
        yield quoted(self._title(pattern))
        rps = number(pattern.rps) if pattern.rps else None
        if rps is not None:
            yield f"rps={rps}"
        if pattern.documented:
            yield f"documented={quoted(pattern.documented)}"
        if pattern.fixes:
            yield f"fixes={quoted(pattern.fixes)}"
        cached = number(pattern.cached_s) if pattern.cached_s is not None and pattern.cached_s > 0 else None
        if cached is not None and not pattern.writes:
            yield f"cached_s={cached}"
        samples = calls.samples
        if samples:
            yield f"samples={{{', '.join(f'{quoted(name)}: {text}' for name, text in samples.items())}}}"

    def _title(self, pattern: PatternBlueprint) -> str:
        title = pattern.title or pattern.method or "?"
        if _NUMBER.fullmatch(pattern.number) and pattern.number not in self._numbers:
            self._numbers.add(pattern.number)
            return f"{pattern.number} {title}"
        whole = f"{pattern.number}: {title}" if pattern.number else title
        # A title that begins with a number would be read as one.
        return f"Pattern {whole}" if _TITLE.fullmatch(whole) else whole

    # --- what it asks

    def _planned(self, pattern: PatternBlueprint, calls: Calls, name: str) -> Method:
        if pattern.writes:
            return self._written(pattern, calls)
        if not pattern.reads:
            raise UnfitError("no request of it is known")
        if pattern.operation == "Composed":
            raise UnfitError("its pages are made by a function, and a blueprint holds no code")
        reads = [self._as_keys(read) for read in pattern.reads]
        names = [read.name for read in reads]
        is_gathered = all(names) and (pattern.operation == "Collect" or len(set(names)) > 1)
        if is_gathered:
            return self._gathered(reads, calls, name)
        if pattern.operation == "Collect" or (len(reads) == 1 and len(reads[0].entities) > 1):
            return self._collected(reads, calls, name)
        wanted = pattern.operation if pattern.operation in _OPERATIONS else None
        return self._single(reads, calls, wanted)

    def _as_keys(self, read: ReadBlueprint) -> ReadBlueprint:
        """Return a read with a partition and a sort key, where a document has conditions."""
        if read.operation in ("Scan", "PartiQL"):
            raise UnfitError(f"it is a {read.operation}, and a design reads by keys")
        if read.index is not None and self._table.index(read.index) is None:
            raise UnfitError(f"there is no index {read.index} that a design can have")
        if not read.pk or read.conditions:
            read = self._of_conditions(read)
        return replace(read, entities=self._entities(read))

    def _of_conditions(self, read: ReadBlueprint) -> ReadBlueprint:
        pk, sk = self._table.attributes(read.index)
        by_name: dict[str, list[KeyCondition]] = {}
        for each in read.conditions:
            by_name.setdefault(each.attribute, []).append(each)
        other = next((name for name in by_name if name not in (*pk, *sk)), None)
        if other is not None:
            raise UnfitError(f"{other} is no key there, so no condition on keys can name it")
        templates = []
        for name in pk:
            found = by_name.get(name, [])
            if len(found) != 1 or found[0].operator != "=" or len(found[0].templates) != 1:
                how = ", ".join(each.operator for each in found) or "nothing"
                raise UnfitError(f"the partition key {name} is asked for by {how}, and a query needs one =")
            templates.append(found[0].templates[0])
        asked = [each for name in sk for each in by_name.get(name, [])]
        if len(asked) > len(sk):
            raise UnfitError(f"there are {len(asked)} conditions on the sort key, and a query has one")
        sort = None
        if asked and len(sk) == 1:
            sort = SortBlueprint(asked[0].operator, asked[0].templates)
        elif asked:
            if any(each.operator != "=" or len(each.templates) != 1 for each in asked) or len(asked) < len(
                sk
            ):
                raise UnfitError("a part of a sort key of several attributes is asked for")
            sort = SortBlueprint("=", (", ".join(each.templates[0] for each in asked),))
        return replace(read, pk=", ".join(templates), sort=sort, conditions=())

    def _entities(self, read: ReadBlueprint) -> tuple[str, ...]:
        """Return the entities of a read: those it names, or those that have such keys."""
        for name in read.entities:
            if name not in self._plans:
                raise UnfitError(f"{name} is left out")
        if read.entities:
            return tuple(dict.fromkeys(read.entities))
        found = tuple(name for name, plan in self._plans.items() if self._may_hold(plan, read))
        if not found:
            raise UnfitError(f"no entity has the key {read.pk} there")
        return found

    def _may_hold(self, plan: EntityPlan, read: ReadBlueprint) -> bool:
        place = plan.place(read.index)
        if place is None or matched(place.pk, read.pk) is None:
            return False
        if read.sort is None or place.sk is None:
            return True
        if not all(map(_is_template, read.sort.templates)):
            return False
        whole = [matched(place.sk, each) is not None for each in read.sort.templates]
        begun = [
            leading(place.sk, each) is not None or leading(place.sk, each, is_begun=True) is not None
            for each in read.sort.templates
        ]
        return all(whole) if read.sort.operator == "=" else all(map(any, zip(whole, begun, strict=True)))

    def _place(self, read: ReadBlueprint) -> tuple[EntityPlan, PlacePlan]:
        if len(read.entities) != 1:
            raise UnfitError(f"it reads {', '.join(read.entities)} at once")
        plan = self._plans[read.entities[0]]
        place = plan.place(read.index)
        if place is None:
            raise UnfitError(f"{plan.source.name} is not in {read.index or 'the table'}")
        return plan, place

    # --- plans

    def _single(self, reads: Sequence[ReadBlueprint], calls: Calls, wanted: str | None) -> Method:
        first, *others = reads
        if first.lock is not None:
            return self._lookup(first, calls)
        named = [read for read in others if read.named_by is not None]
        if len(named) < len(others):
            raise UnfitError("it sends several requests, and nothing says how they belong together")
        if first.named_by is not None:
            raise UnfitError("the keys come from items that nothing reads")
        if first.operation == "BatchGetItem":
            return self._batch(first, calls)
        if first.operation == "GetItem" and not named:
            return self._get(first, calls)
        if first.operation not in ("Query", "GetItem"):
            raise UnfitError(f"a design does not send {first.operation}")
        target = next((read for read in named if read.entities != first.entities), None)
        fetched = next((read for read in named if read.entities == first.entities), None)
        source = self._many(first, fetched, calls, None if wanted == "Followed" else wanted)
        return source if target is None else self._followed(source, first, target, calls)

    def _get(self, read: ReadBlueprint, calls: Calls) -> Method:
        plan, place = self._place(read)
        if place.index is not None:
            raise UnfitError(f"an index has no GetItem, and {read.index} is one")
        keys = self._whole_key(read, place, calls)
        _refuse_loops(calls)
        text = f"{plan.name}.{place.name}.get({', '.join(keys)}){_consistent(read)}"
        return Method(f"{self._use('Get')}[{plan.name}]", text)

    def _whole_key(self, read: ReadBlueprint, place: PlacePlan, calls: Calls) -> list[str]:
        keys = [calls.whole(place.pk, read.pk)]
        if place.sk is None:
            return keys
        if read.sort is None or read.sort.operator != "=" or len(read.sort.templates) != 1:
            raise UnfitError("one item is read by its whole key, and the sort key is not given")
        return [*keys, calls.whole(place.sk, read.sort.templates[0])]

    def _lookup(self, read: ReadBlueprint, calls: Calls) -> Method:
        (name, *_) = read.entities
        plan = self._plans[name]
        unique = next((each for each in plan.uniques if each.source.name == read.lock), None)
        if unique is None:
            raise UnfitError(f"{name} has no unique value {read.lock}")
        key = calls.whole(unique.key, read.pk)
        _refuse_loops(calls)
        text = f"{plan.name}.{unique.name}.get({key}){_consistent(read)}"
        return Method(f"{self._use('Lookup')}[{plan.name}]", text)

    def _batch(self, read: ReadBlueprint, calls: Calls) -> Method:
        plan, place = self._place(read)
        if place.index is not None:
            raise UnfitError("an index has no BatchGetItem")
        returns = f"{self._use('BatchGet')}[{plan.name}]"
        head = f"{plan.name}.{place.name}.batch_get"
        classes = [self._keys.name(key) for key in place.keys]
        whole = classes[0] if len(classes) == 1 else f"tuple[{', '.join(classes)}]"
        for each in calls.parameters:
            if each.typed.member is not None and each.typed.member.text == whole:
                each.is_used = True
                return Method(returns, f"{head}({each.name}){_consistent(read)}")
        if read.count > 1 and not any(each.typed.member is not None for each in calls.parameters):
            raise UnfitError("which keys are read together is not known")
        calls.can_loop = True
        self._unpack(calls, place)
        keys = self._whole_key(read, place, calls)
        each_key = keys[0] if len(keys) == 1 else f"({', '.join(keys)})"
        return Method(returns, f"{head}([{each_key}{_loops(calls)}]){_consistent(read)}")

    def _unpack(self, calls: Calls, place: PlacePlan) -> None:
        """Let a list of tuples give the parts of keys, in their order."""
        parts = [part for key in place.keys for part in key.parts if part.computed is None]
        for each in calls.parameters:
            member = each.typed.member
            if member is None or member.base != "tuple" or len(member.arguments) != len(parts):
                continue
            if any(
                have.scalar != part.typed.scalar for have, part in zip(member.arguments, parts, strict=True)
            ):
                continue
            each.is_used = True
            calls.loops[", ".join(part.name for part in parts)] = each.name
            for have, part in zip(member.arguments, parts, strict=True):
                is_plain = part.typed.alias is None or have.alias is not None
                text = part.name if is_plain else f"{part.typed.alias}({part.name})"
                calls.known[part.name, part.label, ""] = calls.known[part.name, part.name, ""] = text

    def _many(
        self, read: ReadBlueprint, fetched: ReadBlueprint | None, calls: Calls, wanted: str | None
    ) -> Method:
        """Return a query, or several as one: the shards of a partition, the buckets of a span."""
        plan, place = self._place(read)
        calls.can_loop = wanted in ("Merged", "Walk")
        before = set(calls.loops)
        arguments = [calls.whole(place.pk, read.pk), *calls.sort(place, read.sort)]
        query = f"{plan.name}.{place.name}.query({', '.join(arguments)})"
        query += self._where(plan, read, calls) + (
            "" if fetched is None else self._where(plan, fetched, calls)
        )
        query += ".newest_first()" if read.order == "backward" else ""
        loops = {name: over for name, over in calls.loops.items() if name not in before}
        limit = "" if read.limit is None or read.limit < 1 else f".limit({read.limit})"
        end = _consistent(read) if place.index is None else ""
        if not loops and wanted in (None, "Query"):
            return Method(f"{self._use('Query')}[{plan.name}]", f"{query}{limit}{end}")
        shards = {name: over for name, over in loops.items() if over.startswith(f"{self._use('shards')}(")}
        others = {name: over for name, over in loops.items() if name not in shards}
        is_walk = wanted == "Walk" or (wanted is None and any("buckets(" in over for over in others.values()))
        if is_walk:
            inner = f"{self._use('Merged')}([{query}{_clauses(shards)}])" if shards else query
            return Method(
                f"{self._use('Walk')}[{plan.name}]",
                f"{self._use('Walk')}([{inner}{_clauses(others)}]){limit}{end}",
            )
        merged = f"{self._use('Merged')}([{query}{_clauses(loops)}]){limit}{end}"
        return Method(f"{self._use('Merged')}[{plan.name}]", merged)

    def _where(self, plan: EntityPlan, read: ReadBlueprint, calls: Calls) -> str:
        if read.filter is None:
            return ""
        members = [read.filter]
        if read.filter.get("operator") == "and" and isinstance(read.filter.get("conditions"), list | tuple):
            members = list(read.filter["conditions"])
        texts = [condition_text(each, plan.fields, self._use, calls.condition_value) for each in members]
        return f".where({', '.join(texts)})"

    def _followed(self, source: Method, read: ReadBlueprint, target: ReadBlueprint, calls: Calls) -> Method:
        plan, place = self._place(target)
        if place.index is not None or len(read.entities) != 1:
            raise UnfitError("items point to the keys of a table")
        pointing = self._plans[read.entities[0]]
        keys = []
        for key in place.keys:
            texts = []
            for part in key.parts:
                own = pointing.named(part.name)
                if part.nothing is not None:
                    texts.append(f"{part.name}={part.nothing}")
                elif part.computed or own is None or own.typed.scalar != part.typed.scalar:
                    raise UnfitError(f"where a {pointing.source.name} points is told by code")
                elif part.typed.alias is not None and own.typed.alias is None:
                    texts.append(f"{part.name}={part.typed.alias}(each.{own.name})")
                elif part.typed.alias not in (None, own.typed.alias) or part.typed.base != own.typed.base:
                    raise UnfitError(f"where a {pointing.source.name} points is told by code")
                else:
                    texts.append(f"{part.name}=each.{own.name}")
            keys.append(f"{self._keys.name(key)}({', '.join(texts)})")
        made = keys[0] if len(keys) == 1 else f"({', '.join(keys)})"
        named = [
            pointing.named(part.name) for key in place.keys for part in key.parts if part.nothing is None
        ]
        checks = [f"each.{own.name} is not None" for own in named if own is not None and own.is_optional]
        if checks:
            made = f"{made} if {' and '.join(checks)} else None"
        limit = "" if target.limit is None or target.limit < 1 else f".limit({target.limit})"
        text = f"{source.expression}.follow({plan.name}.{place.name}, lambda each: {made})"
        text += f"{self._where(plan, target, calls)}{limit}{_consistent(target)}"
        return Method(f"{self._use('Followed')}[{plan.name}]", text)

    # --- collections

    def _collected(self, reads: Sequence[ReadBlueprint], calls: Calls, name: str) -> Method:
        read = reads[0]
        if read.operation != "Query":
            raise UnfitError(f"several entities are read by {read.operation}")
        if read.filter is not None:
            raise UnfitError("several entities are read with one filter")
        if read.order == "backward":
            raise UnfitError("several entities are read newest first")
        places = [self._plans[entity].place(read.index) for entity in read.entities]
        if any(place is None or place.pk != (places[0] and places[0].pk) for place in places):
            raise UnfitError(f"{', '.join(read.entities)} are not under one key")
        found = [place for place in places if place is not None]
        arguments = [calls.whole(found[0].pk, read.pk)]
        arguments += self._narrowed(found, read.sort, calls)
        if read.index is not None:
            index = self._table.index(read.index)
            assert index is not None
            arguments.append(f"index={self._table.name}.{index.name}")
        if calls.loops:
            raise UnfitError("several entities are read from several partitions")
        view = self._view(name)
        fields = Names({*dir(object), "model_config"})
        for entity, place in zip(read.entities, found, strict=True):
            plan = self._plans[entity]
            is_one = place.sk is None or not place.sk.parts
            label = snake(plan.name, "item")
            kind = f"{plan.name} | None" if is_one else f"list[{plan.name}]"
            view.fields.append((fields.take(_field(label if is_one else plural(label))), kind))
        limit = "" if read.limit is None or read.limit < 1 else f".limit({read.limit})"
        end = _consistent(read) if read.index is None else ""
        text = f"{self._use('collect')}({', '.join([view.name, *arguments])}){limit}{end}"
        return Method(f"{self._use('Collect')}[{view.name}]", text)

    def _narrowed(self, places: Sequence[PlacePlan], sort: SortBlueprint | None, calls: Calls) -> list[str]:
        # Without a prefix, the span of the sort keys follows from the entities.
        if sort is None or (sort.operator == "BETWEEN" and not any("{" in each for each in sort.templates)):
            return []
        for place in places:
            if place.sk is None or sort.operator not in ("=", "begins_with") or len(sort.templates) != 1:
                continue
            template = sort.templates[0]
            if sort.operator == "begins_with" and template == own_prefix(place.sk):
                return [f"{self._keys.name(place.sk)}.prefix()"]
            try:
                return [calls.bound(place.sk, template, begins=sort.operator == "begins_with")]
            except UnfitError:
                continue
        raise UnfitError(f"{sort.operator} {', '.join(sort.templates)} narrows no sort key of them")

    def _gathered(self, reads: Sequence[ReadBlueprint], calls: Calls, name: str) -> Method:
        view = self._view(name)
        fields = Names({*dir(object), "model_config", "into"})
        arguments = [view.name]
        for label, group in groupby(reads, key=lambda read: read.name or ""):
            method = self._single(list(group), calls, None)
            calls.end_loops()
            of = method.returns.partition("[")[2].removesuffix("]")
            is_one = method.returns.startswith((f"{self._use('Get')}[", f"{self._use('Lookup')}["))
            if method.returns.startswith(f"{self._use('BatchGet')}["):
                raise UnfitError("items that are read together by their keys are gathered with others")
            own = fields.take(_field(identifier(label, "items")))
            view.fields.append((own, f"{of} | None" if is_one else f"list[{of}]"))
            arguments.append(f"{own}={method.expression}")
        return Method(
            f"{self._use('Collect')}[{view.name}]", f"{self._use('gather')}({', '.join(arguments)})"
        )

    def _view(self, name: str) -> View:
        view = View(self._types.names.take(camel(name if name.endswith("view") else f"{name}_view", "View")))
        self.views.append(view)
        return view

    # --- writes

    def _written(self, pattern: PatternBlueprint, calls: Calls) -> Method:
        if len(pattern.writes) != 1 or pattern.reads:
            raise UnfitError("it writes several items, or reads them first: a service does that")
        write = pattern.writes[0]
        plan = self._plans.get(write.entity)
        if plan is None:
            raise UnfitError(f"{write.entity} is left out")
        item = next((each for each in calls.parameters if each.typed.text == plan.name), None)
        if item is not None:
            item.is_used = True
        match write.operation:
            case "PutItem":
                if item is None:
                    raise UnfitError(f"how a {write.entity} is made of its parameters is told by code")
                kind, target = ("Create" if pattern.operation == "Create" else "Put"), item.name
            case "DeleteItem":
                kind, target = "Delete", item.name if item is not None else calls.item_key(plan)
            case "UpdateItem":
                kind, target = "Update", item.name if item is not None else calls.item_key(plan)
            case _:
                raise UnfitError(f"a pattern does not return a {write.operation}")
        arguments = [target, *(self._changes(plan, write, calls) if kind == "Update" else ())]
        if write.condition is not None:
            if kind == "Create":
                raise UnfitError("an item that is created has no further condition")
            given = self._condition_values(plan, item, calls)
            arguments.append(f"when={condition_text(write.condition, plan.fields, self._use, given)}")
        return Method(f"{self._use(kind)}[{plan.name}]", f"{self._use(kind)}({', '.join(arguments)})")

    def _changes(self, plan: EntityPlan, write: WriteBlueprint, calls: Calls) -> Iterator[str]:
        if not write.fields:
            raise UnfitError("which fields it changes is not known")
        for name in write.fields:
            made = plan.fields.get(name)
            given = next((each for each in calls.parameters if name in (each.name, each.source.name)), None)
            if made is None or given is None or made.name in ("when", "target", "changes", "self"):
                raise UnfitError(f"the new value of {name} is told by code")
            given.is_used = True
            yield f"{made.name}={given.name}"

    def _condition_values(self, plan: EntityPlan, item: Parameter | None, calls: Calls):  # type: ignore[no-untyped-def]
        def given(name: str, typed: Typed) -> str:
            own = plan.fields.get(name)
            if item is not None and own is not None:
                return f"{item.name}.{own.name}"
            return calls.condition_value(name, typed)

        return given

    def _use(self, name: str) -> str:
        return self._types.imports.use(name)


def _is_template(text: str) -> bool:
    try:
        tokens_of(text)
    except UnfitError:
        return False
    return True


def _refuse_loops(calls: Calls) -> None:
    if calls.loops:
        raise UnfitError("one item would be read in several places")


def _field(name: str) -> str:
    return f"{name}_" if name in ("into", "copy", "json", "dict") else name


def _consistent(read: ReadBlueprint) -> str:
    return ".consistent()" if read.is_consistent else ""


def _clauses(loops: dict[str, str]) -> str:
    return "".join(f" for {name} in {over}" for name, over in loops.items())


def _loops(calls: Calls) -> str:
    return _clauses(calls.loops)
