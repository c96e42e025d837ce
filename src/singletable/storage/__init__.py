"""The ordered store and its log: one SQLite file, one writer, all that a change touches in one transaction.

Nothing above this package speaks SQL, and nothing in it knows what an operation or an expression is.
"""
