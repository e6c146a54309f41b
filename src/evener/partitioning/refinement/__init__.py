"""Refinement: improves blocks by moving vertices across borders.

fm.py                    localized k-way FM, in parallel in groups of blocks
pairs_kernels.py         which blocks are neighbours; FM between two blocks
cutting.py               minimum cuts along borders, by maximum flow
volumes.py               FM for exact communication volumes
connectivity_kernels.py  the table of each vertex's connections to blocks

May import levels. Read fm.py.
"""
