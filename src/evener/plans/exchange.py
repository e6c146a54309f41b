"""What exchanges cost: bytes by level, and seconds by Hockney's model [Hoc94]_.

A device needs its port for each of its messages, and they share links. How long that takes is a sum
as long as nobody waits; the rest is found by letting all messages flow at once, sharing ports and
links fairly, which is how SimGrid simulates networks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray
from evener.plans.quotient import Quotient
from evener.plans.workload import WEIGHTS
from evener.platforms.platform import Platform
from evener.platforms.shared_links import SharedRoutes, shared_routes

BYTES_PER_VALUE = WEIGHTS.bytes_per_value
EXACT = 512  # messages of which every end changes what the others have
STEPS = 512  # of the busiest port's or link's time, in which more of them change it
ROUNDING = 1e-12  # of a moment: less than that apart is at once
NEXT_TO_NOTHING = 1e-12  # of that time: a message that needs less does not count


def level_bytes(between: Quotient, platform: Platform, bytes_per_value: float) -> FloatArray:
    """(levels,) bytes per iteration between devices whose deepest shared level is each [B]."""
    shared = platform.shared_level(between.block, between.other)
    weights = between.sent * float(bytes_per_value)
    depth = len(platform.levels)
    # Without levels all pairs share number 0, which is none.
    return _float(np.bincount(shared, weights=weights, minlength=depth))[:depth]


def hop_bytes(between: Quotient, platform: Platform, bytes_per_value: float) -> FloatArray:
    """(levels,) bytes x hops, a message climbing to the shared level and down again [GPM18]_."""
    depth = len(platform.levels)
    hops = 2 * (depth - np.arange(depth))
    return np.asarray(level_bytes(between, platform, bytes_per_value) * hops)


def communication_seconds(
    between: Quotient, platform: Platform, bytes_per_value: float = BYTES_PER_VALUE
) -> FloatArray:
    """(k,) time each device communicates per iteration [s], if it waits for nobody.

    The sum over its neighbours of alpha + beta x (bytes sent there + bytes received from there).
    """
    return ExchangeCosts.of(between, platform, bytes_per_value).direct


@dataclass(frozen=True, eq=False)
class ExchangeCosts:
    """One exchange of all blocks on a platform; entries (p,) as those of its quotient graph.

    n_bytes: both ways, with the other block; beta [s/B] of their own link. posting (k,) [s]: the
    alphas of a device's messages, one after the other; direct (k,) [s]: with all their bytes.
    routes: the shared links they pass, None where there are none.
    """

    between: Quotient
    n_bytes: FloatArray
    beta: FloatArray
    posting: FloatArray
    direct: FloatArray
    routes: SharedRoutes | None

    @classmethod
    def of(cls, between: Quotient, platform: Platform, bytes_per_value: float) -> ExchangeCosts:
        """Return what the blocks exchange, each on the device of its number."""
        block, other, k = between.block, between.other, between.k
        alpha, beta = platform.link_costs(block, other)
        n_bytes = _float(between.sent + between.received) * float(bytes_per_value)
        posting = _float(np.bincount(block, alpha, k))
        direct = _float(np.bincount(block, alpha + beta * n_bytes, k))
        routes = shared_routes(platform, block, other) if platform.has_shared else None
        return cls(between, n_bytes, beta, posting, direct, routes)

    def held_up(self) -> FloatArray:
        """(k,) time before which the shared links that each device uses are not through [s].

        Of its links, the longest time that one takes for all bytes that pass it, both ways and
        whoever sends them. Zero where nothing is shared.
        """
        floor, block = np.zeros(self.between.k), self.between.block
        if self.routes is not None:
            # Both ends of a message have an entry with its bytes both ways.
            busy = self.routes.seconds(self.n_bytes / 2)
            np.maximum.at(floor, block[self.routes.pair], busy[self.routes.link])
        return floor

    def lateness(self, ready: FloatArray, exact: bool = False) -> FloatArray:
        """(k,) how much longer than `direct` exchanges take, from ready (k,) [s] on.

        A device waits for partners who begin later, or share their port with others, and for
        links. Messages begin when both ends have posted all of theirs. exact: also of more than
        EXACT messages, which takes some ten times as long.
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
        """Of the chosen entries, one for each pair, those that flow, and when they end [s]."""
        from evener.plans import exchange_kernels as kernels

        entry, use, cost = self._uses(chosen)
        needs = cost * self.n_bytes[entry]
        most = np.bincount(use, needs).max(initial=0.0)
        kept = needs > NEXT_TO_NOTHING * most
        order = np.flatnonzero(kept)[np.argsort(entry[kept], kind="stable")]
        flows, starts = np.unique(entry[order], return_index=True)
        done = np.empty(flows.size)
        step = 0.0 if exact or flows.size <= EXACT else most / STEPS
        if flows.size:
            kernels.finish_flows(
                begin[flows], self.n_bytes[flows], np.append(starts, order.size), use[order],
                cost[order], int(use.max()) + 1, step, done,
            )  # fmt: skip
        return flows, done

    def _uses(self, chosen: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Entries, what they use (ports by device, then shared links), and its time a byte."""
        beta = self.beta[chosen]
        entry, cost = [chosen, chosen], [beta, beta]
        use = [self.between.block[chosen], self.between.other[chosen]]
        if self.routes is not None:
            is_chosen = np.zeros(self.beta.size, np.bool_)
            is_chosen[chosen] = True
            passing = is_chosen[self.routes.pair]
            link = self.routes.link[passing]
            entry.append(self.routes.pair[passing])
            use.append(self.between.k + link.astype(np.int64))
            cost.append(self.routes.beta[link])
        return np.concatenate(entry), np.concatenate(use), np.concatenate(cost)


def _float(values: npt.NDArray[np.generic]) -> FloatArray:
    # bincount of nothing counts whole numbers, whatever its weights.
    return values.astype(np.float64, copy=False)
