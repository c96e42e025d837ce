"""Streams: handlers of a table's changes, how they run, and the writes that they ask for.

`handlers` declares them, `dispatch` runs them over records, `once` makes their writes idempotent, and `consume`
runs all as a consumer of the embedded engine or as an AWS Lambda function. The effects of a record on kept data
are not here: each kind in `kept` has its own.
"""
