"""Access patterns on the command line, for `singletable run`, and in parts for `draw` and `migrate`.

finding      patterns and designs by their names
parameters   the parameters of a pattern as options, and what was given (`singletable.pattern_texts` reads it)
opening      where a pattern runs, with what is asked written down
results      plans carried out
text         items and requests for people; plain_json: for programs; help_text: the patterns themselves
"""
