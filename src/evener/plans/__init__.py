"""Plans: what is decided, and what follows from it.

partition.py  Contract, Partition, Mapping: blocks, their limits, their devices
plan.py       Plan, Certificate, Prediction, Evaluation: all that is known of a partition
tiling.py     Tiling: rectangles of a dense matrix; advice.py: sets of devices worth using
workload.py   Workload: what one iteration computes and sends
quotient.py   who talks to whom; metrics.py: cut, volumes, predicted seconds
exchange.py   what messages cost; costs.py: the same as bare arrays, for kernels
recount/      the certificate counted again by code that shares nothing with the search

Imports graphs and platforms. Read partition.py, then plan.py.
"""
