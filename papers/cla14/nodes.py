"""The 90 nodes of table 5.3 ([Cla14]_), device by device: 432 cores and 12 GPUs, emulated.

A device's kernel adds a product of `pivot` to its slice of C: C += A B, where A has the slice's
rows and `pivot` columns, B `pivot` rows and the slice's columns. Its seconds are

    launch + 2 rows columns pivot / peak + bytes of C, read and written, / memory bus

where all cores of a node share the bus. A GPU has a bus of its own; what it gets of A and B in
every step is sent to it. Its slice of C stays on it, and if that is more than its memory it cannot
work: seconds are infinite, as the thesis uses no out-of-core algorithm there. A node whose A, B and
C are more than its memory pages: all its devices take PAGING times as long.

Peaks are of the processors of the table at 90 % of four operations a cycle and core; those of the
GPUs, of buses and of PCI Express are round numbers for such hardware. The thesis has none of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import FloatArray, IntArray

BLOCK = 128  # the thesis's choice of pivot, and the side of the blocks that nodes get
ELEMENT = 8  # bytes
MATRICES = 3  # A, B and C, of which each node holds its rectangle
PAGING = 25.0
GIB = 2.0**30
CPU_LAUNCH = 2e-6  # [s] of a call
# Table 5.3: nodes with so many cores in use, from 0 on.
CORES_IN_USE = {
    "adonis": (2, 1, 1, 1, 1, 1, 2, 3, 0),
    "edel": (0, 6, 4, 4, 4, 8, 8, 8, 8),
    "genepi": (0, 3, 3, 3, 3, 4, 4, 4, 4),
}
FERMI = 2  # Adonis 11 and 12 have other processors and GPUs; we take the last of the table's row


@dataclass(frozen=True)
class CpuCore:
    """A core of a CPU. peak [operations/s]."""

    peak: float


@dataclass(frozen=True)
class Accelerator:
    """A GPU. peak [operations/s]; bus, sent [bytes/s]: its memory, PCI Express; memory [bytes]."""

    peak: float
    bus: float
    sent: float
    memory: float
    launch: float = 1e-4


TESLA_T10 = Accelerator(70e9, 80e9, 3e9, 4 * GIB)
TESLA_C2050 = Accelerator(300e9, 110e9, 5e9, 3 * GIB)


@dataclass(frozen=True)
class EmulatedNode:
    """A node: its name, cores and GPU, the bus that its cores share [bytes/s], memory [bytes]."""

    name: str
    cores: tuple[CpuCore, ...]
    gpu: Accelerator | None
    bus: float
    memory: float

    @property
    def n_devices(self) -> int:
        """Number of devices that compute."""
        return len(self.cores) + (self.gpu is not None)

    def seconds(self, rows: int, columns: IntArray, pivot: int = BLOCK) -> FloatArray:
        """Return seconds (p,) of one step of all devices together: cores first, then the GPU.

        rows; columns (p,) [elements]: of each device's slice. Infinite where the GPU cannot.
        """
        own = columns.astype(np.float64)
        n = len(self.cores)
        work, c_bytes = 2.0 * rows * own * pivot, 2.0 * ELEMENT * rows * own
        seconds = np.zeros(own.size)
        peaks = np.array([core.peak for core in self.cores])
        active = max(int((own[:n] > 0).sum()), 1)
        seconds[:n] = CPU_LAUNCH + work[:n] / peaks + c_bytes[:n] * active / self.bus
        if self.gpu is not None:
            gpu, pivots = self.gpu, ELEMENT * pivot * (rows + own[n])
            seconds[n] = gpu.launch + work[n] / gpu.peak + c_bytes[n] / gpu.bus + pivots / gpu.sent
            if ELEMENT * rows * own[n] + pivots > gpu.memory:
                seconds[n] = np.inf
        if MATRICES * ELEMENT * rows * own.sum() > self.memory:
            seconds *= PAGING
        return np.where(own > 0, seconds, 0.0)


def nodes_of_grenoble() -> tuple[EmulatedNode, ...]:
    """Return the 90 nodes of table 5.3: 12 of Adonis, 50 of Edel and 28 of Genepi."""
    nodes = []
    for cores, count in enumerate(CORES_IN_USE["adonis"]):
        nodes += [_adonis(cores, fermi=False)] * count
    nodes[-FERMI:] = [_adonis(len(node.cores), fermi=True) for node in nodes[-FERMI:]]
    for name, ghz, bus, gigabytes in (("edel", 2.27, 25e9, 24), ("genepi", 2.5, 9e9, 8)):
        for cores, count in enumerate(CORES_IN_USE[name]):
            own = (CpuCore(_peak(ghz)),) * cores
            nodes += [EmulatedNode(f"{name}-{cores}c", own, None, bus, gigabytes * GIB)] * count
    return tuple(nodes)


def _adonis(cores: int, *, fermi: bool) -> EmulatedNode:
    gpu, ghz = (TESLA_C2050, 2.4) if fermi else (TESLA_T10, 2.27)
    name = f"adonis-{cores}c-{'c2050' if fermi else 't10'}"
    return EmulatedNode(name, (CpuCore(_peak(ghz)),) * cores, gpu, 25e9, 24 * GIB)


def _peak(ghz: float) -> float:
    return 0.9 * 4e9 * ghz
