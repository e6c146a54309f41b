"""Formats of graphs and matrices, one a file.

Those that are read have recognises(source) and read(source), those that are written
write(graph); evener.io.formats lists them. pairs.py has what lists of edges and matrices share.
"""
