"""Rebalancing while a program runs: whether to move data, and what to move.

Whether moving data pays is decided in regret.py. Read rebalancer.py first, then decider.py.

rebalancer.py      Rebalancer: observe(times) returns a Move of a partition that pays, or None
row_rebalancer.py  RowRebalancer: the same for equal rows, as in running.apps.jacobi
run_rebalancer.py  RunRebalancer: what `evener run --rebalance` asks, a Rebalancer of its supersteps
decider.py         Decider: "stay" or "move", from times and priced proposals; LoadState
regret.py          the rule: move when the time lost has reached the price of a move
gains.py           RealizedGains: what moves gained, and how far to believe the next prediction
proposals.py       the partitions that could be moved to, and the seconds that moving takes
held_data.py       HeldData: what a Rebalancer asks of the data; memory_data.py: in one process
rank_data.py       rows on ranks: all observe, rank 0 decides
decision_log.py    writing, reading and checking the log of decisions; repeating them

balancer.py        Balancer: observe(times) returns more even sizes, whatever moving costs
learning.py        a device's partial speed model, refined by each observation

Imports sliced, partitioning, sizing, running (communication), plans, graphs and platforms. The
rules that this one is compared with, and the drifting devices they run on, are in
benchmarks/rebalancing_rules.py and benchmarks/rebalancing_drifts.py.
"""
