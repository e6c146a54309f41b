"""Blocks onto devices: near devices for blocks that exchange much, every contract kept.

blocks.py        map_blocks: the predicted makespan first, then bytes x hops
scenes.py        what a mapping is judged by: the quotient graph and the platform's costs
multisection.py  a first mapping, from the machine's root down
searching.py     swaps of blocks, and shakes out of where they end
"""
