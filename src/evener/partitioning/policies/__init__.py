"""Policies that divide graphs among CPUs and GPUs of machines, as in [Guo16]_, in one pass.

machines.py   which devices form a machine, and which of them are GPUs
families.py   DP, PD and C: the ten combinations by name; the bytes that a block needs on its
              device; how much faster a GPU is, and the resulting share of the CPUs
greedy_kernels.py: PG, LDG, MW, MI: each vertex goes to the device that is best so far

Imports graphs, platforms and plans. Read families.py first.
"""
