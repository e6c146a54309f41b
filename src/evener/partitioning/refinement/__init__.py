"""Refinement: blocks improved by moving vertices across borders.

fm.py                    localized k-way FM; pairs_kernels.py: FM between two blocks
cutting.py               minimum cuts along borders, by maximum flow
volumes.py               exact communication volumes lowered
connectivity_kernels.py  the table of each vertex's connections to blocks
grouping.py              which pairs of blocks are refined side by side

May import levels and repair. Read fm.py.
"""
