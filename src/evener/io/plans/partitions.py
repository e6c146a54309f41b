"""Writes partitions in the formats of solvers and viewers; `parts` reads other tools' files."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import Part, as_integers
from evener.errors import InputError, UsageError
from evener.files.writing import atomic_write
from evener.graphs.graph import Graph
from evener.graphs.mesh import Mesh
from evener.graphs.polymesh import PolyMesh
from evener.io.archives import write_arrays
from evener.io.plans.binary import binary
from evener.io.plans.parts import quoted
from evener.io.sources import find_file
from evener.plans.contiguous import contiguous
from evener.wording import meant, printable

_LINES = 2**16  # lines converted to text at a time


@dataclass(frozen=True)
class _Subject:
    """A partition to be written, and known facts about the graph or mesh that it divides."""

    part: Part
    mesh: Mesh | PolyMesh | None
    graph: Graph | None
    by: Literal["cells", "points"]
    fields: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    devices: Sequence[str] | None = None
    terms: Mapping[str, Any] | None = None
    first: int | None = 0

    @cached_property
    def labels(self) -> list[str] | None:
        """Names of the vertices in the file from which the graph was read."""
        named = self.graph is not None and self.graph.labels is not None
        return [str(label) for label in self.graph.labels] if named else None  # type: ignore[union-attr]


class Export(NamedTuple):
    """A format of partitions: pieces(subject) yields the file's bytes.

    needs_mesh: whether the format needs the mesh.
    """

    pieces: Callable[[_Subject], Iterable[bytes]]
    needs_mesh: bool
    suffix: str


def write_part(  # noqa: PLR0913 - public: what a format needs beside the blocks
    path: str | Path,
    part: npt.ArrayLike,
    to: str,
    *,
    mesh: Mesh | PolyMesh | None = None,
    graph: Graph | None = None,
    by: Literal["cells", "points"] = "cells",
    fields: Mapping[str, npt.ArrayLike] | None = None,
    devices: Sequence[str] | None = None,
    terms: Mapping[str, Any] | None = None,
    first: int | None = 0,
) -> None:
    """Write `part` (n,), the block of each vertex, in the format `to`, a key of PART_FORMATS.

    mesh: required by vtu and openfoam. graph: source of labels for csv, json and scotch. first:
    without a graph, the label of the first vertex if labels are consecutive, else None. by: whether
    vertices are the mesh's cells or points. fields: further arrays (n,), only for vtu. devices: the
    name of each block's device, for csv, json, rows and binary. terms: the terms of the plan
    (evener.io.plans.promises), which json, npz and rows store completely; openfoam and vtu state
    its workload and verdict in a comment. Raises UsageError for an unknown format, a missing mesh,
    or fields that the format cannot store; InputError for a part that does not fit the mesh, the
    graph or the devices.
    """
    pieces = part_pieces(
        part, to, mesh=mesh, graph=graph, by=by, fields=fields, devices=devices, terms=terms,
        first=first,
    )  # fmt: skip
    with atomic_write(path) as file:
        file.writelines(pieces)


def part_pieces(  # noqa: PLR0913 - as write_part
    part: npt.ArrayLike,
    to: str,
    *,
    mesh: Mesh | PolyMesh | None = None,
    graph: Graph | None = None,
    by: Literal["cells", "points"] = "cells",
    fields: Mapping[str, npt.ArrayLike] | None = None,
    devices: Sequence[str] | None = None,
    terms: Mapping[str, Any] | None = None,
    first: int | None = 0,
) -> Iterable[bytes]:
    """Return the bytes that `write_part` writes, in pieces; raises the same errors."""
    if to not in PART_FORMATS:
        hint = f"Formats: {', '.join(PART_FORMATS)}."
        raise UsageError(
            f"a partition cannot be exported to {to!r}{meant(to, PART_FORMATS)}", hint=hint
        )
    export = PART_FORMATS[to]
    if export.needs_mesh and mesh is None:
        if graph is not None:
            raise UsageError(f"{to} needs a mesh, but the file contains a graph")
        raise UsageError(f"{to} needs the mesh", hint="Name the mesh file after the plan.")
    if fields and to != "vtu":
        raise UsageError(f"{to} cannot store fields; vtu can")
    blocks = as_integers(part, "part")
    if blocks.size == 0 or blocks.min() < 0 or blocks.max() >= 2**31:
        raise InputError("part must hold a block number, from 0 on, for each vertex")
    _fits(blocks.size, mesh, graph, by)
    if devices is not None and blocks.max() >= len(devices):
        raise InputError(f"part has block {blocks.max()}, but there are {len(devices)} devices")
    arrays = {name: np.asarray(values) for name, values in (fields or {}).items()}
    for name, values in arrays.items():
        if values.ndim == 0 or len(values) != blocks.size:
            raise InputError(f"the field {name!r} is not of {blocks.size} vertices")
    part = blocks.astype(np.int32)
    return export.pieces(_Subject(part, mesh, graph, by, arrays, devices, terms, first))


def _fits(n: int, mesh: Mesh | PolyMesh | None, graph: Graph | None, by: str) -> None:
    if by not in ("cells", "points"):
        raise UsageError(f"a mesh is divided by cells or by points, not by {by!r}")
    if graph is not None and graph.n != n:
        raise InputError(f"part has {n:,} entries, but the graph has {graph.n:,} vertices")
    if mesh is not None:
        count = mesh.n_cells if by == "cells" else mesh.n_points
        if count != n:
            raise InputError(f"part has {n:,} entries, but the mesh has {count:,} {by}")


def _metis(subject: _Subject) -> Iterator[bytes]:
    """Yield METIS's format: one block per line."""
    return _rows([subject.part], "%d\n")


