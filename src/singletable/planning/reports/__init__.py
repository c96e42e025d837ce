"""A plan for people: in a terminal, in a pull request, as a page.

figures.py    numbers and money as people write them
since.py      the difference to an earlier plan
terminal.py   tables for a terminal
markdown.py   a comment for a pull request
charts.py     plots as SVG
html.py       a page of its own, with page.css and all plots inside
"""
