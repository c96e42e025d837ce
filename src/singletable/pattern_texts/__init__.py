"""Access patterns by texts: their parameters, and the values that texts and JSON have for them.

What a command line, a form or the query of an URL says of a parameter is a text. `parameters` reads the parameters
of a pattern off its method, `shapes` says how values of a type are written, `values` reads and validates them.
"""
