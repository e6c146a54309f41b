"""Stream graphs in files: one module for each format, and `reading`, which finds the right one.

May import what `io` imports. Read reading.py first.
"""