def _scotch(subject: _Subject) -> Iterator[bytes]:
    """Yield Scotch's mapping: the number of vertices, then lines of vertex and block.

    Vertices have their numbers from the graph file, or 0 to n - 1 if they have names.
    """
    n = subject.part.size
    numbers = np.arange(n)
    labels = None if subject.graph is None else subject.graph.labels
    if labels is not None:
        numbers = np.asarray(labels) if labels.dtype.kind in "iu" else numbers
    elif subject.first is None:
        raise UsageError(
            "scotch needs the graph, because its vertices have their own numbers",
            hint="Give the graph file after the plan file.",
        )
    else:
        numbers = numbers + subject.first
    yield b"%d\n" % n
    yield from _rows([numbers, subject.part], "%d\t%d\n")


def _binary(subject: _Subject) -> Iterator[bytes]:
    yield from binary(subject.part, subject.devices)


def _npy(subject: _Subject) -> Iterator[bytes]:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, subject.part, allow_pickle=False)
    yield buffer.getvalue()


def _npz(subject: _Subject) -> Iterator[bytes]:
    """Yield an archive of `part` and the plan's terms as JSON text."""
    return _archive(subject, {})


def _contiguous(subject: _Subject) -> Iterator[bytes]:
    """Yield an archive of the vertices ordered by block, and the offset of each block."""
    k = int(subject.part.max()) + 1 if subject.devices is None else len(subject.devices)
    order, offsets = contiguous(subject.part, k)
    arrays = {"order": order, "offsets": offsets, "sizes": np.diff(offsets)}
    if subject.devices is not None:
        arrays["devices"] = np.array(subject.devices, np.str_)
    return _archive(subject, arrays)


def _archive(subject: _Subject, more: Mapping[str, npt.NDArray[Any]]) -> Iterator[bytes]:
    arrays = {"part": subject.part, **more}
    if subject.terms is not None:
        arrays["promise"] = np.array(json.dumps(dict(subject.terms)))
    buffer = io.BytesIO()
    write_arrays(buffer, arrays, level=6)
    yield buffer.getvalue()


def named(terms: Mapping[str, Any] | None) -> str:
    """Return a plan's terms as a line for a comment; "" if they are not known."""
    if terms is None:
        return ""
    text = f"evener plan, kernel {terms['workload']['name']}: {terms['verdict']}"
    return printable(text).replace("--", "- -")


def _csv(subject: _Subject) -> Iterator[bytes]:
    """Yield lines `vertex,block`, and the device if its name is known."""
    yield b"vertex,block\n" if subject.devices is None else b"vertex,block,device\n"
    if subject.labels is None and subject.devices is None:
        yield from _rows([np.arange(subject.part.size), subject.part], "%d,%d\n")
        return
    names = [quoted(name) for name in subject.devices or ()]
    for start in range(0, subject.part.size, _LINES):
        blocks = subject.part[start : start + _LINES].tolist()
        vertices: Iterable[object] = range(start, start + len(blocks))
        if subject.labels is not None:
            vertices = map(quoted, subject.labels[start : start + len(blocks)])
        ends = [f"{b},{names[b]}\n" if names else f"{b}\n" for b in blocks]
        yield "".join(f"{v},{end}" for v, end in zip(vertices, ends, strict=True)).encode()


