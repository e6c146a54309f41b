"""Planning: from a graph and a platform to a certified plan, and questions about plans.

plan.py        read first: both roads to a plan, least cut and least seconds, on one page
steps.py       the steps that both share: terms (sizes, contract), divide, enforce, map
options.py     PlanOptions, and the same as keywords
makespan/      the search for the plan of least predicted seconds
compare.py     several partitioners side by side, by the same steps
evaluate.py    the fourth step: any partition judged; what a plan states is recounted
bottleneck.py  what limits a partition, and which changes would help most
device_sets/   estimates for sets of devices: used by makespan and by advise
advise/        which devices are worth using: a question of its own, answered by many plans

Imports everything below it but reporting and cli. What decides that a device of a plan gets nothing
is listed in makespan/__init__.py.
"""
