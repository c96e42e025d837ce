"""The access patterns of PerfectIt, by the numbers of the document; from 20 on, those that were missing.

Where the document asks for something that DynamoDB cannot answer, `documented=` holds its words and `fixes=`
the defect. Nothing here scans.
"""

from __future__ import annotations

from singletable_systems.perfectit.model.patterns.cards import CardPatterns, CardView
from singletable_systems.perfectit.model.patterns.collections import CollectionPatterns
from singletable_systems.perfectit.model.patterns.lists import ListPatterns
from singletable_systems.perfectit.model.patterns.people import PeoplePatterns

__all__ = ["CardPatterns", "CardView", "CollectionPatterns", "ListPatterns", "PeoplePatterns"]
