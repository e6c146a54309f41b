"""write_mesh: writes a Mesh as .su2 or .vtu, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from evener.errors import UsageError
from evener.files.writing import atomic_write
from evener.graphs.mesh import Mesh
from evener.io.meshes.su2 import su2_text
from evener.io.meshes.vtu import vtu

# suffix: the pieces of the file.
MESH_WRITERS: dict[str, Callable[[Mesh], Iterable[bytes]]] = {
    ".su2": lambda mesh: [su2_text(mesh)],
    ".vtu": lambda mesh: vtu(mesh, mesh.cell_data, mesh.point_data),
}


def write_mesh(path: str | Path, mesh: Mesh, suffix: str | None = None) -> None:
    """Write `mesh`; the suffix, or the one given, chooses the format: .su2 or .vtu.

    Raises UsageError for another suffix and InputError for what the format cannot express; the
    file then stays as it was.
    """
    path = Path(path)
    pieces = MESH_WRITERS.get((suffix or path.suffix).lower())
    if pieces is None:
        known = ", ".join(MESH_WRITERS)
        raise UsageError(f"{path.name}: meshes are not written to such files", hint=f"Use {known}.")
    with atomic_write(path) as file:
        for piece in pieces(mesh):
            file.write(piece)
