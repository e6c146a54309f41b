"""LocalGraph: one device's part of a graph: own vertices, ghosts, arcs and messages.

A ghost is a copy of a vertex that another device owns. The vertices of a device have local numbers:
first its own, interior before boundary, then its ghosts by owner. If edges are divided, a device
also has arcs of its ghosts, which are then called mirrors, and its own vertices masters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from evener.arrays import IntVector
from evener.wording import number, plural, two_lines

Want: TypeAlias = Literal["out", "into", "both"]
LocalNumbers: TypeAlias = npt.NDArray[np.uint32]
UNSIGNED = 2**32  # from this number on, uint32 is too short


class LocalArcs(NamedTuple):
    """Arcs of a device's vertices with rows (LocalGraph.n_rows), in CSR form, in the graph's order.

    offsets (m + 1,) uint32, or uint64 from 2^32 arcs on; ends (arcs,) uint32: local numbers of the
    other ends; weights (arcs,) or None.
    """

    offsets: npt.NDArray[Any]
    ends: LocalNumbers
    weights: npt.NDArray[Any] | None

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(array.nbytes for array in self if array is not None)


@dataclass(frozen=True, eq=False)
class LocalGraph:
    """The part of a graph of n_global vertices that device `rank` of k computes.

    numbers (n_local,) int64: global numbers of its n_owned own vertices, then of its ghosts. Own
    vertices: first the n_interior vertices that have no arc from or to another block, then the
    boundary, both rising. Ghosts: the vertices of other blocks that its arcs lead to, by owner,
    then number; those of owner q are ghosts[ghost_starts[q] : ghost_starts[q + 1]]. A vertex's
    local number is its index in `numbers`. degrees (n_local,): number of arcs that leave each
    vertex in the whole graph.

    out: arcs that leave owned vertices. into: arcs that reach them. Either is None if it was not
    requested; both are the same object if the graph is undirected. sends: other device -> (s,)
    uint32, local numbers of the owned vertices that are ghosts there, in the order of that device's
    ghosts.

    divides_edges: whether blocks of edges are divided instead of blocks of vertices. Then a device
    has the arcs of its edges, `out` and `into` have rows for all local vertices, own vertices are
    masters (interior if they have no mirror), and ghosts are mirrors; see edge_shares.

    A device that has the whole graph does not store `numbers`, which are 0 to n - 1, nor `degrees`
    if they follow from `out`; both are computed at each access.
    """

    rank: int
    k: int
    n_global: int
    n_interior: int
    n_owned: int
    numbers: IntVector
    ghost_starts: IntVector
    degrees: npt.NDArray[np.integer[Any]]
    out: LocalArcs | None
    into: LocalArcs | None
    sends: Mapping[int, LocalNumbers] = field(default_factory=dict)
    divides_edges: bool = False

    def __post_init__(self) -> None:
        if self.k == 1:
            object.__delattr__(self, "numbers")
            if self.out is not None:
                object.__delattr__(self, "degrees")

    def __getattr__(self, name: str) -> IntVector:
        if name == "numbers":
            return np.arange(self.n_owned)
        if name == "degrees" and self.out is not None:
            return np.diff(self.out.offsets).astype(signed(self.out.ends.size))
        raise AttributeError(f"LocalGraph has no attribute {name}")

    @property
    def kept_numbers(self) -> IntVector:
        """`numbers`; empty if they are not stored."""
        kept: IntVector = self.__dict__.get("numbers", np.empty(0, np.int64))
        return kept

    @property
    def kept_degrees(self) -> npt.NDArray[np.integer[Any]]:
        """`degrees`; empty if they are not stored because they follow from `out.offsets`."""
        kept: npt.NDArray[np.integer[Any]] = self.__dict__.get("degrees", np.empty(0, np.int32))
        return kept

    def __repr__(self) -> str:
        arcs = self.out or self.into
        n_arcs = 0 if arcs is None else arcs.ends.size
        sent = sum(numbers.size for numbers in self.sends.values())
        return two_lines(
            "LocalGraph",
            [f"device {self.rank} of {self.k}", plural(self.n_owned, "vertex", "vertices"),
             f"{number(self.n_interior)} of them interior", plural(n_arcs, "arc")],
            [plural(self.n_ghosts, "ghost"),
             f"{plural(sent, 'value')} sent to {plural(len(self.sends), 'device')}"],
        )  # fmt: skip

    @property
    def owned(self) -> IntVector:
        """Global numbers of its own vertices (m,)."""
        return self.numbers[: self.n_owned]

    @property
    def ghosts(self) -> IntVector:
        """Global numbers of its ghosts (h,)."""
        return self.numbers[self.n_owned :]

    @property
    def n_local(self) -> int:
        """Number of its own vertices and its ghosts, m + h."""
        return self.n_owned if self.k == 1 else int(self.numbers.size)

    @property
    def n_rows(self) -> int:
        """Number of vertices whose arcs `out` and `into` list: own ones, or masters and mirrors."""
        return self.n_local if self.divides_edges else self.n_owned

    @property
    def n_ghosts(self) -> int:
        """Number of its ghosts, h; computed without allocating arrays."""
        return self.n_local - self.n_owned

    @property
    def receives(self) -> dict[int, tuple[int, int]]:
        """Other device -> (first, end) of the local numbers of the ghosts that it owns."""
        starts = self.n_owned + self.ghost_starts
        return {
            int(q): (int(starts[q]), int(starts[q + 1])) for q in np.flatnonzero(np.diff(starts))
        }

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays; if `out` and `into` are the same object, it counts once."""
        vertices = [self.kept_numbers, self.ghost_starts, self.kept_degrees]
        arrays = [*vertices, *self.sends.values()]
        arcs = {id(one): one.nbytes for one in (self.out, self.into) if one is not None}
        return sum(array.nbytes for array in arrays) + sum(arcs.values())


def unsigned(count: int) -> type[np.unsignedinteger[Any]]:
    """Return the narrowest unsigned type for numbers up to `count`: uint32 or uint64."""
    return np.uint32 if count < UNSIGNED else np.uint64


def signed(count: int) -> type[np.signedinteger[Any]]:
    """Return the narrowest signed type for numbers up to `count`: int32 or int64."""
    return np.int32 if count < UNSIGNED // 2 else np.int64
