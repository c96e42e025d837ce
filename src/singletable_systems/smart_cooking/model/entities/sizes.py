"""How large a field may grow: items stay under 100 KB (002:697), whatever somebody gives (SC-41)."""

from __future__ import annotations

from typing import Annotated, Final

from singletable import MaxBytes

LARGE_FIELD_BYTES: Final = 48_000
TEXT_BYTES: Final = 8_000
NAME_BYTES: Final = 800  # a name also stands in keys, which have 1,024 bytes at most

Text = Annotated[str, MaxBytes(TEXT_BYTES)]
Name = Annotated[str, MaxBytes(NAME_BYTES)]
Names = Annotated[list[str], MaxBytes(TEXT_BYTES)]
Url = Annotated[str, MaxBytes(2_000)]
