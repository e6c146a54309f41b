"""measure_nested: sizes of a nested matrix product by measuring its devices (INPA and IDPA).

Each rank is a node. It runs IDPA on its own devices, whose kernel is the product that the program
makes in each step, in the shape that they would have; all ranks together run INPA on the nodes'
times ([Cla14]_, 5.2.1 and 5.2.2).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.errors import UsageError
from evener.measuring.benchmark import is_lack_of_memory
from evener.measuring.together import together
from evener.running.apps.matmul_nested import NodeDevices
from evener.running.comm import Comm
from evener.sizing.nested import NestedTiling, Slices, SliceSearch, tiling_of_nodes

REPETITIONS = 5  # of a product, of which the median counts
MAX_STEPS = 20  # of INPA, and of IDPA in each of its steps
FACTOR = 1e-3  # entries of the pivots


def measure_nested(
    comm: Comm,
    node: NodeDevices,
    n: int,
    block: int,
    *,
    epsilon: float = 0.1,
    method: str = "gpa",
    max_steps: int = MAX_STEPS,
    repetitions: int = REPETITIONS,
) -> NestedTiling:
    """Return a tiling of n x n entries over the nodes of all ranks, and the slices of each.

    node: this rank's devices. block: side of the blocks, and width of a pivot. epsilon: spread of
    nodes' times that counts as balanced; within nodes half of it. method, max_steps: of Dynamic.
    repetitions: of a product whenever it is measured, the median counts. The same on every rank.
    Raises what tiling_of_nodes does, on all ranks.
    """
    if repetitions < 1:
        raise UsageError(f"a product must be measured at least once, not {repetitions} times")

    def measure(_: IntArray, rows: int, columns: IntArray) -> FloatArray:
        return product_seconds(node, rows, columns, block, repetitions)

    search = SliceSearch(range(len(node.devices)), measure, epsilon / 2, method, max_steps)

    def slice_nodes(sides: IntArray) -> Sequence[Slices]:
        rows, columns = sides[comm.rank].tolist()
        return comm.allgather(together(comm, lambda: search.slices(rows, columns)))

    return tiling_of_nodes(
        comm.size, (n, n), block, slice_nodes,
        epsilon=epsilon, method=method, max_steps=max_steps,
    )  # fmt: skip


def product_seconds(
    node: NodeDevices, rows: int, columns: IntArray, block: int, repetitions: int = REPETITIONS
) -> FloatArray:
    """Return the median seconds (p,) of a step's product on the devices of a node, all at once.

    Device j has rows x columns[j] entries of C; infinity where its memory does not hold them. The
    first product warms up and is not counted.
    """
    errors = node.take(rows, columns, block)
    for error in errors:
        if error is not None and not is_lack_of_memory(error):
            raise error
    failed = np.array([error is not None for error in errors])
    column = np.full((rows, block), FACTOR)
    strips = [np.full((block, own), FACTOR) for own in np.where(failed, 0, columns).tolist()]
    node.add(column, strips)
    seconds = np.median([node.add(column, strips) for _ in range(repetitions)], axis=0)
    node.release()
    return np.where(failed, np.inf, seconds)
