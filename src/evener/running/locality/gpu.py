"""Products and interactions on a CUDA device, by staged blocks in shared memory.

With NUMBA_ENABLE_CUDASIM=1 Numba simulates them on a CPU. Imported only if a device is used.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.errors import InfeasibleError, one_of
from evener.running.engine.row_blocks_kernels import row_parts
from evener.running.locality import rows_cuda_kernels as by_rows
from evener.running.locality import staged_cuda_kernels as kernels
from evener.running.locality.staging import Multiprocessor, StagedBlocks, fewest_blocks

ITEM = 8  # bytes of a value
# Numba launches no kernel with more: https://github.com/NVIDIA/numba-cuda/issues/94
USUAL = Multiprocessor(shared_of_block=48 * 1024)
THREADS = 128  # of a block, where nothing else is asked for
RESIDENT = 2  # blocks of threads for which a multiprocessor is to have room
# What is staged of an output and of an input, in bytes, by each kernel.
STAGED = {"by_edges": (ITEM, ITEM), "by_outputs": (0, ITEM), "by_cache": (ITEM, 0)}
ROWS = ("by_rows", "by_runs", "by_parts")
MOST_WAITING = 2.0  # steps of a warp's threads over entries, up to which by_rows is faster


class StagedKernel:
    """A kernel for the entries of a matrix: y_i += message(a_ij, x_j) for all entries.

    entries (m,): in the order of the EdgeList. way: the kernel; by_outputs gives the same sums in
    each run, the others add by atomics in any order. threads: per block. Raises InfeasibleError if
    the largest block needs more shared memory than is available: then use RowsKernel.
    """

    def __init__(
        self,
        blocks: StagedBlocks,
        entries,
        message=kernels.entry_times,
        *,
        way: str = "by_edges",
        threads: int = 1024,
        on: Multiprocessor = USUAL,
    ) -> None:
        self.blocks, self.threads = blocks, threads
        self.way = one_of("kernel", way, tuple(STAGED))
        self.shared = blocks.largest_bytes(*STAGED[way])
        _check_fits(self.shared, threads, on)
        self._kernel = getattr(kernels.kernels_for(message), way)
        self._entries = kernels.put(np.asarray(entries)[blocks.edges])
        self._counts = kernels.put(np.zeros(blocks.k, np.int32))
        outputs, inputs, put = blocks.outputs, blocks.inputs, kernels.put
        if way == "by_cache":
            lists = outputs.starts, outputs.vertices
            self._given = put(blocks.starts), put(outputs.local), put(blocks.columns)
        else:
            lists = outputs.starts, outputs.vertices, inputs.starts, inputs.vertices
            starts = _row_starts(blocks) if way == "by_outputs" else blocks.starts
            self._given = put(starts), (put(outputs.local), put(inputs.local))
        self._staged = tuple(put(one) for one in lists)
        if way == "by_outputs":
            self._parts = tuple(put(one) for one in outputs.parts())
            self._partial = put(np.zeros(outputs.vertices.size))

    @property
    def loads(self) -> int:
        """Number of values that all blocks staged in the last call, as counted by the kernel."""
        return int(self._counts.copy_to_host().sum())

    def __call__(self, x):
        """Return y (n,) for x (columns,)."""
        self._counts = kernels.put(np.zeros(self.blocks.k, np.int32))
        return called(self, x, self.blocks.outputs.n)

    def launch(self, x, y, stream=0):
        """Compute y (n,) from x (columns,), both on the device, as part of a stream's work."""
        n, sums = self.blocks.outputs.n, self._partial if self.way == "by_outputs" else y
        if sums is y:
            clear(y, stream)
        given = *self._given, self._entries, self._staged, x, sums, self._counts
        configured = self.blocks.k, self.threads, max(self.shared, ITEM)
        kernels.launch(self._kernel, *configured, *given, stream=stream)
        if self.way == "by_outputs":
            blocks = -(-n // self.threads)
            given = *self._parts, sums, y
            kernels.launch(kernels.combine, blocks, self.threads, 0, *given, stream=stream)


def called(product: StagedKernel | RowsKernel, x, n: int):
    """Return y (n,) of a product, for x (columns,) in this computer's memory."""
    y = kernels.cuda.device_array(n, np.float64)
    product.launch(kernels.put(np.asarray(x, np.float64)), y)
    return y.copy_to_host()


def clear(y, stream=0) -> None:
    """Set an array on the device to 0."""
    kernels.launch(kernels.clear, -(-y.size // THREADS), THREADS, 0, y, stream=stream)


def _check_fits(shared: int, threads: int, on: Multiprocessor) -> None:
    """Raise InfeasibleError if no block with this many bytes and threads can run."""
    if on.resident(shared, threads) == 0:
        raise InfeasibleError(
            f"a block stages {shared:,} bytes, but only {on.shared_of_block:,} are available",
            hint="Use more blocks, or a kernel without staging.",
        )


class RowsKernel:
    """Products with a matrix (a SciPy CSR array) by rows: one of ROWS, see rows_cuda_kernels.

    matrix: A. way: None for by_rows if rows are short and similar in length, else by_parts.
    threads: per block, except for by_parts. run: number of entries per block of by_runs.
    """

    def __init__(
        self, matrix, way: str | None = None, threads: int = THREADS, run: int = 4096
    ) -> None:
        way = way or ("by_rows" if _is_even(matrix.indptr) else "by_parts")
        self.way, self.threads, self.shared = one_of("kernel", way, ROWS), threads, 0
        n, self._n = matrix.shape[0], matrix.shape[0]
        whole = np.int32 if n + matrix.nnz < 2**31 else np.int64
        offsets = matrix.indptr.astype(whole)
        given = matrix.indices.astype(np.int32), matrix.data
        self._long = None
        if way == "by_rows":
            self._blocks, given = -(-n // threads), (offsets, *given)
        elif way == "by_runs":
            self._blocks, self.shared = -(-matrix.nnz // run), 2 * ITEM * threads
            rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(matrix.indptr))
            given = run, rows, *given
        else:
            self.threads, parts = by_rows.THREADS, parts_of(offsets)
            self.shared = ITEM * (by_rows.PART + by_rows.THREADS)
            self._blocks, given = parts.rows.size - 1, (offsets, parts.rows, parts.places, *given)
            self._long = kernels.put(parts.long) if len(parts.long) else None
            self._carries = kernels.put(np.empty(self._blocks))
        self._given = tuple(
            kernels.put(one) if isinstance(one, np.ndarray) else one for one in given
        )

    def __call__(self, x):
        """Return y (n,) for x (columns,)."""
        return called(self, x, self._n)

    def launch(self, x, y, stream=0):
        """Compute y (n,) from x (columns,), both on the device, as part of a stream's work."""
        if self.way == "by_runs":
            clear(y, stream)
        given = *self._given, x, y
        if self.way == "by_parts":
            given = *given, self._carries
        kernel = getattr(by_rows, self.way)
        if self._blocks:
            shared = self.shared if self.way == "by_runs" else 0  # beyond what the kernel names
            kernels.launch(kernel, self._blocks, self.threads, shared, *given, stream=stream)
        if self._long is not None:
            count, more = len(self._long), (self._given[0], self._long, self._carries, y)
            kernels.launch(by_rows.join_pieces, count, self.threads, 0, *more, stream=stream)


def _is_even(offsets) -> bool:
    """Return whether threads of a warp, one per row, wait little for the longest of their rows."""
    lengths = np.diff(offsets)
    padded = np.zeros(-(-lengths.size // by_rows.WARP) * by_rows.WARP, lengths.dtype)
    padded[: lengths.size] = lengths
    steps = padded.reshape(-1, by_rows.WARP).max(axis=1, initial=0)
    return bool(steps.sum() * by_rows.WARP <= MOST_WAITING * lengths.sum())


def parts_of(offsets):
    """Return the RowParts of rows, given their offsets (n + 1,), for by_parts."""
    return row_parts(offsets, offsets.size - 1, by_rows.PART, by_rows.THREADS)


class Chosen(NamedTuple):
    """A product on a device, the reason for it, and its occupancy (share of threads that run)."""

    product: StagedKernel | RowsKernel
    reason: str
    occupancy: float


def product_for(
    matrix, entries, make, *, threads: int = 1024, on: Multiprocessor = USUAL
) -> Chosen:
    """Return a product by the fewest staged blocks such that two fit on a multiprocessor.

    entries (m,): of the matrix, in the order of the EdgeList for which make(k) returns the
    StagedBlocks of k blocks. If no number of blocks fits, the kernel by rows is returned, with the
    reason.
    """
    room = on.room(RESIDENT)
    used = np.count_nonzero(np.diff(matrix.indptr)) + np.unique(matrix.indices).size
    try:
        blocks = fewest_blocks(make, -(-ITEM * used // room), room, ITEM, ITEM)
    except InfeasibleError as error:
        plain = RowsKernel(matrix)
        reason = f"by rows, without staging: {error}"
        return Chosen(plain, reason, on.occupancy(plain.shared, plain.threads))
    made = StagedKernel(blocks, entries, threads=threads, on=on)
    occupancy = on.occupancy(made.shared, threads)
    reason = (
        f"{blocks.k:,} blocks stage {made.shared:,} bytes each at most, of {room:,}: "
        f"occupancy {occupancy:.2f}"
    )
    return Chosen(made, reason, occupancy)


def _row_starts(blocks: StagedBlocks):
    """Return where the edges of each output of each block begin (outputs staged + 1,).

    The edges of an output are consecutive in its block, like those of a row in a matrix.
    """
    outputs = blocks.outputs
    first = np.repeat(outputs.starts[:-1], np.diff(blocks.starts))
    place = first + outputs.local
    assert (np.diff(place) >= 0).all()
    starts = np.zeros(outputs.vertices.size + 1, np.int64)
    np.cumsum(np.bincount(place, minlength=outputs.vertices.size), out=starts[1:])
    return starts


def staged_fluxes(
    blocks: StagedBlocks, areas, values, threads: int = 384, on: Multiprocessor = USUAL
):
    """Return the sums (4, n) of fluxes into each vertex, and the number of values staged.

    blocks: of interactions. areas (m,): of edges, in their order; values (4, n). threads: by
    default 384, the best of the paper's section 5.3. Raises InfeasibleError like StagedKernel: then
    use `swapped_flux`.
    """
    ends, n_values = blocks.outputs, kernels.FLUX_VALUES
    put = kernels.put
    sums, counts = put(np.zeros((n_values, ends.n))), put(np.zeros(blocks.k, np.int32))
    shared = max(blocks.largest_bytes(2 * n_values * ITEM, 0), ITEM)
    _check_fits(shared, threads, on)
    kernels.launch(
        kernels.staged_flux, blocks.k, threads, shared,
        put(blocks.starts), put(ends.local), put(np.asarray(areas)[blocks.edges]), put(ends.starts),
        put(ends.vertices), put(np.asarray(values)), sums, counts,
    )  # fmt: skip
    return sums.copy_to_host(), int(counts.copy_to_host().sum())