def _json(subject: _Subject) -> Iterator[bytes]:
    content: dict[str, Any] = {"n": subject.part.size, "part": subject.part.tolist()}
    if subject.devices is not None:
        content["devices"] = list(subject.devices)
    if subject.labels is not None:
        content["labels"] = subject.labels
    if subject.terms is not None:
        content["promise"] = dict(subject.terms)
    yield json.dumps(content, separators=(",", ":")).encode() + b"\n"


def _vtu(subject: _Subject) -> Iterator[bytes]:
    from evener.io.meshes.vtu import vtu

    assert subject.mesh is not None
    data = {"part": subject.part, **subject.fields}
    cells, points = (data, {}) if subject.by == "cells" else ({}, data)
    return vtu(subject.mesh, cells, points, comment=named(subject.terms))


def _openfoam(subject: _Subject) -> Iterator[bytes]:
    """Yield the dataFile of decomposePar's method `manual`: a labelList with each cell's block."""
    if subject.by != "cells":
        raise UsageError("OpenFOAM divides cells, but this partition divides points")
    comment = named(subject.terms)
    yield f"// {comment}\n".encode() if comment else b""
    yield (
        b"FoamFile\n{\n    version     2.0;\n    format      ascii;\n    class       labelList;\n"
        b'    location    "constant";\n    object      cellDecomposition;\n}\n\n'
    )
    yield b"%d\n(\n" % subject.part.size
    yield from _rows([subject.part], "%d\n")
    yield b")\n"


def _rows(columns: list[npt.NDArray[Any]], form: str) -> Iterator[bytes]:
    """Yield lines of whole numbers, many lines at a time."""
    for start in range(0, columns[0].size, _LINES):
        rows = np.column_stack([column[start : start + _LINES] for column in columns])
        yield ((form * len(rows)) % tuple(rows.ravel().tolist())).encode()


PART_FORMATS: dict[str, Export] = {
    "metis": Export(_metis, needs_mesh=False, suffix=".part"),
    "scotch": Export(_scotch, needs_mesh=False, suffix=".map"),
    "binary": Export(_binary, needs_mesh=False, suffix=".bin"),
    "npy": Export(_npy, needs_mesh=False, suffix=".npy"),
    "npz": Export(_npz, needs_mesh=False, suffix=".npz"),
    "rows": Export(_contiguous, needs_mesh=False, suffix=".npz"),
    "csv": Export(_csv, needs_mesh=False, suffix=".csv"),
    "json": Export(_json, needs_mesh=False, suffix=".json"),
    "vtu": Export(_vtu, needs_mesh=True, suffix=".vtu"),
    "openfoam": Export(_openfoam, needs_mesh=True, suffix=""),
}


def is_of_pyfr(path: str | Path) -> bool:
    """Return whether `path` is the name of a partitioning in PyFR's mesh file: MESH.pyfrm#NAME."""
    mesh, marked, _ = str(path).rpartition("#")
    return bool(marked) and mesh.lower().endswith(".pyfrm") and find_file(Path(path)) is None


def read_part(path: str | Path, n: int, *, labels: npt.NDArray[np.generic] | None = None) -> Part:
    """Return the block, from 0 on, of each of n vertices, from any tool's file.

    Formats are recognised by content: METIS (one block per line), Scotch (a mapping), Evener's
    binary format, NumPy's .npy, plans and other .npz with `part`, CSV `vertex,block[,device]`,
    JSON, OpenFOAM's labelList, MFEM's partitioning file; plain or packed; `MESH.pyfrm#NAME`, a
    partitioning in a mesh file of PyFR. labels (n,): the graph's labels, needed to sort a CSV file
    with names of vertices. Raises InputError, with the line if there is one, for another length,
    blocks below 0 or above 2^31 - 1, missing or repeated vertices, and anything that is not a
    number.
    """
    from evener.io.plans import parts

    if is_of_pyfr(path):
        mesh, _, name = str(path).rpartition("#")
        return parts.of_pyfr(mesh, name, n)
    return parts.parse(path, n, None if labels is None else [str(label) for label in labels])
