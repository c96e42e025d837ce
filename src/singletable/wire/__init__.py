"""Requests and answers as DynamoDB shapes: parsing, validation, rendering and errors, for JSON and for Python."""
