"""recounted: figures and predicted seconds of a partition, computed by code that no search uses.

whole.py            recounted: certificate, prediction and exchange; read this first
blocks.py           weights, bytes, pieces and messages of blocks; whether contracts are kept
seconds.py          messages between devices, the links they pass, an iteration of each device
recount_kernels.py  the loops: connected pieces, messages that share links

Its input is the graph's arrays, the platform's devices and links, and the speed models' time(load),
and it shares nothing else with partitioners, the search or evener.plans.metrics.
"""

from evener.plans.recount.blocks import BlockCounts, recounted_blocks, work_of
from evener.plans.recount.seconds import Seconds, recounted_seconds
from evener.plans.recount.whole import judged, recounted

__all__ = [
    "BlockCounts",
    "Seconds",
    "judged",
    "recounted",
    "recounted_blocks",
    "recounted_seconds",
    "work_of",
]
