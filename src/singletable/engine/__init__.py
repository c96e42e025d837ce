"""The operations: each plans its changes as a pure function, and one storage transaction applies them.

It takes typed requests and returns typed results. JSON shapes and HTTP belong to wire and server, SQL to storage.
"""
