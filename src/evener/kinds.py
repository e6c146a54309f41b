"""What graphs are called elsewhere: SciPy's, networkx's and meshio's, by what they can do.

None of these packages is imported: whatever has these members is taken for one.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeGuard


class SparseMatrix(Protocol):
    """A SciPy sparse matrix or array, of any format."""

    @property
    def shape(self) -> Any:
        """Its rows and columns."""

    @property
    def nnz(self) -> Any:
        """Its stored entries."""

    def tocoo(self) -> Any:
        """Return it in coordinate form."""


class NetworkXGraph(Protocol):
    """A networkx graph."""

    @property
    def nodes(self) -> Any:
        """Its nodes, in their order."""

    @property
    def edges(self) -> Any:
        """Its edges."""

    def is_directed(self) -> bool:
        """Whether edges have a direction."""

    def is_multigraph(self) -> bool:
        """Whether edges may be parallel."""


class MeshioMesh(Protocol):
    """A meshio mesh."""

    @property
    def points(self) -> Any:
        """Its points."""

    @property
    def cells(self) -> Any:
        """Its blocks of cells."""

    @property
    def cells_dict(self) -> Any:
        """The same by kind."""


def is_matrix(given: object) -> TypeGuard[SparseMatrix]:
    """Whether it is a sparse matrix."""
    return _offers(given, "shape", "nnz", "tocoo")


def is_networkx(given: object) -> TypeGuard[NetworkXGraph]:
    """Whether it is a networkx graph."""
    return _offers(given, "nodes", "edges", "is_directed", "is_multigraph")


def is_meshio(given: object) -> TypeGuard[MeshioMesh]:
    """Whether it is a meshio mesh."""
    return _offers(given, "cells_dict") and hasattr(given, "points") and hasattr(given, "cells")


def _offers(given: object, *names: str) -> bool:
    # Of the type: asking the object itself would have properties computed.
    return not isinstance(given, type) and all(hasattr(type(given), name) for name in names)
