"""What users rely on, written down: public names, requests and stored items. `python -m golden` writes it anew.

surface.py   public names with their signatures, the numbers of errors, exit codes and options of the command
scripts.py   what designs are asked to do: reads and writes of every kind, with transactions and without
stage.py     where scripts play: a database, its clock, and somebody who writes down what happens
record.py    writes down the calls of a script, and what is stored in the end; blueprints of the systems
files.py     the files beside this one, and how they differ from what the code does now
"""
