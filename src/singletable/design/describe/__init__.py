"""The description of a design as a blueprint, and the sample values that it needs.

Nothing here opens a design or sends a request. The classes of the blueprint are in `singletable.blueprint`.
"""
