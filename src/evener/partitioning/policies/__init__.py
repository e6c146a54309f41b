"""Policies that divide graphs over machines of CPUs and GPUs, as in [Guo16]_: fast, in one pass.

machines.py   which devices make up a machine, and which of them are GPUs
families.py   DP, PD and C: the ten combinations by name; the bytes that a block needs on its
              device; how much faster a GPU is, and the share of the CPUs that follows from it
greedy_kernels.py: PG, LDG, MW, MI: each vertex goes to the device that is best so far

Imports graphs, platforms and plans. Read families.py first.
"""
