"""Partitions on a platform: contracts, certificates, predicted seconds, plans.

Read partition.py first, then plan.py.

partition.py       Contract, Partition, Mapping: blocks, the limits they must keep, their devices
plan.py            Plan, Certificate, Prediction, Evaluation: all that a plan states
workload.py        Workload: what one iteration computes and sends
tiling.py          Tiling: rectangles of a dense matrix
advice.py          Advice, Choice: sets of devices worth using
costs.py           what metrics.predicted_seconds is computed from: seconds per message and value
exchange_costs.py  Quotient: which blocks exchange how much; ExchangeCosts: the seconds it takes
metrics.py         predicted seconds, edge cut, volumes, as partitioners and searches use them
recount/           the same figures for certificates, by code that shares nothing with metrics.py

Imports graphs and platforms.
"""
