"""Reads formats that no other module here reads, by suffix, with meshlane in a child process.

Polyhedra, prisms and VTK's other solid cells become a PolyMesh.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, IntArray, offsets_of, ragged
from evener.errors import InputError
from evener.files.temporary import private_folder
from evener.graphs.cell_kernels import BASE, DIM, FACE, FACE_SIZE, N_FACES
from evener.graphs.foreign import MeshioMesh
from evener.graphs.mesh import Fields, Mesh, graph_by_faces
from evener.graphs.polymesh import PolyMesh
from evener.io.meshes import meshio_child
from evener.io.meshes.rows import make_mesh, note_left_out, note_unused
from evener.io.sources import Source

# meshlane's format name by suffix; formats that Evener reads itself are not listed.
MESHLANE_FORMATS = {
    ".vtk": "vtk",
    ".vtu": "vtu",
    ".xdmf": "xdmf",
    ".xmf": "xdmf",
    ".cgns": "cgns",
    ".pyfrm": "pyfrm",
    ".med": "med",
    ".h5m": "h5m",
    ".hmf": "hmf",
    ".inp": "avsucd",
    ".avs": "avsucd",
    ".exo": "exodus",
    ".ex2": "exodus",
    ".e": "exodus",
    ".g": "exodus",
    ".gen": "exodus",
    ".nc": "netcdf",
    ".ply": "ply",
    ".stl": "stl",
    ".f3grid": "flac3d",
    ".vol": "netgen",
    ".ugrid": "ugrid",
    ".dat": "tecplot",
    ".tec": "tecplot",
    ".post": "permas",
    ".dato": "permas",
    ".meshb": "medit",
    ".wkt": "wkt",
    ".msh": "ansys",
}
# Required beginnings of the content for suffixes that other formats use, too.
_BEGINS = {".dat": (b"TITLE", b"VARIABLES"), ".msh": (b"(",), ".wkt": (b"TIN", b"MULTI")}
# The first line of an AVS UCD file, whose suffix Abaqus also uses: five counts.
_UCD = re.compile(rb"(?:#[^\n]*\n|\s)*\d+(?:[ \t]+\d+){4}[ \t\r]*\n")

# Where the numbers of an XDMF file are: FILE:/DATA between two tags.
_HEAVY = re.compile(rb">\s*([^<>:/\\\0]+\.h(?:5|df5?)):/", re.IGNORECASE)

# Limits of the process: far more than meshlane needs for the slowest text format.
# Seconds are CPU time; wall-clock time may be _PATIENCE times as long, on a busy computer.
_SECONDS, _SECONDS_PER_BYTE, _PATIENCE = 3.0, 20e-6, 5
_ROOM, _ROOM_PER_BYTE = 2**30, 100
_TOO_LONG = -int(getattr(signal, "SIGXCPU", 24))  # exit code if the system ends it for its CPU time
_HINT = "The file may be damaged, or in a format other than its suffix states."


def recognises(source: Source) -> bool:
    """Return whether meshlane reads files with this suffix."""
    if source.folder or source.suffix not in MESHLANE_FORMATS:
        return False
    if source.suffix == ".inp":
        return _UCD.match(source.head) is not None
    begins = _BEGINS.get(source.suffix)
    return begins is None or source.head.lstrip().upper().startswith(begins)


def read(source: Source) -> Mesh | PolyMesh:
    """Return the cells of the highest dimension."""
    if source.suffix not in MESHLANE_FORMATS:
        raise source.error(f"has an unknown suffix: {source.suffix!r}")
    if MESHLANE_FORMATS[source.suffix] == "xdmf":
        _open_heavy(source)
    return read_as(source, MESHLANE_FORMATS[source.suffix])


def _open_heavy(source: Source) -> None:
    """Record the digests of the HDF5 files to which an XDMF file refers."""
    for name in dict.fromkeys(_HEAVY.findall(source.data)):
        file = name.decode("utf-8", "replace").strip()
        if source.open_beside(file) is None:
            raise source.error(
                f"stores its numbers in {file[:60]!r}, which is not in the same folder"
            )


def mesh_of(found: MeshioMesh) -> tuple[Mesh, list[str]]:
    """Convert a meshio mesh in memory to a Mesh; also return notes on omitted data."""
    source = Source(Path("meshio mesh"), "meshio mesh", b"", "")
    try:
        arrays, facts = meshio_child.extract(found)
    except meshio_child.RefusedError as error:
        raise source.error(str(error)) from error
    mesh = _mesh(source, arrays, facts)
    assert isinstance(mesh, Mesh)
    return mesh, source.notes


def read_as(source: Source, name: str) -> Mesh | PolyMesh:
    """Return the mesh, as read by meshlane's reader `name`."""
    with private_folder() as place:
        code = _run(source, name, place)
        if code == _TOO_LONG:
            raise source.error(
                f"takes too long to read with meshlane's reader of {name}", hint=_HINT
            )
        try:
            facts = json.loads((place / "facts.json").read_text("utf-8"))
        except (OSError, ValueError) as error:
            what = f"makes meshlane fail with exit code {code}"
            raise source.error(what, hint=_HINT) from error
        source.notes.extend(facts["said"])
        if "error" in facts:
            raise source.error(facts["error"], hint=facts.get("hint"))
        with np.load(place / "arrays.npz", allow_pickle=False) as archive:
            arrays = dict(archive)
    mesh = _mesh(source, arrays, facts)
    return _of_pyfr(source, mesh, arrays, facts["uuid"]) if name == "pyfrm" else mesh


