"""A vertex program's engine on a CUDA device, by its schedule, and the bytes that it allocates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evener.running.engine import dense_cuda_kernels as dense
from evener.running.engine import frontier_cuda_kernels as frontier
from evener.running.engine import union_cuda_kernels as union
from evener.running.engine.cuda_base import CudaEngine
from evener.running.engine.cuda_dense import CudaDense
from evener.running.engine.cuda_frontier import CudaFrontier
from evener.running.engine.cuda_union import CudaUnion
from evener.running.engine.device_cuda_kernels import THREADS, CudaDevice
from evener.running.engine.program import VertexProgram
from evener.running.engine.work import LocalSizes
from evener.running.local_graphs import LocalGraph, unsigned

SCHEDULES: dict[str, type[CudaEngine]] = {
    "dense": CudaDense,
    "frontier": CudaFrontier,
    "bucket": CudaFrontier,
    "union": CudaUnion,
}


def cuda_engine(
    program: VertexProgram,
    local: LocalGraph,
    device: CudaDevice,
    parameters: Mapping[str, float] | None = None,
) -> CudaEngine:
    """Return the engine of a program on a device. Raises InputError as Engine does."""
    return SCHEDULES[program.schedule](program, local, device, parameters)


def device_bytes(program: VertexProgram, size: LocalSizes, arcs: Sequence[int], most: int) -> int:
    """Return the bytes of values and work that a CudaEngine allocates on its device.

    arcs: of each list that it has; most: the most vertices that are sent to one other device.
    """
    item, n, m = np.dtype(program.dtype).itemsize, max(size.n_local, 1), max(size.n_owned, 1)
    ghosts = max(size.n_local - size.n_owned, 1)
    common = n * item + (ghosts + max(most, 1)) * (4 + item)
    if program.schedule == "dense":
        ways = arcs if program.direction == "both" and size.is_directed else arcs[-1:]
        # Two parts that follow each other have more than ROOM arcs or THREADS vertices each.
        parts = sum(2 * (count // dense.ROOM + size.n_owned // THREADS) + 2 for count in ways)
        long = sum(count // dense.ROOM + 1 for count in ways)
        blocks = max(min(-(-size.n_owned // THREADS), dense.MOST_BLOCKS), 1)
        place = np.dtype(unsigned(max(arcs))).itemsize
        lists = parts * (item + 2 * place) + 2 * long * place
        return common + (len(ways) * m + n) * item + lists + 8 * (blocks + 1)
    if program.schedule == "union":
        return common + 4 * n + ghosts * item + 8 * union.COUNTS
    words = max(-(-size.n_local // frontier.BITS), 1)
    lists = 4 * (m + size.n_owned) + 8 * (frontier.CLASSES + 1 + frontier.COUNTS)
    return common + n * (item + 1) + 8 * words + lists + ghosts
