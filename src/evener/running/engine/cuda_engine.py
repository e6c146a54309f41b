"""The engines of vertex programs on a CUDA device, by schedule, and the bytes they allocate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from evener.running.engine import dense_cuda_kernels as dense
from evener.running.engine import frontier_cuda_kernels as frontier
from evener.running.engine import union_cuda_kernels as union
from evener.running.engine.atomics_kernels import EDGES, ENDED
from evener.running.engine.cuda_base import CudaEngine
from evener.running.engine.cuda_dense import CudaDense
from evener.running.engine.cuda_frontier import CudaFrontier
from evener.running.engine.device_cuda_kernels import THREADS, CudaDevice
from evener.running.engine.program import VertexProgram
from evener.running.engine.work import ArcsOf, LocalSizes
from evener.running.local_graphs import LocalGraph, unsigned


class CudaUnion(CudaEngine):
    """The union schedule."""

    def _make_work(self, out: ArcsOf, into: ArcsOf) -> None:
        device, sizes = self.device, self.sizes
        self._arcs = int(out.offsets[sizes.n_owned]), int(into.offsets[sizes.n_owned])
        self.work = UnionOnDevice(
            device.empty(sizes.n_local, np.uint32),
            device.empty(sizes.n_ghosts, self.program.dtype),
            device.put(np.zeros(union.COUNTS, np.int64)),
        )
        self._counts = device.pinned(union.COUNTS, np.int64)

    def _begin(self) -> None:
        self._repeats["begin"]()
        self.control[EDGES] += sum(self._arcs if self.sizes.is_directed else self._arcs[:1])

    def _play_begin(self) -> None:
        sizes, n_local = self.sizes, self.sizes.n_local
        self._launch("begin", n_local, sizes, self.vertices, self._values, self.work)
        ways = (self.out, self.into) if sizes.is_directed else (self.out,)
        for which in range(union.SAMPLED):
            self._launch("hook_one", sizes.n_owned, which, sizes, self.out, self.work)
            self._launch("compress", n_local, sizes, self.work)
        for arcs, count in zip(ways, self._arcs, strict=False):
            if count or not n_local:
                self._launch("hook", -(-count // union.ARCS), sizes, arcs, self.work)
        self._launch("compress", n_local, sizes, self.work)

    def _superstep(self) -> None:
        self._repeats["superstep"]()
        self.control[ENDED] = 1

    def _play(self) -> None:
        for name in ("lower", "spread"):
            self._launch(name, self.sizes.n_local, self.sizes, self._values, self.work)

    def _repeated(self) -> Mapping[str, Callable[[], None]]:
        return {"begin": self._play_begin, "superstep": self._play}

    def _count(self) -> int:
        self.device.fetch(self.work.counts, self._counts)
        self.device.wait()
        found = int(self._counts[union.MARKED])
        self._counts[:] = 0
        self.device.send(self._counts, self.work.counts)
        return found

    def _collect(self, n_ghosts: int, places: Any, sent: Any) -> int:
        self._launch("collect", n_ghosts, self.sizes, self._values, self.work, places, sent)
        return self._count()

    def _receive(self, count: int, targets: Any, received: Any) -> None:
        self._launch("receive", count, count, self._values, self.work, targets, received)
        if self._count():
            self.control[ENDED] = 0

    def _play_all(self) -> None:
        self._play_begin()
        self._play()
        (places, _), (sent, _) = self._places, self._sent
        self._launch("collect", 0, self.sizes, self._values, self.work, places, sent)
        self._launch("receive", 0, 0, self._values, self.work, places, sent)


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

    arcs: number of arcs of each of its lists; most: largest number of vertices sent to one device.
    """
    item, n, m = np.dtype(program.dtype).itemsize, max(size.n_local, 1), max(size.n_owned, 1)
    ghosts = max(size.n_ghosts, 1)
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
    counts = 2 * frontier.CLASSES + 1 + frontier.COUNTS + 1  # starts, lengths, counts, steps
    lists = 4 * (m + size.n_owned) + 8 * counts
    return common + n * (item + 1) + 8 * words + lists + ghosts


class UnionOnDevice(NamedTuple):
    """Parents in the trees; values of ghosts that were sent; see the template for counts."""

    parents: Any
    sent: Any
    counts: Any
