"""Rebalancing while a program runs: whether to move data, and what to move.

regret.py says when a move is due; `Decider._best` prices the possible moves, and may still stay.
Read rebalancer.py first, then decider.py.

rebalancer.py      Rebalancer: observe(times) returns a Move to a better partition, or None
row_rebalancer.py  RowRebalancer: the same for equal rows, as in running.apps.jacobi
run_rebalancer.py  RunRebalancer: calls a Rebalancer between supersteps of `evener run --rebalance`
decider.py         Decider: "stay" or "move", from times and proposals with costs; LoadState
regret.py          the rule: a move is due when the time lost has nearly reached its cost
gains.py           RealizedGains: gains of earlier moves, and trust in the next prediction
proposals.py       possible new partitions, and the seconds that moving to them takes
held_data.py       HeldData: interface between a Rebalancer and the graph
memory_data.py     MemoryData: HeldData for a graph in one process
rank_data.py       RankData: HeldData for rows on MPI ranks; all observe, rank 0 decides
decision_log.py    writing, reading and checking the log of decisions; repeating them

balancer.py        Balancer: observe(times) returns more even sizes, whatever moving costs
learning.py        a device's partial speed model, refined by each observation

Imports sliced, partitioning, sizing, running (communication), plans, graphs and platforms. Other
rules, with which that of regret.py is compared, are in benchmarks/rebalancing_rules.py; the
simulated devices whose speeds drift are in benchmarks/rebalancing_drifts.py.
"""
