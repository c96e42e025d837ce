"""A table as a design declares it: its name, keys, indexes and settings. Nothing here calls a target."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar, Final, Literal, get_args

from singletable.design.model.declarations import DeclaredIndex
from singletable.errors import DeclarationError

Billing = Literal["PAY_PER_REQUEST", "PROVISIONED"]
Encryption = Literal["AWS_OWNED", "AWS_MANAGED"] | str
StreamView = Literal["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{3,255}")
_NAMES: Final = "names of tables and indexes have 3 to 255 characters: letters, digits, _, - and ."
_PITR_DAYS_MAX: Final = 35


class Table:
    """The table of a design. Subclass it, and set what differs.

    The name may hold placeholders, `kefir-app-{stage}-table`; `open` takes their values.
    """

    name: ClassVar[str]
    pk: ClassVar[str] = "PK"
    sk: ClassVar[str | None] = "SK"
    billing: ClassVar[Billing] = "PAY_PER_REQUEST"
    capacity: ClassVar[tuple[int, int] | None] = None  # read and write units, if provisioned
    encryption: ClassVar[Encryption] = "AWS_OWNED"
    stream: ClassVar[StreamView | None] = "NEW_AND_OLD_IMAGES"
    pitr_days: ClassVar[int | None] = 35
    deletion_protection: ClassVar[bool] = False
    tags: ClassVar[Mapping[str, str]] = {}
    defaults: ClassVar[Mapping[str, str]] = {}  # values of placeholders in the name

    indexes: ClassVar[tuple[DeclaredIndex, ...]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not isinstance(getattr(cls, "name", None), str):
            raise DeclarationError(f"{cls.__name__} has no name", hint='name = "shop-{stage}"')
        cls.indexes = tuple(cls._indexes_by_attribute().values())
        names = [index.name for index in cls.indexes]
        for name in names:
            if names.count(name) > 1:
                raise DeclarationError(f"{cls.__name__} has two indexes named {name}")
        _check_names(cls)
        _check_settings(cls)

    @classmethod
    def _indexes_by_attribute(cls) -> dict[str, DeclaredIndex]:
        """Return the indexes by their declared names; a subclass may declare one again."""
        found: dict[str, DeclaredIndex] = {}
        for base in reversed(cls.__mro__):
            for name, value in vars(base).items():
                if isinstance(value, DeclaredIndex):
                    found[name] = value
                else:
                    found.pop(name, None)
        return found

    @classmethod
    def own_index(cls, index: DeclaredIndex) -> DeclaredIndex | None:
        """Return the index of this table that replaces an index of its base class; None if there is none."""
        if index in cls.indexes:
            return index
        own = cls._indexes_by_attribute()
        for base in cls.__mro__:
            for name, value in vars(base).items():
                if value is index and name in own and own[name].name == index.name:
                    return own[name]
        return None

    @classmethod
    def key_attributes(cls) -> tuple[str, ...]:
        """Name the attributes of the table's key."""
        return (cls.pk,) if cls.sk is None else (cls.pk, cls.sk)

    @classmethod
    def placeholders(cls) -> list[str]:
        """Name the placeholders in the table's name: the stage of `shop-{stage}`."""
        return _PLACEHOLDER.findall(cls.name)

    @classmethod
    def name_in(cls, environment: Mapping[str, str], *, otherwise: str | None = None) -> str:
        """Return the table's name in an environment; `otherwise` replaces placeholders without a value."""
        wanted = cls.placeholders()
        known = {**dict.fromkeys(wanted, otherwise), **cls.defaults, **environment}
        missing = [name for name in wanted if known[name] in (None, "")]
        if missing:
            raise DeclarationError(
                f"the table's name is {cls.name}, and {', '.join(missing)} is not given",
                hint=f'open(target, {missing[0]}="dev"), or in {cls.__name__} defaults = {{"{missing[0]}": ...}}',
            )
        unknown = sorted(set(environment) - set(wanted))
        if unknown:
            raise DeclarationError(
                f"the table's name is {cls.name}: it has no {', '.join(unknown)}",
                hint=f"it has {', '.join(wanted) or 'no placeholders'}",
            )
        name = _PLACEHOLDER.sub(lambda match: str(known[match[1]]), cls.name)
        if not _NAME.fullmatch(name):
            raise DeclarationError(f"the table's name {cls.name} is {name!r} here", hint=_NAMES)
        return name


def _check_names(table: type[Table]) -> None:
    """Refuse names that no target takes. The values of placeholders are not known yet."""
    if not _NAME.fullmatch(_PLACEHOLDER.sub("any", table.name)):
        raise DeclarationError(f"{table.__name__} is named {table.name!r}", hint=_NAMES)
    for index in table.indexes:
        if not _NAME.fullmatch(index.name):
            raise DeclarationError(f"{table.__name__} has an index named {index.name!r}", hint=_NAMES)
    keys = [table.key_attributes(), *((*index.pk, *index.sk) for index in table.indexes)]
    for attributes in keys:
        if not all(attributes) or len(set(attributes)) < len(attributes):
            raise DeclarationError(
                f"{table.__name__} has a key of the attributes {', '.join(map(repr, attributes))}",
                hint="each attribute of a key has a name of its own",
            )


def _check_settings(table: type[Table]) -> None:
    """Refuse settings that no target has."""
    name = table.__name__
    if table.billing not in get_args(Billing):
        raise DeclarationError(f"{name}.billing is {table.billing!r}", hint="PAY_PER_REQUEST or PROVISIONED")
    capacities = [table.capacity, *(index.capacity for index in table.indexes)]
    if table.billing == "PROVISIONED" and table.capacity is None:
        raise DeclarationError(f"{name} is provisioned and has no capacity", hint="capacity = (5, 5)")
    if table.billing != "PROVISIONED" and any(capacities):
        raise DeclarationError(
            f"{name} has a capacity, and its billing is {table.billing}", hint='billing = "PROVISIONED"'
        )
    if table.stream is not None and table.stream not in get_args(StreamView):
        raise DeclarationError(f"{name}.stream is {table.stream!r}", hint=", ".join(get_args(StreamView)))
    if table.pitr_days is not None and not 1 <= table.pitr_days <= _PITR_DAYS_MAX:
        raise DeclarationError(
            f"{name}.pitr_days is {table.pitr_days}", hint=f"1 to {_PITR_DAYS_MAX}, or None for no recovery"
        )
    if table.encryption not in ("AWS_OWNED", "AWS_MANAGED") and not table.encryption.startswith("arn:"):
        raise DeclarationError(
            f"{name}.encryption is {table.encryption!r}",
            hint="AWS_OWNED, AWS_MANAGED, or the ARN of a KMS key",
        )
