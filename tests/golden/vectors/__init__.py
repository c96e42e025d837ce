"""Golden cases: a request, what is stored, and what Amazon DynamoDB answers.

A module holds the cases of one operation or topic as `VECTORS`. They run in the process, over HTTP, and against
any endpoint: `PYTHONPATH=tests python -m golden.vectors --endpoint URL`.
"""
