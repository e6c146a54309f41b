"""Formats of graphs and matrices, one per module.

Modules of readable formats have recognises(source) and read(source), modules of writable formats
write(graph); evener.io.formats lists them. pairs.py has code shared by edge lists and matrices.
"""