def _mesh(source: Source, arrays: dict[str, Any], facts: dict[str, Any]) -> Mesh | PolyMesh:
    """Return the Mesh from the result of the child's `extract`, and add notes on omitted data."""
    source.notes.extend(facts["notes"])
    kinds = arrays["kinds"]
    known = (BASE[np.clip(kinds, 0, 255)] > 0) | is_polyhedral(kinds)
    if (bad := np.flatnonzero(~known | (kinds != np.clip(kinds, 0, 255)))).size:
        raise source.error(f"has cells of VTK's type {kinds[bad[0]]}, which Evener does not know")
    make = make_polymesh if is_polyhedral(kinds).any() else make_mesh
    faces = {key: arrays[key] for key in ("faces_of", "face_sizes", "face_corners")
             if key in arrays}  # fmt: skip
    return make(
        source,
        arrays["points"],
        arrays["counts"],
        arrays["corners"],
        kinds,
        cell_data=_named(arrays, "cell", facts),
        point_data=_named(arrays, "point", facts),
        **faces,
    )


def _of_pyfr(source: Source, mesh: Mesh | PolyMesh, arrays: dict[str, Any], uuid: str) -> Mesh:
    """Return a PyFR mesh with its periodic pairs; its mesh-uuid identifies the file.

    Raises InputError unless the faces that the file lists follow from the cells' corners.
    """
    assert isinstance(mesh, Mesh)
    mesh = replace(mesh, coupled=arrays["coupled"], exchange="faces", together=True)
    graph = mesh.dual_graph()
    u, v = arrays["faces"].T
    stated = graph_by_faces(mesh.n_cells, u, v, None)
    if not np.array_equal(graph.adjncy, stated.adjncy) or not np.array_equal(
        graph.edge_weights(), stated.edge_weights()
    ):
        raise source.error("connects cells that do not share the corners of a face")
    source.identify(f"PyFR mesh {uuid}")
    return mesh


def _run(source: Source, name: str, folder: Path) -> int:
    """Let meshlane read the file in a limited child process; return its exit code, or _TOO_LONG."""
    path = source.path.resolve()
    if source.path.name != source.name:  # packed or piped, but meshlane needs a path
        path = folder / f"mesh{source.suffix}"
        path.write_bytes(source.data)
    size = len(source.data)
    seconds = _SECONDS + _SECONDS_PER_BYTE * size
    # -P keeps the script's folder, which contains Evener's modules, out of its path.
    command = [sys.executable, "-P", meshio_child.__file__, str(path), name, str(folder)]
    command += [str(int(seconds)), str(_ROOM + _ROOM_PER_BYTE * size)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,  # never written to: the process notices when it closes
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # NumPy's linear algebra would reserve memory for a thread per core.
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        start_new_session=True,
    ) as process:
        try:
            return process.wait(_PATIENCE * seconds)
        except subprocess.TimeoutExpired:
            return _TOO_LONG
        finally:
            process.kill()


