"""The planner: what a design costs and what runs hot, from its blueprint alone.

What one call takes

amounts.py         numbers that vary: at least, as expected, at most
rules.py           AWS's rules: units of reads and writes, overhead, limits
sizes.py           how large items, index entries and locks are
volumes.py         how many items there are, and how many lie together
profile.py         the sizes and numbers that a table really has
charges.py         what one call takes, line by line
fields.py          fields that lead keys, that every write changes, that link entities
reads.py           the units of access patterns
entries.py         the units of index entries that come, go, move or change
kept.py            the units of locks, counters, copies and derived items
writes.py          the units of writes, with all that is kept beside an item, and of cascades
services.py        the units of services, step by step
workload.py        all calls and all storage of a design, for so many users

What runs hot

heat.py            the busiest partition key of the table and of every index, and at how many users it is full
hot_keys.py        the keys that calls go to (contributions.py, shares.py)
measured.py        the same from what a running server has counted

What it costs

prices.py          AWS's prices by region, each with its source and date (prices.toml, price_list.py)
billing.py         what a month costs, on demand and provisioned
break_even.py      from where on another way of billing, or another table class, is cheaper

The whole

usage.py           a workload as usage that is billed
allocation.py      the bill, divided among calls, indexes and entities
plan.py            a plan: all of it for a design, line by line
explain.py         the arithmetic of one line, step by step
reports/           a plan for people: terminal, Markdown, a page with plots

Whether a document was right

documented.py      the figures that a document states, beside what is computed
figure_values.py   a figure by its terms, by the plan, and at today's prices
figure_plan.py     what the plan has for a figure
formulas.py        the arithmetic of figures
stated_numbers.py  how exact a stated number is, and what agrees with it

It reads blueprints, and asks neither an engine nor AWS. The rules are written from AWS's documentation: the
engine's own units are not used here, and tests compare the two.
"""

from __future__ import annotations

from singletable.planning.documented import FigureComparison, compare_documented
from singletable.planning.explain import Explanation, explain
from singletable.planning.heat import Heat, heat_of
from singletable.planning.measured import Measured, measured_heat
from singletable.planning.plan import Plan, PlanLine, PlanOptions, cost_over_users, make_plan
from singletable.planning.prices import PriceError, PriceTable, packaged_prices, read_prices
from singletable.planning.profile import TableProfile, profile_items, profile_table

__all__ = [
    "Explanation",
    "FigureComparison",
    "Heat",
    "Measured",
    "Plan",
    "PlanLine",
    "PlanOptions",
    "PriceError",
    "PriceTable",
    "TableProfile",
    "compare_documented",
    "cost_over_users",
    "explain",
    "heat_of",
    "make_plan",
    "measured_heat",
    "packaged_prices",
    "profile_items",
    "profile_table",
    "read_prices",
]
