"""Sizes: how much each device gets.

memory_capped.py  Algorithm 1 of [LDHT]_: optimal real targets under speeds and memory
rounding.py       whole sizes between them, and the limits of a block's contract
curved.py         optimal targets and limits under speed curves and memory
further.py        limits on the further weights of vertices that have several
bounds.py         the lower bound: the best that any sizes could do if nothing were exchanged
contracts.py      the contract of every block of a graph on a platform

Speeds that change with load, by the models of evener.platforms.models.fitting:

solving.py        solve_sizes: one call for every method
problems.py       what is asked of a method, checked
constant.py       one speed each (CPM)
geometric.py      lines through the origin (GPA)
numerical.py      root finding on smooth curves (NPA)
sliding.py        a balance behind a hump of time, for NPA
handing_out.py    whole sizes from balanced real ones
exact.py          models of any shape
multiples.py      where loads are too many: steps, polished, with a bound
dynamic.py        sizes without models, by measuring (DPA)
layered.py        level by level of the platform's tree (INPA, IDPA)
subsets.py        which devices are worth using
explaining.py     why a device gets nothing
bisecting.py      the least time by which the largest loads suffice
reaching.py       which sums whole loads can have
segments.py       what is done by a time: models in pieces, all at once
stacking.py       the pieces of all models in flat arrays
rates.py          what is done by a time: constant speeds
tables.py         what is done by a time: any models, load by load
"""

from __future__ import annotations

from evener.sizing.bounds import lower_bound
from evener.sizing.contracts import contract_for, contract_for_seconds
from evener.sizing.curved import beyond_samples, settled
from evener.sizing.dynamic import Dynamic, measured_sizes
from evener.sizing.explaining import explain_sizes
from evener.sizing.layered import LayeredSizes, layered_sizes, model_times, tree_of
from evener.sizing.memory_capped import Sizes, target_sizes, target_weights
from evener.sizing.solving import SpeedSizes, solve_sizes
from evener.sizing.subsets import Subset, best_subset

__all__ = [
    "Dynamic",
    "LayeredSizes",
    "Sizes",
    "SpeedSizes",
    "Subset",
    "best_subset",
    "beyond_samples",
    "contract_for",
    "contract_for_seconds",
    "explain_sizes",
    "layered_sizes",
    "lower_bound",
    "measured_sizes",
    "model_times",
    "settled",
    "solve_sizes",
    "target_sizes",
    "target_weights",
    "tree_of",
]
