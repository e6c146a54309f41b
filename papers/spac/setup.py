"""The matrices and graphs of [SPAC]_: stand-ins of Figure 4's five, and the graphs of Figure 7.

A matrix's graph has a vertex for each row and each column with an entry, and an edge for each
stored entry (section 5.2); of a symmetric matrix one triangle is stored. A block is as many entries
as 1,024 threads with ten each: of that size the random column of Figure 4 says that the paper's
were (it states no k).

cant and mc2depi are made again by their rule. The constants of the other three were chosen so that
entries of a row, the largest degree, the copies of blocks by the file's order and the fewest copies
that any of Figure 4's methods found are near the paper's, relative to vertices; not by what
separates one method from another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from evener.arrays import IntArray
from evener.errors import InputError
from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.random_graphs import barabasi_albert
from evener.graphs.graph import Graph
from evener.io.accept import as_platform
from evener.io.edges import EdgeReading, as_edges, read_edges
from evener.planning.split import edge_contract
from evener.plans.partition import Contract

SEED = 7
THREADS, ENTRIES_OF_THREAD = 1024, 10
BLOCK = THREADS * ENTRIES_OF_THREAD  # entries
# Blocks of circuit5M in the paper, over which a power net spreads, and how many its entries fill
# (23 % of 5.6 million rows). The stand-in has NET_BLOCKS too, or as many as of LEAST_BLOCK entries
# there are: a tolerance of 3 % of fewer is next to nothing.
NET_BLOCKS, FULL_BLOCKS, LEAST_BLOCK = 5_813, 125, 340
EPSILON = 0.03  # METIS's own tolerance of k-way blocks; the paper does not state one

RAIL_SHARE = 0.23  # of all rows: the largest rows of circuit5M
NEAR = 12.0  # pages between two that link to each other, on average
TO_FRONT = 0.25  # of a page's links: to its site's first pages
SITE_POWER, LARGEST_SITE = 0.9, 0.08  # of the sizes of sites; and the share of the largest
SUFFIXES = (".mtx", ".mtx.gz", ".mtx.zst")


class PaperFigures(NamedTuple):
    """What the paper says of a matrix.

    faster: PaToH's seconds relative to SPAC's (Figure 4). degrees: mean ones of copied vertices, by
    WVP greedy and by SPAC (Table 1). time: of SPAC's products relative to cuSPARSE's (Table 4).
    """

    faster: float
    degrees: tuple[float, float]
    time: float


PAPER = {
    "cant": PaperFigures(11.66 / 1.7, (34.5, 34.1), 0.81 / 0.74),
    "circuit5M": PaperFigures(2250 / 67.2, (12.3, 496.3), 211.82 / 15806.64),
    "in-2004": PaperFigures(413.6 / 17.9, (57.9, 159.6), 68.48 / 157.99),
    "mc2depi": PaperFigures(4.87 / 1.44, (4.0, 4.0), 10.95 / 10.72),
    "scircuit": PaperFigures(2.91 / 0.64, (12.6, 14.7), 5.04 / 8.87),
}


@dataclass(frozen=True, eq=False)
class PaperMatrix:
    """A matrix whose entries are divided; kind: what it is from. is_real: the paper's own file.

    nets: it stands for one with power nets, in blocks over which these spread as in the paper.
    """

    name: str
    kind: str
    draw: Callable[[], EdgeReading]
    is_real: bool = False
    nets: bool = False

    @cached_property
    def reading(self) -> EdgeReading:
        """The entries; rows and columns without any are dropped."""
        return self.draw()

    @property
    def edges(self) -> EdgeList:
        """The entries as edges from rows to columns, without what was computed of them."""
        made = self.reading.edges
        return EdgeList(made.n, made.tails, made.heads)


class MatrixSizes(NamedTuple):
    """Of stand-ins: nodes along the cantilever; rows and columns of states; other rows."""

    length: int
    states: tuple[int, int]
    circuit: int
    rails: int
    pages: int


# Those of the paper, but for circuit5M (28 times as many rows) and in-2004 (7 times as many).
FULL = MatrixSizes(257, (513, 1025), 170_998, 200_000, 200_000)
FEWER = MatrixSizes(25, (161, 323), 38_000, 21_000, 18_000)  # about 200,000 entries each


def matrices(sizes: MatrixSizes, folder: str | Path | None = None) -> list[PaperMatrix]:
    """Return the five of Figure 4, in its order; those that are files of a folder as they are.

    Files are called as the collections do: cant.mtx and so on. Raises InputError where the folder
    has none of them.
    """
    found = [
        PaperMatrix("cant", "finite elements", lambda: cantilever(sizes.length)),
        PaperMatrix("circuit5M", "circuit with rails",
               lambda: circuit(sizes.rails, links=19.0, power=1.05, run=32, rails=5), nets=True),
        PaperMatrix("in-2004", "web", lambda: web(sizes.pages)),
        PaperMatrix("mc2depi", "epidemiology", lambda: epidemic(*sizes.states)),
        PaperMatrix("scircuit", "circuit",
               lambda: circuit(sizes.circuit, links=8.5, power=0.85, run=16)),
    ]  # fmt: skip
    if folder is None:
        return found
    files = {one.name: path for one in found for path in _files_of(one.name, Path(folder))}
    if not files:
        names = ", ".join(f"{one.name}.mtx" for one in found)
        raise InputError(f"has none of {names}", file=folder)
    return [
        PaperMatrix(one.name, one.kind, _reader(files[one.name]), is_real=True)
        if one.name in files
        else one
        for one in found
    ]


def _files_of(name: str, folder: Path) -> list[Path]:
    return [path for suffix in SUFFIXES if (path := folder / f"{name}{suffix}").is_file()]


def _reader(path: Path) -> Callable[[], EdgeReading]:
    return lambda: read_edges(path, of="matrix")


def contract_of(edges: EdgeList, k: int) -> Contract:
    """Return k equal targets, kept on both sides within EPSILON."""
    return edge_contract(edges, as_platform(k), EPSILON)


def blocks_of(edges: EdgeList, *, nets: bool = False) -> int:
    """Return the number of blocks of BLOCK entries at most, two or more; nets: of NET_BLOCKS."""
    by_size = max(-(-edges.m // BLOCK), 2)
    return max(min(NET_BLOCKS, edges.m // LEAST_BLOCK), by_size) if nets else by_size


def cantilever(length: int) -> EdgeReading:
    """Return finite elements: 9 x 9 x length nodes of three unknowns, neighbours within a brick.

    The lower triangle, as in the file. cant has 9 x 9 x 257 nodes, and 7 % fewer entries.
    """
    pattern = sparse.csr_matrix(np.ones((3, 3)))
    for side in (9, 9, length):
        line = sparse.diags([1.0, 1.0, 1.0], [-1, 0, 1], shape=(side, side))
        pattern = sparse.kron(line, pattern, format="csr")
    return as_edges(sparse.tril(pattern), of="matrix")


def epidemic(rows: int, columns: int) -> EdgeReading:
    """Return a Markov chain's steps from each state of a grid to its four neighbours.

    mc2depi has 513 x 1025 states, and one entry more.
    """
    steps = [sparse.diags([1.0, 1.0], [-1, 1], shape=(side, side)) for side in (rows, columns)]
    walk = sparse.kron(steps[1], sparse.identity(rows)) + sparse.kron(
        sparse.identity(columns), steps[0]
    )
    return as_edges(walk.tocoo(), of="matrix")


def circuit(n: int, *, links: float, power: float, run: int, rails: int = 0) -> EdgeReading:
    """Return a netlist's matrix: n unknowns, each joined to `links` others on average and itself.

    Numbers of joined unknowns differ by what a Pareto law of this power says, before all are
    numbered anew, in runs. rails: power nets, each joined to RAIL_SHARE of all.
    """
    rng = np.random.default_rng(SEED)
    count = np.floor(rng.lognormal(np.log(links / 2) - 1.0, 1.4, n) + rng.random(n))
    u = np.repeat(np.arange(n), count.astype(np.int64))
    v = u + np.ceil(np.minimum(rng.pareto(power, u.size), n)).astype(np.int64)
    near = v < n
    nets = [np.stack([u[near], v[near]])]
    for rail in rng.choice(n, rails, replace=False):
        joined = np.flatnonzero(rng.random(n) < RAIL_SHARE)
        nets.append(np.stack([np.full(joined.size, rail), joined]))
    number = in_runs(n, run, rng)
    u, v = number[np.concatenate(nets, axis=1)]
    return _pattern(n, np.concatenate([u, v, number]), np.concatenate([v, u, number]))


def web(n: int, *, links: float = 28.0, beyond: float = 0.001, run: int = 32) -> EdgeReading:
    """Return links between n pages of sites: to the site's first pages, near, and few beyond.

    Sites have Zipf's sizes; links between sites go to first pages as well. Pages are numbered in
    runs. links: drawn for a page, before those that repeat are dropped.
    """
    rng = np.random.default_rng(SEED)
    sizes = np.maximum(LARGEST_SITE * n / np.arange(1, n + 1) ** SITE_POWER, 1).astype(np.int64)
    sizes = sizes[: np.searchsorted(np.cumsum(sizes), n) + 1]
    rng.shuffle(sizes)
    first = np.cumsum(sizes) - sizes
    site = np.repeat(np.arange(sizes.size), sizes)[:n]
    u = np.repeat(np.arange(n), rng.lognormal(np.log(links) - 0.5, 1.0, n).astype(np.int64))
    kind = rng.random(u.size)
    goal = np.where(kind < 1 - beyond, site[u], site[rng.integers(n, size=u.size)])
    front = first[goal] + np.floor(sizes[goal] ** rng.random(u.size) - 1 + 1e-9).astype(np.int64)
    step = np.rint(rng.laplace(0, NEAR, u.size)).astype(np.int64)
    near = np.clip(u + step, first[goal], first[goal] + sizes[goal] - 1)
    v = np.where((kind >= TO_FRONT) & (kind < 1 - beyond), near, front)
    kept, number = (v != u) & (v < n), in_runs(n, run, rng)
    return _pattern(n, number[u[kept]], number[v[kept]])


def in_runs(n: int, run: int, rng: np.random.Generator) -> IntArray:
    """Return new numbers of n things: runs of so many stay together, in another order."""
    keys = rng.permutation(-(-n // run))[np.arange(n) // run]
    number = np.empty(n, np.int64)
    number[np.argsort(keys, kind="stable")] = np.arange(n)
    return number


def _pattern(n: int, rows: IntArray, columns: IntArray) -> EdgeReading:
    """Return the entries at these places of a matrix, each once."""
    found = sparse.csr_matrix((np.ones(rows.size), (rows, columns)), shape=(n, n))
    return as_edges(found.tocoo(), of="matrix")


def synthesized(kind: str, n: int, degree: int, seed: int = SEED) -> EdgeList:
    """Return a graph of Figure 7: "uniform", or "power law" by Barabási and Albert."""
    if kind == "power law":
        return EdgeList.of_graph(barabasi_albert(n, seed, degree // 2))
    ends = np.random.default_rng(seed).integers(n, size=(2, n * degree // 2))
    return EdgeList.of_graph(Graph.from_edges(n, *ends))
