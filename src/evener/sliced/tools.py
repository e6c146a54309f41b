"""The other partitioners of graphs in slices than Evener's own, by name."""

from __future__ import annotations

from evener.arrays import Part
from evener.plans.partition import Contract
from evener.sliced.rows import SlicedGraph

RESTREAMED = 5  # passes of the methods that place vertices again
# Name -> passes over the edges; "curve" has none.
SLICED_TOOLS = {"ldg": 1, "fennel": 1, "reldg": RESTREAMED, "refennel": RESTREAMED, "curve": 0}

ON_RANKS = ("curve",)  # of these, those for which vertices need not come in order


def blocks_by(tool: str, graph: SlicedGraph, limits: Contract) -> Part:
    """Return the blocks (n_own,) int32 made by a tool of SLICED_TOOLS, within limits. Collective.

    Raises the errors of `one_pass_blocks` and `curve_blocks`.
    """
    from evener.sliced.curve_blocks import curve_blocks
    from evener.sliced.one_pass import one_pass_blocks

    if tool == "curve":
        return curve_blocks(graph, limits)
    return one_pass_blocks(graph, limits, tool.removeprefix("re"), passes=SLICED_TOOLS[tool])
