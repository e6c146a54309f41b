"""measure_nested: finds sizes of a nested matrix product by measuring (INPA and IDPA).

Each rank is a node. It runs IDPA on its own devices, whose kernel is the product of a step of the
program in the shape that they would have; all ranks together run INPA on the times of the nodes
([Cla14]_, 5.2.1 and 5.2.2).
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

REPETITIONS = 5  # of a product, whose median time counts
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
    """Return a tiling of n x n entries over the nodes of all ranks, and the slices of each node.

    The result is the same on every rank. node: this rank's devices. block: side of the blocks, and
    width of a pivot. epsilon: spread of nodes' times that counts as balanced; within a node, half
    of it. method, max_steps: of Dynamic. repetitions: of each measurement of a product, whose
    median counts. Raises the errors of tiling_of_nodes, on all ranks.
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
    """Return the median times (p,) [s] of a step's product on the devices of a node, run at once.

    Device j computes rows x columns[j] entries of C; its time is infinity if they do not fit in its
    memory. The first product warms up and is not counted.
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
