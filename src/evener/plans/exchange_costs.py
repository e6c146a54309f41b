"""The exchange between blocks and its costs: the quotient graph, bytes by level, seconds.

A block's communication volume is the number of values it sends: the sum over its vertices of the
number of other blocks that hold a neighbour [HK00]_; or, if values are sent for faces, the number
of its cut edges.

Seconds follow Hockney's model [Hoc94]_. A device sends and receives all its messages through one
port, and messages share links. Without waiting, an exchange takes the sum of its messages' costs.
Waiting is simulated: all messages flow at once and share ports and links fairly, as in SimGrid's
network model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, IntVector
from evener.graphs.graph import Graph
from evener.plans.costs import MessageCosts, message_costs
from evener.plans.partition import Partition
from evener.plans.workload import BYTES_PER_VALUE
from evener.platforms.platform import Platform


@dataclass(frozen=True, eq=False)
class Quotient:
    """The quotient graph as a sparse matrix: a row per block, an entry per other block it touches.

    Row b is entries starts[b] to starts[b + 1] - 1, starts (k + 1,). other (p,): the touched block,
    ascending; sent (p,): number of vertices of b with a neighbour in it, or of faces between the
    two; cut (p,): weight of the edges between the two. boundary (k,): number of vertices with a
    neighbour in any other block.
    """

    starts: IntVector
    other: IntVector
    sent: IntVector
    cut: FloatArray
    boundary: IntVector

    @property
    def k(self) -> int:
        """Number of blocks."""
        return int(self.starts.size - 1)

    @property
    def block(self) -> IntVector:
        """The block to whose row each entry belongs, (p,)."""
        return np.repeat(np.arange(self.k), np.diff(self.starts))

    @property
    def received(self) -> IntVector:
        """Number of values that each entry's other block sends to this block, (p,)."""
        # Rows and columns have the same pattern, so a stable sort by column is the transpose.
        by_column = np.lexsort((self.block, self.other))
        return self.sent[by_column]


def no_contact(k: int) -> Quotient:
    """Return the quotient graph of k blocks that do not touch each other."""
    none, zeros = np.empty(0, np.int64), np.zeros(k, np.int64)
    return Quotient(np.zeros(k + 1, np.int64), none, none, np.empty(0), zeros)


def quotient(graph: Graph, partition: Partition, *, of_faces: bool = False) -> Quotient:
    """Return the quotient graph of the blocks; O(n + m).

    of_faces: whether values are counted for faces: one for each cut edge, or as many as its weight.
    """
    from evener.plans import metrics_kernels as kernels

    k = partition.k
    starts = np.zeros(k + 1, np.int64)
    order, found = np.empty(graph.n, np.int32), np.empty(graph.n, np.int32)
    kernels.group_boundary(graph.xadj, graph.adjncy, partition.part, starts, order, found)
    adjwgt = np.empty(0) if graph.adjwgt is None else np.asarray(graph.adjwgt, np.float64)
    rows = np.empty(k + 1, np.int64)
    size = min(32 * k + 1024, k * k)
    while True:
        other, sent, cut = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size)
        needed = kernels.quotient(
            graph.xadj, graph.adjncy, adjwgt, partition.part, starts, order, rows, other, sent, cut
        )  # fmt: skip
        if needed <= size:
            other, sent, cut = other[:needed], sent[:needed], cut[:needed]
            sent = np.rint(cut).astype(np.int64) if of_faces else sent
            return Quotient(rows, other, sent, cut, np.diff(starts))
        size = needed


MAX_EXACT = 512  # messages up to which rates are computed anew at every end of a message
STEPS = 512  # with more messages: steps, at most, into which the busiest resource's time is cut
ROUNDING = 1e-12  # relative to the time of an event: shorter waits are rounding
NEGLIGIBLE = 1e-12  # relative to the busiest resource's time: shorter messages are left out


def hop_bytes(between: Quotient, platform: Platform, bytes_per_value: float) -> FloatArray:
    """Return bytes x hops per iteration, by the deepest level that devices share, (levels,) [B].

    Summed over all pairs of devices. Hops are counted from a device up to the shared level and down
    to the other device [GPM18]_.
    """
    shared = platform.shared_level(between.block, between.other)
    weights = between.sent * float(bytes_per_value)
    depth = len(platform.levels)
    # Without levels all pairs share number 0, which is none.
    by_level = _float(np.bincount(shared, weights=weights, minlength=depth))[:depth]
    return by_level * (2 * (depth - np.arange(depth)))


def communication_seconds(
    between: Quotient, platform: Platform, bytes_per_value: float = BYTES_PER_VALUE
) -> FloatArray:
    """Return the time that each device communicates per iteration if it never waits, (k,) [s].

    The seconds are the sum over the device's neighbours of alpha + beta x (bytes sent to + bytes
    received from it).
    """
    return ExchangeCosts.of(between, platform, bytes_per_value).direct


