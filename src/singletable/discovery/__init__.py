"""Discovery: what design a live table seems to have, from its settings and a sample of its items.

shapes.py    the shapes of keys: constant parts and placeholders, told from the values that were seen
entities.py  entities proposed from items, with how sure each proposal is
survey.py    reading a table: its settings, and a sample spread over it, at a pace
"""

from __future__ import annotations

from singletable.discovery.entities import ProposedEntity, propose
from singletable.discovery.survey import Survey, survey_table

__all__ = ["ProposedEntity", "Survey", "propose", "survey_table"]
