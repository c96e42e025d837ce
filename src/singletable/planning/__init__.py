"""The planner: what a design costs and what runs hot, from its blueprint alone.

amounts.py   numbers that vary: at least, as expected, at most
rules.py     AWS's rules: units of reads and writes, overhead, limits
sizes.py     how large items, index entries and locks are
volumes.py   how many items there are, and how many lie together
charges.py   what one call takes, line by line
reads.py     the units of access patterns
writes.py    the units of writes, with all that is kept beside an item
workload.py  all calls and all storage of a design, for so many users

It reads blueprints, and asks neither an engine nor AWS. The rules are written from AWS's documentation: the
engine's own units are not used here, and tests compare the two.
"""
