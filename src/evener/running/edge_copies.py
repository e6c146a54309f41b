"""Copies of vertices in an edge partition: one master, and mirrors on other devices.

A vertex is on every device that has one of its edges ([Gonzalez12]_, section 4). The copy on the
device with most of its edges is the master (on ties, the device with the lowest number); the others
are its mirrors. A vertex without edges has only a master; runs of such vertices are assigned to
devices in proportion to the devices' edges.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import IntVector
from evener.graphs.edge_list import EdgeList
from evener.plans.edge_partition import EdgePartition
from evener.plans.exchange_costs import Quotient
from evener.running import edge_shares_kernels as kernels


class Copies(NamedTuple):
    """Location of all vertices: (n,) the device of each master, and the mirrors of each device.

    mirrors[d] is sorted by the device of the master, then by number; those with their master on
    device q are mirrors[d][starts[d][q] : starts[d][q + 1]].
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
        """Number of masters and mirrors on each device (k,)."""
        masters = np.bincount(self.master, minlength=self.k)
        return masters + np.array([own.size for own in self.mirrors], np.int64)

    def between(self, device: int, at: int) -> IntVector:
        """Return the vertices with their master on `device` and a mirror on `at`, ascending."""
        first, end = self.starts[at][device : device + 2]
        return self.mirrors[at][first:end]

    def quotient(self) -> Quotient:
        """Return what devices exchange in a superstep in which all vertices send.

        Each mirror sends a value to its master and receives one, so two devices send each other
        equal amounts. boundary: masters and mirrors that have copies elsewhere. Weights of cut
        edges are 0.
        """
        owned = np.array([np.diff(starts) for starts in self.starts]).reshape(self.k, self.k)
        both = owned + owned.T  # mirrors of vertices of the other device, in both directions
        block, other = np.nonzero(both)
        starts = np.searchsorted(block, np.arange(self.k + 1)).astype(np.int64)
        boundary = owned.sum(axis=1)
        for device in range(self.k):
            lists = [self.between(device, at) for at in range(self.k)]
            boundary[device] += np.unique(np.concatenate(lists)).size
        return Quotient(starts, other, both[block, other], np.zeros(block.size), boundary)


def by_device(partition: EdgePartition) -> tuple[IntVector, IntVector]:
    """Return the numbers of all edges, sorted by device, then number, and each device's start."""
    starts = np.zeros(partition.k + 1, np.int64)
    np.cumsum(np.bincount(partition.part, minlength=partition.k), out=starts[1:])
    return np.argsort(partition.part, kind="stable"), starts


def copies_of(edges: EdgeList, partition: EdgePartition) -> Copies:
    """Return where the copies of all vertices are.

    Raises InputError if the partition does not belong to these edges.
    """
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
    """Return a device for each of `count` vertices, in runs proportional to the devices' edges."""
    ends = starts[1:] if starts[-1] else np.arange(1, starts.size)
    last = (ends / ends[-1] * count).round().astype(np.int64)
    return np.searchsorted(last, np.arange(count), side="right").astype(np.int32)
