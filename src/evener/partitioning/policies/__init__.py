"""Policies that divide graphs over machines of CPUs and GPUs, as in [Guo16]_: fast, in one pass.

machines.py   which devices make up a machine, and which of them are GPUs
footprint.py  bytes that a block needs on its device, messages counted
orders.py     O, R, H, L and chunks: vertices in some order, dealt out by shares;
              greedy_kernels.py: PG, LDG, MW, MI, one vertex after another to the best device so far
ratios.py     how much faster a GPU is, and the share of the CPUs that follows from it
families.py   DP, PD and C: the paper's ten combinations by name

Imports graphs, platforms and plans. Read families.py first.
"""
