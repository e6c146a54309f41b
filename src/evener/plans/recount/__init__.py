"""recounting: what a partition is and how long it takes, counted by code that no search uses.

blocks: weights, bytes, pieces, who sends what to whom. messages: the links between devices.
seconds: an iteration of each device. keeping: whether contracts are kept. whole: all of it.
pieces_kernels and shares_kernels have the loops. It takes the graph's arrays, the machine's devices
and links, the speed models' time(load), and shares nothing else with partitioners, the search or
its metrics.
"""

from evener.plans.recount.blocks import BlockCounts, recounted_blocks, work_of
from evener.plans.recount.seconds import Seconds, recounted_seconds
from evener.plans.recount.whole import recounted

__all__ = [
    "BlockCounts",
    "Seconds",
    "recounted",
    "recounted_blocks",
    "recounted_seconds",
    "work_of",
]
