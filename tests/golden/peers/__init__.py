"""Other DynamoDB engines at the same golden cases: what each answers otherwise than Amazon DynamoDB.

A module for each engine has the reasons, results/ which vectors they are the reason of. `make test-aws-local` and
`make test-peers` hold both against the engines; docs/reference/peers.md shows them.
"""
