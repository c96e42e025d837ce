"""Requests and answers as DynamoDB shapes: parsing, validation, rendering and errors, for JSON and for Python.

No HTTP and no SQL here: the server and boto3-shaped clients call it, and it calls the engine.
"""
