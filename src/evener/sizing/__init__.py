"""Sizes: how much each device gets.

memory_capped.py  Algorithm 1 of [LDHT]_: optimal real targets under speeds and memory
rounding.py       whole sizes between them, and the limits of a block's contract
further.py        limits on the further weights of vertices that have several
contracts.py      the contract of every block of a graph on a platform
"""

from __future__ import annotations

from evener.sizing.contracts import contract_for
from evener.sizing.memory_capped import Sizes, target_sizes, target_weights

__all__ = ["Sizes", "contract_for", "target_sizes", "target_weights"]
