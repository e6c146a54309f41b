"""Gmsh's .msh files with the partition of every element, of versions 4.1 and 2.2.

Partition p is block p - 1: the plan's devices, counted from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from evener.errors import InputError, UsageError
from evener.graphs.polymesh import PolyMesh
from evener.integrations.requests import ExportFiles, ExportRequest, one_file
from evener.io.meshes.gmsh import read_elements, sections_not_held
from evener.io.meshes.gmsh_dividing import divided
from evener.io.meshes.gmsh_elements import GmshElements, elements_of
from evener.io.meshes.gmsh_writing import msh_2, msh_4
from evener.io.sources import open_source
from evener.wording import plural

Writer = Callable[[GmshElements, int], Iterable[bytes]]


def files(request: ExportRequest) -> ExportFiles:
    """Return the mesh as a .msh file of version 4.1 in which every element has its partition.

    Of a .msh file all elements, their tags, entities and physical groups are kept; of
    another mesh its cells alone. Raises UsageError for a plan of points; InputError for cells that
    Gmsh has not.
    """
    return _files(request, msh_4)


def files_2(request: ExportRequest) -> ExportFiles:
    """Return the same in version 2.2, which has one physical group for each element."""
    return _files(request, lambda elements, _: msh_2(elements))


def _files(request: ExportRequest, write: Writer) -> ExportFiles:
    if request.by != "cells":
        raise UsageError("Gmsh divides cells; this plan is of points")
    if request.target is not None and request.target.suffix != ".msh":
        raise UsageError(f"{request.target.name}: Gmsh knows its files by the suffix .msh")
    elements, lost = _elements_of(request)
    whole, loose = divided(elements, request.part)
    if loose:
        lost.append(f"{plural(loose, 'element')} without a point of a cell: in partition 1.")
    if write is not msh_4 and any(len(groups) > 1 for groups in elements.physical.values()):
        lost.append("Of an entity's physical groups version 2.2 keeps the first.")
    return one_file(request.path, write(whole, request.k), *lost)


def _elements_of(request: ExportRequest) -> tuple[GmshElements, list[str]]:
    """Return the elements of the file that was read, and sentences on what they lack."""
    assert request.reading is not None
    found = None
    if request.reading.format == "gmsh" and request.source is not None:
        source = open_source(request.source)
        found = read_elements(source)
        if found is not None:
            lost = sections_not_held(source)
            return found, [f"Not kept: {', '.join(f'${name}' for name in lost)}."] if lost else []
    if isinstance(request.mesh, PolyMesh):
        hint = "`--to openfoam` and `--to vtu` write its cells."
        raise InputError(
            "is a mesh of polyhedra, which Gmsh has not", file=request.source, hint=hint
        )
    kept = "Cells and points are kept; boundary elements and physical groups are not"
    if request.reading.format == "gmsh":
        return elements_of(request.mesh), [f"{kept}: the file is of version 4.0 and binary."]
    return elements_of(request.mesh), [f"{kept}: a .msh file has them."]
