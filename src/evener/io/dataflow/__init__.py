"""Stream graphs in files: one module for each format, and `reading`, which detects the format.

This package may import what `io` imports. Read reading.py first.
"""