def _named(arrays: dict[str, Any], what: str, facts: dict[str, Any]) -> dict[str, Any]:
    return {name: arrays[f"{what}{i}"] for i, name in enumerate(facts[what])}


_POLYHEDRON = 42
_PRISMS = {15: 5, 16: 6}  # VTK's types, and the corners of their bases


def is_polyhedral(kinds: IntArray) -> BoolArray:
    """Return which cells require a PolyMesh."""
    return np.asarray((kinds == _POLYHEDRON) | np.isin(kinds, list(_PRISMS)), np.bool_)


def make_polymesh(
    source: Source,
    points: npt.NDArray[Any],
    counts: IntArray,
    corners: IntArray,
    kinds: IntArray,
    *,
    cell_data: Fields,
    point_data: Fields,
    **of_polyhedra: IntArray,
) -> PolyMesh:
    """Return the PolyMesh of the solid cells; notes report omitted cells.

    counts (c,): corners of each cell. of_polyhedra: `faces_of` (p,), the number of faces of each
    polyhedron; for all these faces, `face_sizes`, `face_corners`. Raises InputError if three or
    more cells share a face.
    """
    solid = is_polyhedral(kinds) | (DIM[kinds] == 3)
    if not solid.all():
        note_left_out(source, solid)
    first = np.cumsum(counts) - counts
    cell_of, sizes, nodes = [], [], []
    number = np.cumsum(solid) - 1  # number of each cell among the solid ones
    if (kinds == _POLYHEDRON).any():
        cell_of.append(np.repeat(number[kinds == _POLYHEDRON], of_polyhedra["faces_of"]))
        sizes.append(of_polyhedra["face_sizes"])
        nodes.append(of_polyhedra["face_corners"])
    for kind in np.unique(kinds[solid & (kinds != _POLYHEDRON)]).tolist():
        some = np.flatnonzero(kinds == kind)
        for face in _faces_of(kind):
            if counts[some].min() <= max(face):
                raise source.error(f"has cells of VTK's type {kind} with too few corners")
            cell_of.append(number[some])
            sizes.append(np.full(some.size, len(face)))
            nodes.append(corners[first[some][:, None] + face].ravel())
    owner, neighbour, order = _matched(
        source, np.concatenate(cell_of), np.concatenate(sizes), np.concatenate(nodes)
    )
    size, corner = np.concatenate(sizes), np.concatenate(nodes)
    begin = (np.cumsum(size) - size)[order]
    try:
        mesh = PolyMesh(
            points,
            offsets_of(size[order]),
            corner[ragged(begin, size[order])],
            owner,
            neighbour,
            {name: values[solid] for name, values in cell_data.items()},
            point_data,
        )
    except InputError as error:
        raise source.error(error.message, hint=error.hint) from error
    note_unused(source, mesh)
    return mesh


def _faces_of(kind: int) -> list[list[int]]:
    """Return the corners of each face of a cell kind, turned outward."""
    if kind in _PRISMS:
        n = _PRISMS[kind]
        sides = [[i, (i + 1) % n, n + (i + 1) % n, n + i] for i in range(n)]
        return [[0, *range(n - 1, 0, -1)], list(range(n, 2 * n)), *sides]
    base = BASE[kind]
    return [FACE[base, f, : FACE_SIZE[base, f]].tolist() for f in range(N_FACES[base])]


def _matched(
    source: Source, cell_of: IntArray, sizes: IntArray, nodes: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Return owner, neighbour and index of the owner's copy of each face; inner faces first."""
    width = int(sizes.max())
    keys = np.full((sizes.size, width), -1, np.int64)
    keys[np.arange(width) < sizes[:, None]] = nodes
    keys.sort(axis=1)
    _, key_of = np.unique(keys, axis=0, return_inverse=True)
    order = np.lexsort((cell_of, key_of.ravel()))
    key_of = key_of.ravel()[order]
    starts = np.flatnonzero(np.diff(key_of, prepend=-1))
    runs = np.diff(np.append(starts, key_of.size))
    if runs.max() > 2:
        raise source.error(
            f"has a face that belongs to {runs.max()} cells; at most two can share a face"
        )
    inside = starts[runs == 2]
    outside = starts[runs == 1]
    listed = np.concatenate([order[inside], order[outside]])
    return cell_of[listed], cell_of[order[inside + 1]], listed
