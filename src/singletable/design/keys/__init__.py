"""Keys as typed values: key classes, templates, parts and their codecs, ranges of sort keys.

Nothing here knows entities, tables or targets. The binding of keys to an entity is in `model`.
"""
