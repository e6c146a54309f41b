"""Opening files within limits, and writing them whole or not at all, whatever their format.

opening.py    every input a user names: regular files and standard input, up to a size
writing.py    a file is either written whole or not at all
steps.py      logs the steps of long work and their seconds
temporary.py  private folders, removed even if their process was killed

Imports only errors. evener.io defines the formats. Read opening.py first.
"""
