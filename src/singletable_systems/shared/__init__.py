"""What several systems do alike, in the rooms of a system: estimates of loads, rules of input, and
the base of services.

Systems may import this; it imports none of them.
"""
