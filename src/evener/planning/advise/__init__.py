"""Advice: which devices of a machine are worth using, as a table with a row for each set size.

advise.py     read first: estimates sets, plans those that may be best, makes rows
set_plans.py  plans sets in the order of their estimates, until no other set may be best
choices.py    seconds, money and energy of each set; the best set, the knee

Plans do not depend on this package: `plan` itself leaves devices out, see makespan/__init__.py.
Imports device_sets and makespan of planning, and the packages below it.
"""
