"""Plans: the reads that patterns return, and how they are carried out. Each kind of plan has one file.

The file of a kind holds its class, its requests, how its answers are read, and its shape for the blueprint. `plan`
has the parts that all kinds share. Only `reader` knows all kinds: a kind reads the plans inside it by its runner,
and imports only those it is built from. Nothing here writes.

To add a kind, write its file, add its case to each match of `reader`, and add its name to the public ones.
"""
