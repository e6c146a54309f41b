"""The request for an export to another program, and the files that the export makes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evener.arrays import Part
from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.graphs.mesh import Mesh
    from evener.graphs.polymesh import PolyMesh
    from evener.io import Reading
    from evener.plans.plan import Plan


@dataclass(frozen=True, eq=False)
class ExportRequest:
    """A plan to be exported.

    reading: the file from which the plan was made, read again and checked to be the plan's, or None
    if the user named none; source: that file; target: where to write, as given by -o, or None.
    force: whether existing files may be replaced, also the user's settings of the program.
    """

    plan: Plan
    reading: Reading | None = None
    source: Path | None = None
    target: Path | None = None
    force: bool = False

    @property
    def part(self) -> Part:
        """The block of each vertex, (n,) int32."""
        return self.plan.partition.part

    @property
    def k(self) -> int:
        """Number of devices, and of blocks, including empty ones."""
        return self.plan.platform.k

    @property
    def by(self) -> Literal["cells", "points"]:
        """Whether the vertices are cells or points of the mesh."""
        recorded = self.plan.options.get("reading")
        how = recorded if isinstance(recorded, dict) else {}
        if self.reading is not None:
            how = {**self.reading.asked, **how}
        return "points" if how.get("by") == "points" else "cells"

    @property
    def mesh(self) -> Mesh | PolyMesh:
        """The mesh that is divided; available if the format's entry says that it needs a mesh."""
        assert self.reading is not None
        assert self.reading.mesh is not None
        return self.reading.mesh

    @property
    def path(self) -> Path:
        """The target. Raises UsageError if there is none."""
        if self.target is None:
            raise UsageError("an output is needed", hint="Name the file or folder by -o.")
        return self.target


@dataclass(frozen=True, eq=False)
class ExportFiles:
    """Files to be written: pieces of bytes, made on demand, by path relative to `folder`.

    An index of the other files comes last, because the files appear in this order. notes: sentences
    for the user, such as what remains to be done by hand.
    """

    folder: Path
    files: Mapping[str, Iterable[bytes]]
    notes: tuple[str, ...] = ()


def one_file(path: Path, pieces: Iterable[bytes], *notes: str) -> ExportFiles:
    """Return an export of the single file at `path`."""
    return ExportFiles(path.parent, {path.name: pieces}, notes)
