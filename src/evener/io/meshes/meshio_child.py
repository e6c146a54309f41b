"""A separate program, which lets meshlane read a mesh and writes the arrays to a file.

For bad files, meshlane's readers may raise any exception, exit, print, wait forever at the end of a
file, or reserve as much memory as a header states. With limits, this harms only this process. Run
as a script, so that only NumPy and meshlane need to be importable; arguments: the mesh file,
meshlane's name of its format, the folder for arrays.npz and facts.json, seconds of CPU, bytes of
memory.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import shutil
import stat
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np

_POLYGON = 7  # VTK's type
_REMARK = "Warning:"
_EXTRAS = {"h5py": "meshes"}  # packages that belong to an extra of Evener


# Evener's readers, by module; if a reader returns None, meshlane reads the file.
_OWN = {
    **dict.fromkeys(("cgns", "exodus", "netcdf", "pyfrm"), "hdf_arrays"),
    **dict.fromkeys(("vtk", "vtu"), "vtk_arrays"),
}
_WAY = "ParaView or Gmsh may convert it to .vtk or .msh, unless it is damaged."


class RefusedError(Exception):
    """What was read is not a usable mesh; `way` is a hint.

    The text completes the sentence `the file ...`.
    """

    way = _WAY


def main(arguments: list[str]) -> None:
    """Write `facts.json`, with `error` or the names of the fields, and then `arrays.npz`."""
    path, reader, folder, seconds, room = arguments
    _limit(int(seconds), int(room))
    threading.Thread(target=_leave_with_parent, args=(folder,), daemon=True).start()
    said = io.StringIO()
    arrays: dict[str, Any] = {}
    facts: dict[str, Any]
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            arrays, facts = extract(_read(path, reader))
    except ImportError as error:
        facts = _lacking(error, reader)
    except (Exception, SystemExit) as error:
        facts = _refused(error, reader)
    facts["said"] = _remarks(said.getvalue())
    if arrays:
        with Path(folder, "arrays.npz").open("wb") as file:
            np.savez(file, **arrays)
    Path(folder, "facts.json").write_text(json.dumps(facts), encoding="utf-8")


def _refused(error: BaseException, reader: str) -> dict[str, Any]:
    """Return the error for an unreadable file: Evener's own text, or one that quotes meshlane."""
    if hasattr(error, "way"):
        return {"error": str(error), "hint": error.way or _WAY}
    reason = " ".join(str(error).split())[:160] or type(error).__name__
    return {
        "error": f"contains something that Evener cannot read as {reader} ({reason})",
        "hint": _WAY,
    }


def _limit(seconds: int, room: int) -> None:
    """Set resource limits, which the system enforces even if the parent has ended."""
    try:
        import resource
    except ImportError:  # missing on Windows, where only the parent's timeout applies
        return
    # The hard limit is one second higher: at the soft limit, the signal shows the reason.
    limits = ((resource.RLIMIT_CPU, seconds, seconds + 1), (resource.RLIMIT_AS, room, room))
    for kind, soft, hard in limits:
        with contextlib.suppress(ValueError, OSError):  # macOS has no memory limit
            resource.setrlimit(kind, (soft, hard))


