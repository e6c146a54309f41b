"""An interaction kernel on one core: fluxes between elements of a fluid, as of Rodinia's cfd.

`fluxes` takes edge after edge by a schedule, job swapping as of [SPAC]_, section 4; `BlockFluxes`
copies the values of each block's vertices to a buffer that stays in the cache. The kernels for CUDA
devices are in staged_cuda_kernels.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector
from evener.graphs.edge_list import EdgeList
from evener.running.locality import fluxes_kernels as kernels
from evener.running.locality.staging import StagedBlocks


def fluxes(
    edges: EdgeList,
    areas: npt.NDArray[np.float64],
    values: FloatArray,
    schedule: IntVector | None = None,
) -> FloatArray:
    """Return (n, 4) what flows into each vertex, added up in the order of a schedule of edges.

    areas (m,): of the faces between elements. values (n, 4): density, momentum in two directions,
    energy. schedule (m,): all edges by their numbers; None: in their order.
    """
    order = np.arange(edges.m) if schedule is None else schedule
    sums = np.zeros_like(values)
    kernels.flow_along(order, edges.tails, edges.heads, areas, values, sums)
    return sums


class BlockFluxes:
    """`fluxes` by staged blocks of interactions, whose sums are added in the order of blocks.

    areas (m,): of the edges, in their order. loads: vertices staged by the last call, counted as
    they were.
    """

    def __init__(self, blocks: StagedBlocks, areas: npt.NDArray[np.float64]) -> None:
        self._blocks, self._areas = blocks, areas[blocks.edges]
        largest = int(blocks.outputs.counts.max(initial=0)), kernels.FLUX_VALUES
        self._room, self._own = np.empty(largest), np.empty(largest)
        self.loads = 0

    def __call__(self, values: FloatArray) -> FloatArray:
        """Return (n, 4) what flows into each vertex, for values (n, 4)."""
        ends, sums = self._blocks.outputs, np.zeros_like(values)
        self.loads = int(
            kernels.flow_in_blocks(
                self._blocks.starts, ends.starts, ends.local, ends.vertices, self._areas, values,
                self._room, self._own, sums,
            )
        )  # fmt: skip
        return sums
