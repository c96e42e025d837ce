"""How large the value of a field may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema, to_json

from singletable.errors import DeclarationError


@dataclass(frozen=True, slots=True)
class MaxBytes:
    """The value has so many bytes at most, as JSON and before it is compressed; what has more is refused.

    Where all fields of an entity have their bounds, so has the item: each write of it costs its whole size.
    """

    count: int

    def __post_init__(self) -> None:
        if self.count < 1:
            raise DeclarationError(f"{self!r} allows nothing", hint="MaxBytes(64_000)")

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def _check(self, value: Any) -> Any:
        size = len(to_json(value))
        if size > self.count:
            raise ValueError(f"it has {size:,} bytes, and {self.count:,} are allowed")
        return value