def _leave_with_parent(folder: str) -> None:
    """Wait until the parent ends, which closes the pipe; then remove `folder` and end, too."""
    sys.stdin.buffer.read()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _refuse_special(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse to open anything but regular files: a mesh may name a pipe, which would block."""
    if event != "open" or not isinstance(arguments[0], str | bytes):
        return
    try:
        mode = os.stat(arguments[0]).st_mode  # noqa: PTH116
    except (OSError, ValueError):
        return  # opening it will raise the error
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise PermissionError(f"{os.fsdecode(arguments[0])} is not a regular file")


def _read(path: str, reader: str) -> Any:
    """Return the mesh as read by Evener's reader of this name, else by meshlane's."""
    sys.addaudithook(_refuse_special)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if reader in _OWN:
            own = _own(_OWN[reader])
            found = getattr(own, reader)(path)
            if found is not None:
                return found
        import meshlane  # noqa: F401  (fills the map of readers)
        from meshlane._helpers import reader_map

        return reader_map[reader](path)


def _own(name: str) -> Any:
    """Return a module of Evener's readers in the same folder."""
    place = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(name, place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def extract(found: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a meshio mesh as plain arrays, and facts: the fields' names in order, notes, uuid.

    Raises RefusedError for unknown kinds of cells.
    """
    notes: list[str] = list(getattr(found, "notes", ()))
    arrays: dict[str, Any] = {}
    if hasattr(found, "kinds"):  # as returned by Evener's readers of VTK
        kinds, counts, corners, cell_data = (
            found.kinds, found.counts, found.corners, found.cell_data
        )  # fmt: skip
        if found.faces is not None:
            arrays["faces_of"] = np.array([sizes.size for sizes, _ in found.faces])
            arrays["face_sizes"] = np.concatenate([sizes for sizes, _ in found.faces])
            arrays["face_corners"] = np.concatenate([nodes for _, nodes in found.faces])
    else:
        kinds, counts, corners = _cells(found)
        cell_data = _joined(found.cell_data, notes)
    points = np.asarray(found.points)
    if points.dtype.kind not in "iuf":
        raise RefusedError("has points that are not numbers")
    if points.ndim == 2 and points.shape[1] == 1:
        points = np.column_stack([points, np.zeros(len(points))])
    cell_data = _numeric(cell_data, len(kinds), notes)
    point_data = _numeric(found.point_data, len(points), notes)
    if sets := [str(name) for name in getattr(found, "cell_sets", None) or ()]:
        notes.append(f"Sets of cells are not read: {', '.join(sets[:5])}.")
    arrays |= {"points": points, "kinds": kinds, "counts": counts, "corners": corners}
    arrays |= {f"cell{i}": values for i, values in enumerate(cell_data.values())}
    arrays |= {f"point{i}": values for i, values in enumerate(point_data.values())}
    arrays |= getattr(found, "pairs", {})
    facts = {"cell": list(cell_data), "point": list(point_data), "notes": notes}
    return arrays, facts | {"uuid": getattr(found, "uuid", "")}


def _cells(found: Any) -> tuple[Any, Any, Any]:
    """Return VTK types, numbers of corners, and corners of all cells."""
    kinds, counts, corners = [], [], []
    for block in found.cells:
        kind = block.type if isinstance(block.type, int) else _kind(block.type)
        if not kind:
            raise RefusedError(f"has cells of the type {block.type}, which Evener does not know")
        if not len(block.data):
            continue
        if kind == _POLYGON:  # their numbers of corners may differ
            sizes = np.array([len(cell) for cell in block.data])
            corners.append(np.concatenate([np.ravel(cell) for cell in block.data]))
        else:
            data = np.asarray(block.data)
            if data.ndim != 2:
                raise RefusedError(f"has cells of the type {block.type} without corners")
            sizes = np.full(len(data), data.shape[1])
            corners.append(data.ravel())
        kinds.append(np.full(sizes.size, kind))
        counts.append(sizes)
    if not kinds:
        raise RefusedError("has no cells")
    joined = np.concatenate(corners)
    if joined.dtype.kind not in "iu":
        raise RefusedError("has corners that are not whole numbers")
    return np.concatenate(kinds), np.concatenate(counts), joined


def _kind(name: str) -> int:
    """Return VTK's type for meshlane's type of cells; 0 if it is not known."""
    from meshlane._vtk_common import meshio_to_vtk_type

    if name.startswith("polyhedron"):
        return 0
    return int(meshio_to_vtk_type.get(name, _POLYGON if name.startswith("polygon") else 0))


def _joined(found: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    """Return the fields with the same shape for all cells; a note names the omitted fields."""
    joined: dict[str, Any] = {}
    for name, blocks in found.items():
        try:
            joined[name] = np.concatenate([np.asarray(block) for block in blocks])
        except ValueError:
            notes.append(f"The cell field {name!r} is left out: its shape differs among cells.")
    return joined


def _numeric(fields: dict[str, Any], n: int, notes: list[str]) -> dict[str, Any]:
    """Return the numeric fields with n rows; a note names the omitted fields."""
    arrays = {str(name): np.asarray(values) for name, values in fields.items()}
    kept = {
        name: values
        for name, values in arrays.items()
        if values.dtype.kind in "biuf" and values.ndim and len(values) == n
    }
    notes += [f"The field {name!r} is not read." for name in arrays if name not in kept]
    return kept


def _lacking(error: ImportError, reader: str) -> dict[str, Any]:
    """Return an error that says which package meshlane's reader needs, and how to get it."""
    if not error.name:
        return {"error": f"cannot be read: {error}"}
    package = error.name.partition(".")[0]
    extra = f" (Evener's extra [{_EXTRAS[package]}])" if package in _EXTRAS else ""
    return {
        "error": f"cannot be read: meshlane's reader of {reader} needs {package}",
        "hint": f"pip install {package}{extra}",
    }


def _remarks(text: str) -> list[str]:
    """Return meshlane's warnings, at most three sentences."""
    pieces = " ".join(text.split()).split(_REMARK)[1:]
    return [f"meshlane: {piece.strip()[:160]}" for piece in pieces if piece.strip()][:3]


if __name__ == "__main__":
    main(sys.argv[1:])
