"""How much work each device gets: sizes of blocks, their limits, and rectangles of a matrix.

Read contracts.py first for graphs (contract_for), solving.py for speed models (solve_sizes).

contracts.py      the contract of every block of a graph: target, low, high, memory
memory_capped.py  optimal targets under constant speeds and memory, Algorithm 1 of [LDHT]_
curved.py         the same for devices with speed curves
bounds.py         lower_bound: the least time per iteration if nothing were exchanged
rounding.py       whole sizes from real targets, and limits low and high around the targets
equal_finish.py   real loads with which devices end at the same time

Speeds that change with load (evener.platforms.models), in whole units:

solving.py        solve_sizes: one function for all methods; explain_sizes: the reason for each size
problems.py       Problem: checked input of every method; Solution: its result
numerical.py      npa: root finding on smooth curves (NPA)
exact.py          exact: least makespan for models of any shape
least_time.py     the least time in which whole loads reach n, and two methods that use it:
                  constant (one speed each, CPM) and gpa (lines through the origin, GPA)
segments.py       the whole loads that are finished in a given time, for all types of curves
sums_of_runs.py   which totals can be formed by one load of each device
dynamic.py        sizes without models, by measuring (DPA)
layered.py        sizes level by level of the platform's tree (INPA, IDPA)
nested.py         the same for a matrix: measures rectangles of nodes, and slices of devices
subsets.py        which devices are worth using
tiling/           rectangles of a dense matrix

Imports plans, graphs, platforms, and io.accept for arguments given as files.
"""
