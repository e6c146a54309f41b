"""Converts graphs of any size to binary CSR files, a piece at a time.

convert.py     selects the method for a file: read this first
blocks.py      text in blocks of whole lines, unpacked on the fly
lists.py       METIS: lists in vertex order, written as they are read
pairs.py       edge lists and Matrix Market: pairs, sorted into ranges of rows
vertices.py    coordinates and weights from separate files
buckets.py     arcs by ranges of rows, in memory or on disk, and their adjacency lists
generated.py   graphs written as they are generated; geometric.py  random geometric graphs

May import files, graphs and the rest of io.
"""
