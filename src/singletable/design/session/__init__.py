"""An open design: its session, expressions, actions and answers, and reads of single stored items.

Every read and write uses these. The kinds of plans and of writes are not here: they are in `plans` and `writes`.
"""
