"""The theorems of section 3.4 of [SPAC]_ by trying everything on all small connected graphs.

For each connected graph D of up to VERTICES vertices and each k of BLOCKS, every partition of the
edges into k blocks of floor(m / k) or ceil(m / k) edges is tried. Those of M in Psi(D) that cut no
dominant edge are the same ones, so that the cut of M is a sum over the vertices of D: how often the
block changes along a vertex's path of clones. So each vertex's paths, that is all orders of its
clones, are tried on their own, and with them all M at once. `Connect` is what is judged: paths, or
in counter-examples something else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations, permutations, product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from papers.findings import Criterion, Finding

VERTICES, LEAST_VERTICES = 6, 5  # of the paper's graphs of clones, and of counter-examples
DOMINANT_EDGES = 4  # up to which blocks of clones may cut dominant edges
BLOCKS = (2, 3)
Labels = npt.NDArray[np.int8]  # (partitions, edges) blocks
Counts = npt.NDArray[np.int64]  # (partitions,)
Edges = Sequence[tuple[int, int]]
# The auxiliary edges that join d clones, by their positions in a vertex's order.
Connect = Callable[[int], Edges]


def path(d: int) -> Edges:
    """Return the auxiliary edges of Definition 3.2."""
    return [(i, i + 1) for i in range(d - 1)]


def ring(d: int) -> Edges:
    """Return the auxiliary edges of footnote 2."""
    return [*path(d), *([(0, d - 1)] if d > 2 else [])]


def clique(d: int) -> Edges:
    """Return an edge between each two clones: a counter-example, which costs more than a path."""
    return list(combinations(range(d), 2))


def matching(d: int) -> Edges:
    """Return an edge between every second pair alone: a counter-example, which costs too little."""
    return [(i, i + 1) for i in range(0, d - 1, 2)]


def connected_graphs(most: int = VERTICES) -> Iterator[Edges]:
    """Yield one of each class of isomorphic connected graphs of 2 to `most` vertices."""
    for n in range(2, most + 1):
        pairs = list(combinations(range(n), 2))
        place = {pair: i for i, pair in enumerate(pairs)}
        masks = np.arange(1 << len(pairs))
        least = masks.copy()  # of all ways to number the vertices anew
        for order in permutations(range(n)):
            moved = np.zeros_like(masks)
            for i, (u, v) in enumerate(pairs):
                a, b = sorted((order[u], order[v]))
                moved |= (masks >> i & 1) << place[a, b]
            np.minimum(least, moved, out=least)
        for mask in masks[least == masks].tolist():
            edges = [pair for i, pair in enumerate(pairs) if mask >> i & 1]
            if _is_connected(n, edges):
                yield edges


def _is_connected(n: int, edges: Edges) -> bool:
    reached, before = {0}, 0
    while len(reached) > before:
        before = len(reached)
        reached |= {w for edge in edges for w in edge if reached & set(edge)}
    return len(reached) == n


@cache
def even_partitions(m: int, k: int, most: int) -> Labels:
    """Return all labels of m edges by k blocks of `most` edges at most, which are interchangeable.

    Without room to spare (most = ceil(m / k)) blocks have floor(m / k) edges at least.
    """
    least = m // k if most == -(-m // k) else 0
    labels, counts = np.zeros((1, 0), np.int8), np.zeros((1, k), np.int8)
    for _ in range(m):
        grown = []
        for block in range(k):
            # A block is begun only after the one before it, so that no two labels are the same.
            open_ = (counts[:, block] < most) & ((block == 0) | (counts[:, block - 1] > 0))
            own = counts[open_]
            own[:, block] += 1
            grown.append((np.column_stack([labels[open_], np.full(len(own), block, np.int8)]), own))
        labels, counts = (np.concatenate(arrays) for arrays in zip(*grown, strict=True))
    return labels[(counts >= least).all(axis=1)]


def cuts(labels: Labels, connect: Connect) -> tuple[Counts, Counts]:
    """Return (partitions,) the least and the largest cut of a vertex's clones over all orders.

    labels (partitions, d): blocks of its clones.
    """
    d, links = labels.shape[1], connect(labels.shape[1])
    found = [
        sum(
            (labels[:, order[i]] != labels[:, order[j]] for i, j in links),
            np.zeros(len(labels), int),
        )
        for order in permutations(range(d))
        if order[0] <= order[-1]  # an order and its reverse are the same path
    ]
    return np.min(found, axis=0), np.max(found, axis=0)


def copied(labels: Labels) -> Counts:
    """Return (partitions,) the copies of a vertex whose edges have these labels."""
    ordered = np.sort(labels, axis=1)
    return np.asarray((ordered[:, 1:] != ordered[:, :-1]).sum(axis=1))


class TheoremCase(NamedTuple):
    """A graph and k, and of each partition (partitions,) its copies and cuts.

    least, most: over all M. dual: of the M that the proof of Theorem 3.5 makes of the partition
    with the fewest copies. numbered: of the M whose clones are in the order of the edges' numbers.
    """

    m: int
    k: int
    degree: int
    copies: Counts
    least: Counts
    most: Counts
    dual: Counts
    numbered: Counts


def case_of(edges: Edges, k: int, connect: Connect = path) -> TheoremCase:
    """Return a graph's case: its edges in even blocks."""
    m = len(edges)
    labels = even_partitions(m, k, -(-m // k))
    at = [[i for i, edge in enumerate(edges) if v in edge] for v in sorted({*sum(edges, ())})]
    copies = np.sum([copied(labels[:, own]) for own in at], axis=0)
    least, most = np.sum([cuts(labels[:, own], connect) for own in at], axis=0)
    best = labels[copies.argmin()]
    dual, numbered = (
        np.sum([labels[:, own[i]] != labels[:, own[j]] for own in orders
                for i, j in connect(len(own))], axis=0)
        for orders in ([sorted(own, key=best.__getitem__) for own in at], at)
    )  # fmt: skip
    return TheoremCase(m, k, max(map(len, at)), copies, least, most, dual, numbered)


def cuts_dominant(edges: Edges, k: int, connect: Connect = path) -> bool:
    """Return whether Theorem 3.4 holds for all blocks of clones, those that cut dominant edges too.

    An edge whose clones are in two blocks is put into either; its cut counts once.
    """
    m = len(edges)
    clones = np.array(list(product(range(k), repeat=2 * m)), np.int8).reshape(-1, m, 2)
    ends = np.array(edges)
    cut = np.count_nonzero(clones[:, :, 0] != clones[:, :, 1], axis=1)
    for v in np.unique(ends):
        cut += cuts(clones[:, ends == v], connect)[0]
    for side in product((0, 1), repeat=m):
        labels = clones[:, np.arange(m), side]
        copies = np.sum(
            [copied(labels[:, (ends == v).any(axis=1)]) for v in np.unique(ends)], axis=0
        )
        if (copies > cut).any():
            return False
    return True


class Trial(NamedTuple):
    """All cases of graphs of up to `vertices`.

    dominant: of graphs of few edges, whether Theorem 3.4 holds with dominant edges cut.
    """

    vertices: int
    cases: Sequence[TheoremCase]
    dominant: Sequence[bool]


def tried(most: int = VERTICES, connect: Connect = path) -> Trial:
    """Return all cases of graphs of up to `most` vertices."""
    graphs = list(connected_graphs(most))
    small = [edges for edges in graphs if len(edges) <= DOMINANT_EDGES]
    return Trial(most, [case_of(edges, k, connect) for edges in graphs for k in BLOCKS],
                 [cuts_dominant(edges, k, connect) for edges in small for k in BLOCKS])  # fmt: skip


def _finding(where: str, says: str, trial: Trial, seen: str, criteria: Sequence[Criterion],
             lacking: str = "") -> Finding:  # fmt: skip
    graphs, tried_ = len(trial.cases) // len(BLOCKS), sum(len(one.copies) for one in trial.cases)
    return Finding(
        f"3.4, {where}", "a proof", says,
        f"all {graphs} connected graphs of 2 to {trial.vertices} vertices, k = "
        f"{' and '.join(map(str, BLOCKS))}, all {tried_:,} partitions into even blocks, all orders "
        "of clones",
        seen, criteria, lacking,
    )  # fmt: skip


def copies_within_cut(trial: Trial) -> Finding:
    """Theorem 3.4."""
    good = [bool((one.copies <= one.least).all()) for one in trial.cases]
    return _finding(
        "Theorem 3.4", "copies are at most the cut, for every M and every partition of its clones",
        trial, f"so in {sum(good)} of {len(good)} cases; with dominant edges cut, on all graphs of "
        f"up to {DOMINANT_EDGES} edges, in {sum(trial.dominant)} of {len(trial.dominant)}",
        [Criterion("in every case", all(good)),
         Criterion("in every case with dominant edges cut", all(trial.dominant))],
    )  # fmt: skip


def dual_has_the_optimum(trial: Trial, key: str = "dual") -> Finding:
    """Theorem 3.5. key: of the cuts of the M that is to be the dual graph."""
    good = [int(getattr(one, key).min()) == int(one.copies.min()) for one in trial.cases]
    return _finding(
        "Theorem 3.5", "for every graph there is an M whose least cut is the fewest copies",
        trial, f"so in {sum(good)} of {len(good)} cases, by the M of its proof",
        [Criterion("in every case", all(good))],
    )  # fmt: skip


def rings_keep_the_bound(trial: Trial) -> Finding:
    """Footnote 2, of a trial with rings: the factor is d_max, as one more edge closes a path."""
    good = [int(one.most.min()) <= one.degree * int(one.copies.min()) for one in trial.cases]
    above = [bool((one.copies <= one.least).all()) for one in trial.cases]
    exact = [int(one.dual.min()) == int(one.copies.min()) for one in trial.cases]
    return _finding(
        "footnote 2", "closing each path to a ring does not change the bound", trial,
        f"copies are at most the cut in {sum(above)} of {len(above)} cases, the least cut of any M "
        f"at most d_max times the fewest copies in {sum(good)}; by Theorem 3.5's M it equals them "
        f"in {sum(exact)}",
        [Criterion("copies at most the cut in every case", all(above)),
         Criterion("within d_max in every case", all(good))],
    )  # fmt: skip


def any_order_is_near(trial: Trial) -> Finding:
    """Theorem 3.6."""
    good = [int(one.most.min()) <= (one.degree - 1) * int(one.copies.min()) for one in trial.cases]
    worst = max(int(one.most.min()) / int(one.copies.min()) for one in trial.cases
                if one.copies.min())  # fmt: skip
    return _finding(
        "Theorem 3.6", "the least cut of any M is at most d_max - 1 times that of the dual graph",
        trial, f"so in {sum(good)} of {len(good)} cases, by one partition for all M of a graph; "
        f"{worst:.2f} times at most",
        [Criterion("in every case", all(good))],
    )  # fmt: skip


def some_partition_is_within(trial: Trial, key: str = "least") -> Finding:
    """Corollary 3.7: that there is such a partition. key: "worst" takes the worst one instead."""

    def within(one: TheoremCase) -> bool:
        factor = math.sqrt(math.log2(2 * one.m) * math.log2(one.k)) * (one.degree - 1)
        cut = one.most.min() if key == "least" else one.most.max()
        return bool(cut <= factor * int(one.copies.min()))

    good = [within(one) for one in trial.cases]
    return _finding(
        "Corollary 3.7",
        "every M has a partition, found in polynomial time, of at most O(sqrt(log n log k)) "
        "(d_max - 1) times the dual graph's cut; for epsilon = 1, blocks of up to 2 m / k edges",
        trial, f"there is one in {sum(good)} of {len(good)} cases, in even blocks, with 1 for O() "
        "and logarithms to the base 2; a block of 2 m / k edges has, for k = 2, all of them",
        [Criterion("in every case, whatever the time it takes", all(good), own=True)],
        "that it is found in polynomial time is a theorem of the paper's [22]",
    )  # fmt: skip


def all_findings(most: int = VERTICES) -> list[Finding]:
    """Return the findings of section 3.4 beside counter-examples."""
    trial, few = tried(most), tried(LEAST_VERTICES, matching)
    joined = tried(LEAST_VERTICES, clique)
    return [
        copies_within_cut(trial).beside_counter("every second auxiliary edge left out",
                                                copies_within_cut(few)),
        dual_has_the_optimum(trial).beside_counter("clones in the order of the edges' numbers",
                                                   dual_has_the_optimum(trial, "numbered")),
        any_order_is_near(trial).beside_counter("an auxiliary edge between each two clones",
                                                any_order_is_near(joined)),
        some_partition_is_within(trial).beside_counter("the worst partition in its place",
                                                       some_partition_is_within(trial, "worst")),
        rings_keep_the_bound(tried(most, ring)).beside_counter(
            "every second auxiliary edge left out", rings_keep_the_bound(few)),
    ]  # fmt: skip
