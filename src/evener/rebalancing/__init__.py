"""Balancing while a program runs: whether to move data, and what.

regret.py      Regret: moves when what was lost has reached the price of a move
watching.py    what a device's recent times say of it: means, changes, trends
simulation.py  runs of rules (rules.py) on devices that drift (drifts.py), beside the best in
               hindsight (hindsight.py)
rebalancer.py  Rebalancer: observe(times) gives a move that pays, or None; deciding.py is its head,
               states.py what that is told, proposing.py what could be moved, moving.py what that
               takes, spreads.py the ideal
recording.py   decisions and their file (diary.py), which replaying.py makes again
rows.py        RowRebalancer: the same for rows that are all alike, such as those of apps.jacobi
balancer.py    Balancer: observe(times) gives new sizes where these pay, or None
learning.py    what is known of one device: a partial speed model, refined by each observation
constant.py    the traditional balancer, to compare with: one speed a device, the last one seen
"""
