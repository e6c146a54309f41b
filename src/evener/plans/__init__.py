"""Partitions on a platform: contracts, certificates, predicted seconds, plans.

Read partition.py first, then plan.py.

partition.py       Contract, Partition, Mapping: blocks, the limits they must keep, their devices
plan.py            Plan, Certificate, Prediction, Evaluation: all that a plan states
workload.py        Workload: what one iteration computes and sends
tiling.py          Tiling: rectangles of a dense matrix
advice.py          Advice, Choice: sets of devices worth using
costs.py           inputs of metrics.predicted_seconds: seconds per message and per value
exchange_costs.py  Quotient: values that blocks exchange; ExchangeCosts: its seconds
metrics.py         predicted seconds, edge cut, volumes
counts.py          BlockCounts: what blocks hold and send; judged: their certificate and prediction

This package imports graphs and platforms.
"""
