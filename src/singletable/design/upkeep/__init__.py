"""Upkeep: jobs that scan the whole table. `verify` finds and repairs differences, `expired` deletes expired items.

No access pattern is here, and no rule of its own about kept data: each kind in `kept` has its rules.
"""