@dataclass(frozen=True, eq=False)
class ExchangeCosts:
    """Costs of one exchange of all blocks on a platform.

    Entries (p,) are the entries of the quotient graph. values (p,): sent plus received; cost: costs
    of each pair's messages. posting (k,) [s]: sum of the alphas of a device's messages; direct (k,)
    [s]: the same plus the time of their values.
    """

    between: Quotient
    values: FloatArray
    cost: MessageCosts
    posting: FloatArray
    direct: FloatArray

    @classmethod
    def of(cls, between: Quotient, platform: Platform, bytes_per_value: float) -> ExchangeCosts:
        """Return the costs of the exchange with block b on device b."""
        block, other, k = between.block, between.other, between.k
        cost = message_costs(platform, block, other, bytes_per_value)
        values = _float(between.sent + between.received)
        posting = _float(np.bincount(block, cost.alpha, k))
        direct = _float(np.bincount(block, cost.alpha + cost.per_value * values, k))
        return cls(between, values, cost, posting, direct)

    def held_up(self) -> FloatArray:
        """Return the time that the busiest shared link of each device needs, (k,) [s].

        Counts all values on the link, in both directions and of all devices. Zero if no link is
        shared.
        """
        floor, routes = np.zeros(self.between.k), self.cost.routes
        if routes is not None:
            # Both ends of a message have an entry with its values both ways.
            passing = np.bincount(routes.link, (self.values / 2)[routes.pair], routes.beta.size)
            busy = passing * self.cost.shared_per_value
            np.maximum.at(floor, self.between.block[routes.pair], busy[routes.link])
        return floor

    def lateness(self, ready: FloatArray, exact: bool = False) -> FloatArray:
        """Return how much longer than `direct` each device's exchange takes, (k,) [s].

        ready (k,) [s]: when each device begins. A device waits for partners that begin later or
        share their port with others, and for shared links. A message begins when both its ends have
        posted all their messages. exact: simulate exactly even more than MAX_EXACT messages, which
        takes about ten times as long.
        """
        start = ready + self.posting
        if not np.isfinite(start + self.direct).all():
            return np.zeros(start.size)
        block, other = self.between.block, self.between.other
        begin = np.maximum(start[block], start[other])
        end = start.copy()
        np.maximum.at(end, block, begin)
        chosen = np.flatnonzero(block < other)
        flows, done = self._flowing(chosen, begin, exact)
        for side in (block[flows], other[flows]):
            np.maximum.at(end, side, done)
        late = end - ready - self.direct
        return np.where(late > ROUNDING * end, late, 0.0)

    def _flowing(
        self, chosen: IntArray, begin: FloatArray, exact: bool
    ) -> tuple[IntArray, FloatArray]:
        """Simulate the messages of the chosen entries, one per pair.

        Returns which of the entries take time, and when they end [s].
        """
        from evener.plans import metrics_kernels as kernels

        entry, use, cost = self._uses(chosen)
        needs = cost * self.values[entry]
        most = np.bincount(use, needs).max(initial=0.0)
        kept = needs > NEGLIGIBLE * most
        order = np.flatnonzero(kept)[np.argsort(entry[kept], kind="stable")]
        flows, starts = np.unique(entry[order], return_index=True)
        done = np.empty(flows.size)
        step = 0.0 if exact or flows.size <= MAX_EXACT else most / STEPS
        if flows.size:
            kernels.finish_flows(
                begin[flows], self.values[flows], np.append(starts, order.size), use[order],
                cost[order], int(use.max()) + 1, step, done,
            )  # fmt: skip
        return flows, done

    def _uses(self, chosen: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return pairs of an entry and a resource it uses, and the seconds per value there.

        Resources are the devices' ports, numbered as devices, then the shared links.
        """
        per_value, routes = self.cost.per_value[chosen], self.cost.routes
        entry, cost = [chosen, chosen], [per_value, per_value]
        use = [self.between.block[chosen], self.between.other[chosen]]
        if routes is not None:
            is_chosen = np.zeros(self.values.size, np.bool_)
            is_chosen[chosen] = True
            passing = is_chosen[routes.pair]
            link = routes.link[passing]
            entry.append(routes.pair[passing])
            use.append(self.between.k + link.astype(np.int64))
            cost.append(self.cost.shared_per_value[link])
        return np.concatenate(entry), np.concatenate(use), np.concatenate(cost)


def _float(values: npt.NDArray[np.generic]) -> FloatArray:
    # bincount of nothing counts whole numbers, whatever its weights.
    return values.astype(np.float64, copy=False)
