"""Writes: the values that describe them, how each is planned, and the one way in which all are carried out.

`write` has the values. `put`, `update` and `delete` plan one write each. `transaction` carries plans out, and
`perform` sends the requests. `batch` and `cascade` write many items. The rules of kept data (locks, counters,
copies) are not here: they are in `kept`.
"""
