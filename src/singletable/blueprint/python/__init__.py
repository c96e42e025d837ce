"""A blueprint as a typed Python module: what a design can say as code, and comments where it cannot.

names.py        identifiers, literals, comments: one token or one line, whatever text a blueprint holds
types.py        types as annotations, values as literals, imports
keys.py         key classes
conditions.py   conditions as expressions
fields.py       fields of entities and models
tables.py       the class of the table, with its indexes
entities.py     entities, one by one
kept.py         what entities keep of each other, and must agree on
calls.py        parameters of a pattern, and the keys that are made of them
patterns.py     access patterns as methods

`singletable.blueprint.python_text` puts the module together. Nothing here imports a design: what one would refuse
is known by its rules, and is left out.
"""
