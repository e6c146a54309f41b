"""Opening files within limits, and writing them whole or not at all, whatever their format.

opening.py    every input a user names: regular files and standard input, up to a size
writing.py    a file is either written whole or not at all
steps.py      what long work logs: its steps and their seconds
temporary.py  private folders that do not outlive their process for long

Imports errors alone. Formats are evener.io's. Read opening.py first.
"""
