"""Where an edge partition has copies of vertices: a master of each, mirrors on other devices.

A vertex is on every device that has an edge of it ([Gonzalez12]_, section 4). Its copy on the
device with most of its edges is the master (of equally many, the device of the lowest number), the
others are its mirrors. Vertices without an edge have a master alone; devices get them, in runs, in
proportion to their edges.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray, IntVector
from evener.graphs.edge_list import EdgeList
from evener.plans.edge_partition import EdgePartition
from evener.plans.exchange_costs import Quotient
from evener.running import edge_shares_kernels as kernels


class Copies(NamedTuple):
    """Where vertices are: master (n,) a device each; mirrors of each device, and their beginnings.

    mirrors[d] are by the master's device, then number; those of device q are from starts[d][q] to
    starts[d][q + 1] - 1.
    """

    master: npt.NDArray[np.int32]
    mirrors: list[IntVector]
    starts: list[IntVector]

    @property
    def k(self) -> int:
        """Number of devices."""
        return len(self.mirrors)

    @property
    def vertices(self) -> IntVector:
        """(k,) masters and mirrors of each device."""
        masters = np.bincount(self.master, minlength=self.k)
        return masters + np.array([own.size for own in self.mirrors], np.int64)

    def between(self, device: int, at: int) -> IntVector:
        """Return the vertices with their master on `device` and a mirror on `at`, rising."""
        first, end = self.starts[at][device : device + 2]
        return self.mirrors[at][first:end]

    def quotient(self) -> Quotient:
        """Return what devices exchange in a superstep in which all vertices send.

        A value from each mirror to its master, and one back: devices send each other as many.
        boundary: masters and mirrors with copies elsewhere. Weights of cut edges are zero.
        """
        owned = np.array([np.diff(starts) for starts in self.starts]).reshape(self.k, self.k)
        both = owned + owned.T  # mirrors that one has of the other, and the other way round
        block, other = np.nonzero(both)
        starts = np.searchsorted(block, np.arange(self.k + 1)).astype(np.int64)
        boundary = owned.sum(axis=1)
        for device in range(self.k):
            lists = [self.between(device, at) for at in range(self.k)]
            boundary[device] += np.unique(np.concatenate(lists)).size
        return Quotient(starts, other, both[block, other], np.zeros(block.size), boundary)


def by_device(partition: EdgePartition) -> tuple[IntArray, IntVector]:
    """Return the numbers of all edges by device, then number, and where each device's begin."""
    starts = np.zeros(partition.k + 1, np.int64)
    np.cumsum(np.bincount(partition.part, minlength=partition.k), out=starts[1:])
    return np.argsort(partition.part, kind="stable"), starts


def copies_of(edges: EdgeList, partition: EdgePartition) -> Copies:
    """Return where the copies of all vertices are. Raises InputError for other edges."""
    order, starts = by_device(partition.checked_for(edges))
    n, longest = edges.n, int(np.diff(starts).max(initial=0))
    counts, most = np.zeros(n, np.int32), np.zeros(n, np.int32)
    master, found = np.full(n, -1, np.int32), np.empty(min(2 * longest, n), np.int64)
    touched = []
    for device in range(partition.k):
        own = order[starts[device] : starts[device + 1]]
        ends = edges.tails, edges.heads
        count = kernels.touch(device, own, *ends, counts, most, master, found)
        touched.append(np.sort(found[:count]))
    alone = np.flatnonzero(master < 0)
    master[alone] = _spread(alone.size, starts)
    copies = Copies(master, [], [])
    for device, own in enumerate(touched):
        mirrors = own[master[own] != device]
        owners = master[mirrors]
        copies.mirrors.append(mirrors[np.argsort(owners, kind="stable")])
        begins = np.searchsorted(np.sort(owners), np.arange(partition.k + 1))
        copies.starts.append(begins.astype(np.int64))
    return copies


def _spread(count: int, starts: IntVector) -> npt.NDArray[np.int32]:
    """Return a device for each of these vertices, in runs in proportion to devices' edges."""
    ends = starts[1:] if starts[-1] else np.arange(1, starts.size)
    last = (ends / ends[-1] * count).round().astype(np.int64)
    return np.searchsorted(last, np.arange(count), side="right").astype(np.int32)
