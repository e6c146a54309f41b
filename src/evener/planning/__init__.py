"""Planning: from a graph and a platform to a certified plan, and questions about plans.

in_memory.py   read first: how a plan is made, for least cut or for least seconds, and checked
plan.py        `ev.plan`: the same for a graph in memory, a file, or rows on the ranks of MPI
steps.py       blocks at given sizes: terms (sizes, contract), divide, enforce, map; for plans of
               least cut, for the baselines of the search for least seconds, and for compare.py
options.py     PlanOptions, and the same as keywords
makespan/      the search for the plan of least predicted seconds
compare.py     several partitioners side by side, by the same steps
evaluate.py    any partition recounted and compared with a contract: the last step of both
bottleneck.py  what limits a partition, and which changes would help most; breakdown.py: what limits
               a run, by what its supersteps took
least_devices.py  on how few equal devices a program fits, by what it allocates
device_sets/   estimates for sets of devices: used by makespan and by advise
advise/        which devices are worth using: a question of its own, answered by many plans

Imports everything below it except reporting and cli. makespan/__init__.py lists the rules by which
a device of a plan gets no vertices; in a plan of least cut every device gets at least one.
"""
