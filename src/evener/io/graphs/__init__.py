"""Formats of graphs and matrices, one a file; write.py chooses by name or suffix.

Those that are read have recognises(source) and read(source), those that are written
write(graph); evener.io.formats lists them. matrices.py, pairs.py have what several share.
"""
