"""Gmsh's .msh, versions 2.x, 4.0 and 4.1; meshlane reads binary files of other versions.

Binary files of versions 2.2 and 4.1 are read here. Each cell's physical group is the field
`physical`, its partition, from 1, the field `partition`; 0 if it has none. `read_elements` returns
elements of all dimensions.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from evener.arrays import IntVector
from evener.graphs.mesh import Mesh
from evener.graphs.polymesh import PolyMesh
from evener.io.meshes import meshio
from evener.io.meshes.gmsh_binary import read_binary
from evener.io.meshes.gmsh_blocks import MshBlocks
from evener.io.meshes.gmsh_elements import SIZES, VTK_KINDS, GmshElements, in_vtk_order, once
from evener.io.meshes.gmsh_numbers import known_types, places
from evener.io.meshes.gmsh_periodic import is_for_pyfr, regions_of, with_couplings
from evener.io.meshes.rows import FileRows, make_mesh, ragged, scan
from evener.io.sources import Source

_MARK = re.compile(rb"^[ \t]*\$(\w+)[ \t\r]*$", re.MULTILINE)
# Sections that GmshElements stores; those in the first line contain nothing that a mesh needs.
_HELD = {"Comments", "MeshFormat", "Entities", "PartitionedEntities", "GhostElements"}
_HELD |= {"Nodes", "Elements", "PhysicalNames"}


def recognises(source: Source) -> bool:
    """Return whether the file begins with $MeshFormat."""
    return source.data[:64].lstrip().startswith((b"$MeshFormat", b"$Comments"))


def read(source: Source) -> Mesh | PolyMesh:
    """Return the cells of the highest dimension."""
    found, sections = read_elements(source), _sections(source)
    if found is None:
        if "Periodic" in sections:
            source.notes.append("$Periodic of binary files of version 4.0 is not read.")
        return meshio.read_as(source, "gmsh")
    fields = {"physical": found.groups, "partition": found.partitions}
    mesh = make_mesh(
        source,
        found.points,
        SIZES[found.types],
        in_vtk_order(found.corners, found.types),
        VTK_KINDS[found.types],
        cell_data={name: values for name, values in fields.items() if values.any()},
    )
    mesh = replace(mesh, regions=regions_of(found))
    if is_for_pyfr(found):
        source.notes.append(
            "Cells are in a group `fluid`, as PyFR asks: it sends a value for each face "
            "(--exchange vertices: for each vertex and neighbouring block)."
        )
        mesh = replace(mesh, exchange="faces")
    return with_couplings(source, mesh, found, sections)


def read_elements(source: Source) -> GmshElements | None:
    """Return the elements of all dimensions, or None for a binary file of version 4.0."""
    sections = _sections(source)
    version, binary = _format(source, sections)
    for name in ("Nodes", "Elements"):
        if name not in sections:
            raise source.error(f"has no section ${name}")
    names = source.data[slice(*sections.get("PhysicalNames", (0, 0)))].strip()
    if binary:
        found = read_binary(source, sections, version, names)
        return once(source, found) if found is not None and version < 4 else found
    if version < 4:
        return once(source, _read_2(source, sections, names))
    return MshBlocks(source, sections, version).read(names)


def sections_not_held(source: Source) -> list[str]:
    """Return the names of the sections that GmshElements does not store."""
    return [name for name in _sections(source) if name not in _HELD]


def _sections(source: Source) -> dict[str, tuple[int, int]]:
    """Return the offsets of each section's content; for repeated names, of the first."""
    found: dict[str, tuple[int, int]] = {}
    name, start = "", 0
    for match in _MARK.finditer(source.data):
        word = match[1].decode("ascii", "replace")
        if not name and not word.startswith("End"):
            name, start = word, match.end()
        elif name and word == f"End{name}":
            found.setdefault(name, (start, match.start()))
            name = ""
    if name in ("Nodes", "Elements"):
        raise source.error(f"ends within the section ${name}", offset=start)
    return found


def _format(source: Source, sections: dict[str, tuple[int, int]]) -> tuple[float, bool]:
    start, stop = sections.get("MeshFormat", (0, 0))
    words = source.data[start:stop].split(maxsplit=3)
    match = re.fullmatch(rb"\d(\.\d{0,15})?", words[0]) if len(words) > 2 else None
    if match is None or words[1] not in (b"0", b"1"):
        raise source.error("has no $MeshFormat with a known version", line=1)
    version = float(words[0])
    if not (2 <= version < 3 or 4 <= version < 4.2):
        hint = "Evener reads versions 2.x, 4.0 and 4.1; gmsh -save converts."
        raise source.error(
            f"has version {version:g}, which Evener does not read", line=2, hint=hint
        )
    return version, words[1] == b"1"


def _read_2(source: Source, sections: dict[str, tuple[int, int]], names: bytes) -> GmshElements:
    """Return the elements from lines `id x y z` and `id type n_tags tags... corners...`."""
    nodes = _counted(scan(source, *sections["Nodes"]), "points")
    points = nodes.columns(1, 4)
    ids = nodes.integers(nodes.first[:-1], "the number of a point")
    rows = _counted(scan(source, *sections["Elements"]), "cells")
    head = rows.whole_columns(1, 3, "the type of a cell", at_most=2**31)
    types, n_tags = head[:, 0], head[:, 1]
    known_types(rows, types)
    sizes = SIZES[types]
    bad = np.flatnonzero((n_tags < 0) | (rows.counts != 3 + n_tags + sizes))
    if bad.size:
        row = int(bad[0])
        what = f"{n_tags[row]} tags and {sizes[row]} corners"
        rows.refuse(row, f"a cell of type {types[row]} needs {what} after the first 3 numbers")
    index = ragged(rows.first[:-1] + 3 + n_tags, sizes)
    corners = rows.integers(index, "the number of a point")
    return GmshElements(
        node_tags=ids,
        points=points,
        types=types,
        corners=places(source, ids, corners),
        tags=rows.integers(rows.first[:-1], "the number of a cell"),
        entities=_tag(rows, n_tags, 1),
        groups=_tag(rows, n_tags, 0),
        partitions=_tag(rows, n_tags, 3),  # the previous tag is the number of its partitions
        names=names,
    )


def _tag(rows: FileRows, n_tags: IntVector, place: int) -> IntVector:
    """Return each element's tag number `place`, 0 if it has fewer tags."""
    out = np.zeros(len(rows), np.int64)
    tagged = n_tags > place
    out[tagged] = rows.integers(rows.first[:-1][tagged] + 3 + place, "a tag")
    return out


def _counted(rows: FileRows, what: str) -> FileRows:
    """Return the rows after the first, which states their number."""
    if not len(rows) or rows.counts[0] != 1:
        raise rows.source.error(f"the number of {what} is missing")
    n = int(rows.integers(rows.first[:1], f"the number of {what}")[0])
    if n < 1:
        rows.refuse(0, f"there are no {what}")
    return rows.part(1, len(rows)).expect(n, what)
