"""Graphs of any size into binary CSR files, with no more than a piece of them in memory.

convert.py     which way a file goes: read this first
blocks.py      text in blocks of whole lines, unpacked as it is read
lists.py       METIS: lists in the order of the file, written as they are read
pairs.py       edge lists and Matrix Market: pairs, dealt to buckets of rows
pair_spool.py  pairs as they were read; vertices.py  coordinates and weights from files of their own
used_numbers.py  which numbers vertices have
buckets.py     arcs by ranges of rows, in memory or on disk, and the lists they make
generated.py   graphs written as they are generated; geometric.py  those of random points

May import files, graphs and the rest of io.
"""
