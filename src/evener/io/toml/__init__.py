"""TOML with line numbers in its errors.

reading.py  the text and its tables, with the line each key stands on
tables.py   tables and values checked against what they may hold
writing.py  values as TOML has them
"""
