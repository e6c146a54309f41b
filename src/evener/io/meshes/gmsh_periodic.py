"""Couplings stated in a .msh file: by $Periodic or PyFR's groups periodic_NAME_l and _r."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from evener.arrays import IntArray, IntVector
from evener.errors import InputError
from evener.graphs.cell_kernels import BASE, CORNERS
from evener.graphs.mesh import Mesh
from evener.io.meshes.couplings import Boundary, once, paired_surfaces, rows_of
from evener.io.meshes.gmsh_binary import opened
from evener.io.meshes.gmsh_elements import VTK_KINDS, GmshElements
from evener.io.meshes.gmsh_numbers import places
from evener.io.meshes.rows import ragged
from evener.io.sources import Source

_NAME = re.compile(rb'^\s*(\d)\s+(\d{1,10})\s+"([^"\r\n]*)"', re.MULTILINE)
_PYFR = re.compile(r"periodic[ _-]([a-z0-9]+)[ _-]([lr])")  # as in PyFR's reader
_PYFR_CELLS = "fluid"  # the group that PyFR requires

Links = list[tuple[IntVector, IntVector]]


def with_couplings(
    source: Source, mesh: Mesh, found: GmshElements, sections: dict[str, tuple[int, int]]
) -> Mesh:
    """Return the mesh with the cells that periodic faces couple; notes report missing ones.

    sections: offsets of the file's sections, by name.
    """
    links = _links(source, found, sections, mesh.dim - 1) if "Periodic" in sections else []
    surfaces = _pyfr_surfaces(found, mesh.dim - 1)
    if not (links or surfaces):
        return mesh
    boundary = Boundary(mesh)
    pairs = boundary.paired_by_points(links)
    if links and not len(pairs):
        source.notes.append("$Periodic joins points, but it joins no face completely.")
    faces = {name: boundary.places(_corners(found, which)) for name, which in surfaces.items()}
    more, apart = paired_surfaces(
        boundary, faces, [(n, f"{n[:-1]}r") for n in faces if n[-1] == "l"]
    )
    pairs = once(np.concatenate([pairs, more]))
    apart = [name for name in apart if not np.isin(faces[name], pairs).all()]
    if apart:
        names = ", ".join(sorted(apart))
        source.notes.append(f"Periodic groups whose faces do not match are left out: {names}.")
    return replace(mesh, coupled=boundary.coupled(pairs))


def is_for_pyfr(found: GmshElements) -> bool:
    """Return whether a physical group is called `fluid`, as PyFR requires for the cells."""
    names = _names(found)
    dim = int(found.dims.max())
    return any(d == dim and name.lower() == _PYFR_CELLS for (d, _), name in names.items())


def regions_of(found: GmshElements) -> dict[str, IntArray]:
    """Return the cells of each physical group, by its name or number."""
    names, dim = _names(found), int(found.dims.max())
    groups = found.groups[found.is_cell]
    return {
        names.get((dim, tag), str(tag)): np.flatnonzero(groups == tag)
        for tag in np.unique(groups[groups > 0]).tolist()
    }


def _names(found: GmshElements) -> dict[tuple[int, int], str]:
    """Return the names of physical groups, by dimension and number."""
    return {
        (int(dim), int(tag)): name.decode("utf-8", "replace")
        for dim, tag, name in _NAME.findall(found.names)
    }


def _pyfr_surfaces(found: GmshElements, dim: int) -> dict[str, Any]:
    """Return the elements (e,) of each group that PyFR treats as periodic, by name."""
    surfaces = {}
    for (d, tag), name in _names(found).items():
        if d == dim and _PYFR.fullmatch(name.lower()):
            surfaces[name.lower()] = (found.groups == tag) & (found.dims == d)
    return surfaces


def _corners(found: GmshElements, which: Any) -> IntArray:
    """Return rows with the corners of some elements, only those of their linear shape."""
    sizes = CORNERS[BASE[VTK_KINDS[found.types[which]]]]
    index = ragged(found.starts[:-1][which], sizes)
    return rows_of(sizes, found.corners[index])


def _links(
    source: Source, found: GmshElements, sections: dict[str, tuple[int, int]], dim: int
) -> Links:
    """Return the links of entities of a dimension: points and their images, as indices."""
    words = source.data[slice(*sections["MeshFormat"])].split(maxsplit=2)
    if words[1] == b"1" and float(words[0]) >= 4:
        pairs = _binary_links(source, sections, dim)
    else:  # in version 2, this section is text even in binary files
        pairs = _text_links(source, sections["Periodic"], float(words[0]), dim)
    return [
        (places(source, found.node_tags, pair[:, 0]), places(source, found.node_tags, pair[:, 1]))
        for pair in pairs
    ]


def _binary_links(
    source: Source, sections: dict[str, tuple[int, int]], dim: int
) -> list[IntVector]:
    reader = opened(source, "Periodic", sections)
    kept: list[IntVector] = []
    for _ in range(reader.numbers("q", 1)[0]):  # a wrong count ends at the section's end
        entity = reader.numbers("i", 3)
        reader.take("d", reader.numbers("q", 1)[0])
        n = reader.numbers("q", 1)[0]
        pairs = reader.take("q", 2 * n).reshape(-1, 2)
        if entity[0] == dim:
            kept.append(pairs.astype(np.int64))
    return kept


def _text_links(
    source: Source, place: tuple[int, int], version: float, dim: int
) -> list[IntVector]:
    """Return the pairs of nodes of each link, from lines `dim tag tag`, transform, count, pairs.

    A transform is `Affine` and its numbers; from version 4.1 on, their count and the numbers.
    """
    lines = source.data[slice(*place)].split(b"\n")
    rows = [words for line in lines if (words := line.split())]
    try:
        kept: list[IntVector] = []
        at = 1
        for _ in range(int(rows[0][0])):
            entity, at = [int(word) for word in rows[at]], at + 1
            if version >= 4.1 or rows[at][0] == b"Affine":
                at += 1
            n, at = int(rows[at][0]), at + 1
            pairs = np.array(rows[at : at + n], dtype=np.int64).reshape(n, 2)
            at += n
            if entity[0] == dim:
                kept.append(pairs)
    except (IndexError, ValueError, OverflowError) as error:
        raise _damaged(source, place) from error
    return kept


def _damaged(source: Source, place: tuple[int, int]) -> InputError:
    message = "has a section $Periodic that ends early or contains something other than numbers"
    return source.error(message, offset=place[0])
