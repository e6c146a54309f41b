"""Every other mesh format, through meshio, chosen by suffix."""

from __future__ import annotations

import contextlib
import io
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.filing.meshes_text import make_mesh
from evener.filing.sources import Source
from evener.meshes import POLYGON, Fields, Mesh

# What each suffix is to meshio; formats with a reader of ours are not here.
FORMATS = {
    ".vtk": "vtk",
    ".vtu": "vtu",
    ".xdmf": "xdmf",
    ".xmf": "xdmf",
    ".cgns": "cgns",
    ".med": "med",
    ".h5m": "h5m",
    ".hmf": "hmf",
    ".inp": "abaqus",
    ".avs": "avsucd",
    ".exo": "exodus",
    ".ex2": "exodus",
    ".e": "exodus",
    ".bdf": "nastran",
    ".nas": "nastran",
    ".fem": "nastran",
    ".off": "off",
    ".ply": "ply",
    ".stl": "stl",
    ".mdpa": "mdpa",
    ".f3grid": "flac3d",
    ".vol": "netgen",
    ".ugrid": "ugrid",
    ".ele": "tetgen",
    ".node": "tetgen",
    ".dat": "tecplot",
    ".tec": "tecplot",
    ".post": "permas",
    ".dato": "permas",
    ".meshb": "medit",
    ".wkt": "wkt",
    ".msh": "ansys",
}
# These suffixes are used for much else: the content must begin like this.
_BEGINS = {".dat": (b"TITLE", b"VARIABLES"), ".msh": (b"(",), ".wkt": (b"TIN", b"MULTI")}


def recognises(source: Source) -> bool:
    """A suffix that meshio reads."""
    if source.folder or source.suffix not in FORMATS:
        return False
    begins = _BEGINS.get(source.suffix)
    return begins is None or source.head.lstrip().upper().startswith(begins)


def read(source: Source) -> Mesh:
    """Return the cells of the highest dimension."""
    if source.suffix not in FORMATS:
        raise source.error(f"is of no format known by its suffix {source.suffix!r}")
    return read_as(source, FORMATS[source.suffix])


def read_as(source: Source, name: str) -> Mesh:
    """Return the mesh that meshio's reader of this name finds."""
    found = _call(source, name)
    kinds, counts, corners = _cells(source, found)
    points = np.asarray(found.points)
    if points.ndim == 2 and points.shape[1] == 1:
        points = np.column_stack([points, np.zeros(len(points))])
    sizes = [len(block.data) for block in found.cells]
    return make_mesh(
        source,
        points,
        counts,
        corners,
        kinds,
        cell_data=_cell_fields(source, found.cell_data, sizes),
        point_data=_numeric(found.point_data, len(points)),
    )


def _call(source: Source, name: str) -> Any:
    """What meshio's reader returns; whatever it raises is an InputError.

    Its readers take paths, meet bad files with any exception, exit included, and print.
    """
    silent = io.StringIO()
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(silent),
            contextlib.redirect_stderr(silent),
            _unpacked(source) as path,
        ):
            warnings.simplefilter("ignore")
            import meshio  # noqa: F401  (fills the map of readers)
            from meshio._helpers import reader_map

            with np.errstate(all="ignore"):
                return reader_map[name](str(path))
    except ImportError as error:
        hint = f"pip install {error.name}" if error.name else None
        raise source.error(f"cannot be read: {error}", hint=hint) from error
    except (Exception, SystemExit) as error:
        reason = " ".join(str(error).split())[:160] or type(error).__name__
        raise source.error(f"is no {name} mesh that meshio can read ({reason})") from error


@contextlib.contextmanager
def _unpacked(source: Source) -> Any:
    """Yield a path with the content and suffix: the file itself unless it is packed."""
    if source.path.name == source.name:
        yield source.path
        return
    with tempfile.TemporaryDirectory(prefix="evener-") as folder:
        path = Path(folder) / source.name
        path.write_bytes(source.data)
        yield path


def _cells(source: Source, found: Any) -> tuple[npt.NDArray[Any], ...]:
    """VTK types, numbers of corners, and corners of all cells."""
    from meshio._vtk_common import meshio_to_vtk_type

    kinds, counts, corners = [], [], []
    for block in found.cells:
        kind = meshio_to_vtk_type.get(
            block.type, POLYGON if block.type.startswith("polygon") else 0
        )
        if kind == 0 or block.type.startswith("polyhedron"):
            raise source.error(f"has cells of the type {block.type}, which is not known")
        if not len(block.data):
            continue
        if kind == POLYGON:  # their numbers of corners may differ
            sizes = np.array([len(cell) for cell in block.data])
            corners.append(np.concatenate([np.ravel(cell) for cell in block.data]))
        else:
            data = np.asarray(block.data)
            if data.ndim != 2:
                raise source.error(f"has cells of the type {block.type} without corners")
            sizes = np.full(len(data), data.shape[1])
            corners.append(data.ravel())
        kinds.append(np.full(sizes.size, kind))
        counts.append(sizes)
    if not kinds:
        raise source.error("has no cells")
    return np.concatenate(kinds), np.concatenate(counts), _whole(source, np.concatenate(corners))


def _whole(source: Source, corners: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if corners.dtype.kind not in "iu":
        raise source.error("has corners that are no whole numbers")
    return corners


def _cell_fields(source: Source, found: dict[str, Any], sizes: list[int]) -> Fields:
    """Fields with the same numbers for all cells; a note names the others."""
    joined: dict[str, Any] = {}
    for name, blocks in found.items():
        try:
            joined[name] = np.concatenate([np.asarray(block) for block in blocks])
        except ValueError:
            source.notes.append(f"The cell field {name!r} differs in shape among cells: left out.")
    return _numeric(joined, sum(sizes))


def _numeric(fields: dict[str, Any], n: int) -> Fields:
    arrays = {str(name): np.asarray(values) for name, values in fields.items()}
    return {
        name: values
        for name, values in arrays.items()
        if values.dtype.kind in "biuf" and values.ndim and len(values) == n
    }
