"""The name by which the second migration calls `complete`: tables have stored it, so it stays."""

from __future__ import annotations

from singletable_systems.smart_cooking.operating.adoption import complete

__all__ = ["complete"]
