"""Planning: from a graph and a platform to a certified plan, and questions about plans.

in_memory.py   read first: how a plan is made, for least cut or for least seconds, and checked
plan.py        `ev.plan`: the same for a graph in memory, a file, or rows on MPI ranks
steps.py       blocks at given sizes: terms (sizes, contract), divide, enforce, map; for plans of
               least cut, for the baselines of the search for least seconds, and for compare.py
options.py     PlanOptions, and the same as keywords
makespan/      the search for the plan of least predicted seconds
compare.py     runs several partitioners by the same steps and compares them
evaluate.py    recounts any partition and compares it with a contract: the last step of plans
bottleneck.py  what limits a partition, and which changes would help most
breakdown.py   what limits a run, from the measured times of its supersteps
least_devices.py  the fewest equal devices that a program fits on, by the bytes it allocates
device_sets/   estimates for sets of devices: used by makespan and by advise
advise/        which devices are worth using, from many plans

Imports everything below it except reporting and cli. makespan/__init__.py lists the rules by which
a device of a plan gets no vertices; in a plan of least cut every device gets at least one vertex.
"""
