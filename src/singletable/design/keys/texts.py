"""Keys for blueprints: their parts, and those of plans as templates.

In a template, constant values of a pattern are text, and values of its caller are placeholders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from singletable.blueprint import KeyPart
from singletable.design.keys.key import Key, Prefix, SortKey
from singletable.design.keys.parts import Part
from singletable.design.keys.template import Slot, TemplateField, split_template, without_omitted
from singletable.design.values.annotations import alias_of, type_text, unwrap
from singletable.design.values.constraints import marker_data
from singletable.design.values.markers import BucketOf, InitialOf, ShardOf


def stored_template(key: type[Key]) -> str | None:
    """Return the template of a key as it is stored, without parts that render as nothing; None if it has none."""
    return _text(key, {}, None) if key.compiled is not None else None


def described_part(part: Part) -> KeyPart:
    """Return a part of a key for the blueprint."""
    source = part.source
    return KeyPart(
        name=part.name,
        type=type_text(part.annotation),
        field=part.reads,
        alias=alias_of(part.annotation),
        shards=source.count if isinstance(source, ShardOf) else None,
        bucket=source.every if isinstance(source, BucketOf) else None,
        letters=source.letters if isinstance(source, InitialOf) else None,
        markers=tuple(marker_data(each for each in unwrap(part.annotation)[1] if each is not source)),
    )


def template_of_all(key: type[Key]) -> str:
    """Return what all keys of a class look like: nothing in it is known."""
    return stored_template(key) or ", ".join(f"{{{part.name}}}" for part in key.parts)


def template_of(keys: Sequence[Key | Prefix[SortKey]], given: Sequence[object]) -> str:
    """Return the template that keys of one class share. What is the same in all of them is text.

    Keys are of calls with different values, so what differs comes from the caller; `given` are values of the
    caller that are the same in all calls.
    """
    first = keys[0]
    kind = first.of if isinstance(first, Prefix) else type(first)
    values = [_values(key) for key in keys]
    leading = list(values[0]) if isinstance(first, Prefix) else None
    fixed = {
        part.name: part.codec.render(values[0][part.name])
        for part in kind.parts
        if part.name in values[0] and _is_fixed(part, values, given)
    }
    if kind.compiled is None:
        names = [part.name for part in kind.parts if leading is None or part.name in leading]
        return ", ".join(fixed.get(name, f"{{{name}}}") for name in names)
    text = _text(kind, fixed, leading)
    if isinstance(first, Prefix):
        return text + _beginning(first, keys, given)
    return text


def _values(key: Key | Prefix[SortKey]) -> Mapping[str, object]:
    if isinstance(key, Prefix):
        return key.values
    return {part.name: getattr(key, part.name) for part in key.parts}


def _is_fixed(part: Part, values: Sequence[Mapping[str, object]], given: Sequence[object]) -> bool:
    if part.source is not None:
        return False
    first = values[0][part.name]
    return first not in given and all(each.get(part.name) == first for each in values)


def _text(key: type[Key], fixed: Mapping[str, str], leading: Sequence[str] | None) -> str:
    assert key.template is not None
    assert key.compiled is not None
    tokens = split_template(key.template)
    specs = {token.name: token.spec for token in tokens if isinstance(token, TemplateField)}
    codecs = key.compiled.codecs
    parts = [token if isinstance(token, str) else Slot(token.name, codecs[token.name]) for token in tokens]
    texts: list[str] = []
    for part in without_omitted(parts):
        if isinstance(part, str):
            texts.append(_escaped(part))
        elif leading is not None and part.name not in leading:
            break
        elif part.name in fixed:
            texts.append(_escaped(fixed[part.name]))
        else:
            spec = specs[part.name]
            texts.append(f"{{{part.name}:{spec}}}" if spec else f"{{{part.name}}}")
    return "".join(texts)


def _beginning(first: Prefix[SortKey], keys: Sequence[Key | Prefix[SortKey]], given: Sequence[object]) -> str:
    """Return what a prefix holds of the field behind its last whole one."""
    assert first.of.compiled is not None
    begun = {
        key.text.removeprefix(key.of.compiled.prefix(key.values))
        for key in keys
        if isinstance(key, Prefix) and key.of.compiled is not None
    }
    if begun == {""}:
        return ""
    names = [name for name in first.of.compiled.fields_required if name not in first.values]
    is_fixed = len(begun) == 1 and not begun.intersection(map(str, given))
    return _escaped(begun.pop()) if is_fixed else f"{{{names[0]}}}"


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
