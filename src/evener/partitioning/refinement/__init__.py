"""Refinement: blocks improved by moving vertices across borders.

fm.py                    localized k-way FM, in groups of blocks side by side
pairs_kernels.py         which blocks touch; FM between two blocks
cutting.py               minimum cuts along borders, by maximum flow
volumes.py               exact communication volumes lowered
connectivity_kernels.py  the table of each vertex's connections to blocks

May import levels and repair. Read fm.py.
"""
