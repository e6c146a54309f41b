"""Counts the cache misses of products and of any accesses, on a cache with LRU eviction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray, IntVector
from evener.errors import InputError
from evener.running.local_graphs import LocalGraph
from evener.running.locality import caches_kernels as kernels
from evener.running.locality.staging import StagedBlocks


class ProductMisses(NamedTuple):
    """Lines that a product y = A x has to fetch: of x, and of matrix, y and what else it uses."""

    x: int
    other: int


@dataclass(frozen=True)
class Cache:
    """A set-associative cache. Raises InputError for sizes that do not make whole sets.

    size, line [B]; ways: lines of a set. The defaults are a core's L2 of recent servers.
    """

    size: int = 1 << 20
    line: int = 64
    ways: int = 16

    def __post_init__(self) -> None:
        if min(self.size, self.line, self.ways) < 1 or self.size % (self.line * self.ways):
            raise InputError(
                f"a cache of {self.size:,} bytes has no whole sets of {self.ways} lines of "
                f"{self.line} bytes"
            )

    def _empty(self) -> IntVector:
        sets = self.size // (self.line * self.ways)
        return np.full((sets, self.ways), kernels.EMPTY, np.int64)

    def misses(self, lines: npt.ArrayLike) -> int:
        """Return how many of these lines, used one after another, an empty cache has to fetch."""
        found = np.zeros(1, np.int64)
        column = np.ascontiguousarray(lines, np.int64).reshape(-1, 1)
        kernels.count_misses(column, self._empty(), found)
        return int(found[0])

    def misses_of_product(self, part: LocalGraph) -> ProductMisses:
        """Return the misses of a product by rows with a part's matrix, from an empty cache."""
        assert part.out is not None
        found = np.zeros(2, np.int64)
        given = part.out.offsets, part.out.ends, self.line, part.n_local
        kernels.product_misses(*given, self._empty(), found)
        return ProductMisses(*found.tolist())

    def misses_of_blocks(self, blocks: StagedBlocks) -> ProductMisses:
        """Return the misses of a product by staged blocks with all of their passes.

        Of a block: staged numbers, values of x and the room for them; entries of 12 bytes, and
        sums. Then the place of each sum, the sum, and y.
        """
        inputs, outputs, m = blocks.inputs, blocks.outputs, blocks.edges.size
        x, numbers, room, local, values, partial, places, y = self._addresses(
            8 * inputs.n, 4 * inputs.vertices.size, 8 * int(inputs.counts.max(initial=0)),
            4 * m, 8 * m, 8 * outputs.vertices.size, 8 * outputs.vertices.size, 8 * outputs.n,
        )  # fmt: skip
        tags, total = self._empty(), np.zeros(2, np.int64)

        def play(*accesses: tuple[int, int, IntArray]) -> None:
            """Use entries of arrays side by side: where each begins, an entry's bytes, which."""
            columns = [
                (first + item * which.astype(np.int64)) // self.line
                for first, item, which in accesses
            ]
            found = np.zeros(len(columns), np.int64)
            kernels.count_misses(np.column_stack(columns), tags, found)
            for (first, _, _), count in zip(accesses, found.tolist(), strict=True):
                total[int(first != x)] += count

        for b in range(blocks.k):
            own = np.arange(inputs.starts[b], inputs.starts[b + 1])
            staged = own - inputs.starts[b]
            play((numbers, 4, own), (x, 8, inputs.vertices[own]), (room, 8, staged))
            edges = np.arange(blocks.starts[b], blocks.starts[b + 1])
            play(
                (local, 4, edges), (values, 8, edges), (room, 8, inputs.local[edges]),
                (partial, 8, outputs.starts[b] + outputs.local[edges]),
            )  # fmt: skip
        _, listed = outputs.parts()
        rising = np.arange(listed.size)
        play((places, 8, rising), (partial, 8, listed), (y, 8, outputs.vertices[listed]))
        return ProductMisses(*total.tolist())

    def _addresses(self, *sizes: int) -> list[int]:
        """Return where arrays of so many bytes begin that lie one after another, in whole lines."""
        lines = [-(-size // self.line) for size in sizes]
        return [self.line * sum(lines[:i]) for i in range(len(lines))]
