"""Opening files within limits, and writing them whole or not at all, in any format.

opening.py    every input a user names: regular files and standard input, up to a size
writing.py    a file is either written whole or not at all
steps.py      logs the steps of long work and their seconds
temporary.py  private folders, removed even if their process was killed

This package imports only errors and wording. evener.io defines the formats. Read opening.py first.
"""
