"""The values of fields: attribute values, codecs, constraints, conditions, and markers in annotations.

Nothing here knows keys, entities or targets.
"""
