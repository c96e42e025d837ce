"""The planner: what a design costs and what runs hot, from its blueprint alone.

amounts.py     numbers that vary: at least, as expected, at most
rules.py       AWS's rules: units of reads and writes, overhead, limits
sizes.py       how large items, index entries and locks are
volumes.py     how many items there are, and how many lie together
charges.py     what one call takes, line by line
reads.py       the units of access patterns
writes.py      the units of writes, with all that is kept beside an item
workload.py    all calls and all storage of a design, for so many users
prices.py      AWS's prices by region, each with its source and date (prices.toml, price_list.py)
billing.py     what a month costs, on demand and provisioned
break_even.py  from where on another way of billing, or another table class, is cheaper

documented.py      the figures that a document states, beside what is computed
figure_values.py   a figure by its terms, by the plan, and at today's prices
figure_plan.py     what the plan has for a figure
formulas.py        the arithmetic of figures
stated_numbers.py  how exact a stated number is, and what agrees with it

It reads blueprints, and asks neither an engine nor AWS. The rules are written from AWS's documentation: the
engine's own units are not used here, and tests compare the two.
"""
