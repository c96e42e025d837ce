"""The table of a design: its definition, its creation and settings, and its drift from a target's table.

Nothing here reads or writes items. Changes that need a migration are in `singletable.migrate`.
"""
