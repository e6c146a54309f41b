"""Products and interactions on a CUDA device, from shared memory by staged blocks.

With NUMBA_ENABLE_CUDASIM=1 Numba plays them on a CPU. Imported only where a device is asked for.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from evener.errors import InfeasibleError
from evener.running.locality import staged_cuda_kernels as kernels
from evener.running.locality.staging import Multiprocessor, StagedBlocks

ITEM = 8  # bytes of a value
USUAL = Multiprocessor()


class StagedKernel:
    """What edges of a matrix add, on a device: y_i += message(a_ij, x_j) for all entries.

    entries (m,): in the order of the EdgeList. threads: of a block. is_repeatable: sums come out
    the same in each run; else atomics add in any order. Raises InfeasibleError where the largest
    block needs more shared memory than there is: use `swapped`.
    """

    def __init__(
        self,
        blocks: StagedBlocks,
        entries,
        message=kernels.entry_times,
        *,
        threads: int = 1024,
        is_repeatable: bool = False,
        on: Multiprocessor = USUAL,
    ) -> None:
        self.blocks, self.threads, self.is_repeatable = blocks, threads, is_repeatable
        self.shared = blocks.largest_bytes(0 if is_repeatable else ITEM, ITEM)
        if on.resident(self.shared, threads) == 0:
            raise InfeasibleError(
                f"a block stages {self.shared:,} bytes, of {on.shared_of_block:,} that there are",
                hint="Take more blocks, or the plain kernel.",
            )
        self._kernels = kernels.kernels_for(message)
        outputs, inputs = blocks.outputs, blocks.inputs
        put = kernels.put
        self._starts, self._entries = put(blocks.starts), put(np.asarray(entries)[blocks.edges])
        self._local = put(outputs.local), put(inputs.local)
        lists = outputs.starts, outputs.vertices, inputs.starts, inputs.vertices
        self._staged = tuple(put(one) for one in lists)
        self._parts = tuple(put(one) for one in outputs.parts())
        self._rows = put(_row_starts(blocks)) if is_repeatable else None
        size = outputs.vertices.size if is_repeatable else 0
        self._partial, self._counts = put(np.zeros(size)), put(np.zeros(blocks.k, np.int32))

    @property
    def loads(self) -> int:
        """Values that all blocks staged in the last call, as the kernel counted them."""
        return int(self._counts.copy_to_host().sum())

    def __call__(self, x):
        """Return y (n,) for x (columns,)."""
        n = self.blocks.outputs.n
        x, y = kernels.put(np.asarray(x, np.float64)), kernels.put(np.zeros(n))
        self._counts = kernels.put(np.zeros(self.blocks.k, np.int32))
        configured = self.blocks.k, self.threads, max(self.shared, ITEM)
        staged, partial, counts = self._staged, self._partial, self._counts
        if self.is_repeatable:
            given = self._rows, self._local, self._entries, staged, x, partial, counts
            kernels.launch(self._kernels.by_outputs, *configured, *given)
            blocks = -(-n // self.threads)
            kernels.launch(kernels.combine, blocks, self.threads, 0, *self._parts, partial, y)
        else:
            given = self._starts, self._local, self._entries, staged, x, y, partial, counts
            kernels.launch(self._kernels.by_edges, *configured, *given)
        return y.copy_to_host()


def _row_starts(blocks: StagedBlocks):
    """Return (outputs staged + 1,) where the edges of each output of each block begin.

    The edges of an output follow each other in its block, as those of a row do in a matrix.
    """
    outputs = blocks.outputs
    first = np.repeat(outputs.starts[:-1], np.diff(blocks.starts))
    place = first + outputs.local
    assert (np.diff(place) >= 0).all()
    starts = np.zeros(outputs.vertices.size + 1, np.int64)
    np.cumsum(np.bincount(place, minlength=outputs.vertices.size), out=starts[1:])
    return starts


def staged_fluxes(blocks: StagedBlocks, areas, values, threads: int = 384):
    """Return (4, n) the sums of what flows into each vertex, and how many vertices were staged.

    blocks: of interactions. areas (m,): of edges, in their order; values (4, n). threads: 384, the
    best of the paper's section 5.3.
    """
    ends, n_values = blocks.outputs, kernels.FLUX_VALUES
    put = kernels.put
    sums, counts = put(np.zeros((n_values, ends.n))), put(np.zeros(blocks.k, np.int32))
    shared = max(blocks.largest_bytes(2 * n_values * ITEM, 0), ITEM)
    kernels.launch(
        kernels.staged_flux, blocks.k, threads, shared,
        put(blocks.starts), put(ends.local), put(np.asarray(areas)[blocks.edges]), put(ends.starts),
        put(ends.vertices), put(np.asarray(values)), sums, counts,
    )  # fmt: skip
    return sums.copy_to_host(), int(counts.copy_to_host().sum())
