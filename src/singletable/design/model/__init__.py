"""The declarations of a design, compiled: entities, their places and relations, the table, the catalog.

Nothing here sends a request or knows a target. Reads are in `plans`, writes in `writes`, and kept data in `kept`.
"""
