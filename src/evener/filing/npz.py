"""NumPy archives: SciPy's sparse matrices, and the form in which graphs are kept here.

Ours holds `evener_graph` (the version, 1) and the arrays of Graph by their names; NumPy alone
can open it. Nothing pickled is ever loaded.
"""

from __future__ import annotations

import io
import tokenize
import warnings
import zipfile
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.errors import InputError
from evener.filing.matrices import check_square, graph_of_pattern
from evener.filing.sources import Source
from evener.graphs import Graph

_FIELDS = ("xadj", "adjncy", "vwgt", "adjwgt", "coords", "labels")
_BYTES = ("bytes_per_vertex", "bytes_per_edge")
_GROWTH, _ALWAYS_ALLOWED = 200, 32 * 2**20
_DAMAGED_ZIP = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    ValueError,
    OSError,
    EOFError,
    RuntimeError,  # encrypted, or of a compression not known here
    KeyError,
)
_DAMAGED_NPY = (
    ValueError,
    TypeError,
    OverflowError,
    SyntaxError,
    EOFError,
    OSError,
    RecursionError,
    tokenize.TokenError,
    UserWarning,
)


def recognises(source: Source) -> bool:
    """A zip archive with a .npy file in it."""
    return source.data.startswith(b"PK") and b".npy" in source.data


def read(source: Source) -> Graph:
    """Return the graph kept in the archive, or that of a sparse matrix's pattern."""
    arrays = _load(source)
    if "evener_graph" in arrays:
        return _own(source, arrays)
    if "format" in arrays and "shape" in arrays:
        return _sparse(source, arrays)
    if "part" in arrays:
        raise source.error("holds a plan or a partition, not a graph")
    raise source.error("is a NumPy archive, but neither a graph nor a SciPy sparse matrix")


def write(graph: Graph) -> tuple[bytes, list[str]]:
    """Return the archive; nothing is left out. Same graph, same bytes."""
    arrays: dict[str, npt.NDArray[Any]] = {"evener_graph": np.array(1)}
    for name in _FIELDS + _BYTES:
        value = getattr(graph, name)
        if value is not None:
            arrays[name] = np.asarray(value)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in arrays.items():
            # A fixed date: the time of writing is no part of a graph.
            entry = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            content = io.BytesIO()
            np.lib.format.write_array(content, array, allow_pickle=False)
            archive.writestr(entry, content.getvalue())
    return out.getvalue(), []


def array_of(source: Source, content: bytes, name: str) -> npt.NDArray[Any]:
    """Return the array of one .npy file; its header is not believed before it fits the content."""
    try:
        file = io.BytesIO(content)
        shape, dtype = _header_of(source, file, name)
        size = 1
        for extent in shape:
            size *= extent
        room = len(content) - file.tell()
        if dtype.hasobject or dtype.itemsize == 0 or not 0 <= size * dtype.itemsize <= room:
            raise source.error(f"{name} does not hold what its header promises")
        file.seek(0)
        array: npt.NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    except _DAMAGED_NPY as error:
        raise source.error(f"{name} is damaged: {_short(error)}") from error
    return array


def _header_of(source: Source, file: io.BytesIO, name: str) -> tuple[Any, Any]:
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise source.error(f"{name} is of an unknown version of NumPy's format")
    first = version == (1, 0)
    parse = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of a header that NumPy would mend
        shape, _, dtype = parse(file)
    return shape, dtype


def _load(source: Source) -> dict[str, npt.NDArray[Any]]:
    limit = max(_ALWAYS_ALLOWED, _GROWTH * len(source.data))
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename.endswith(".npy")]
            if sum(entry.file_size for entry in entries) > limit:
                raise source.error(f"grows beyond {limit:,} bytes when unpacked")
            contents = {entry.filename[:-4]: archive.read(entry) for entry in entries}
    except InputError:
        raise
    except _DAMAGED_ZIP as error:
        raise source.error(f"is damaged: {_short(error)}") from error
    return {name: array_of(source, content, name) for name, content in contents.items()}


def _own(source: Source, arrays: dict[str, npt.NDArray[Any]]) -> Graph:
    if arrays["evener_graph"].tolist() != 1:
        raise source.error("is of an unknown version of this format")
    if "xadj" not in arrays or "adjncy" not in arrays:
        raise source.error("lacks xadj or adjncy")
    fields: dict[str, Any] = {name: arrays[name] for name in _FIELDS if name in arrays}
    if "labels" in fields and fields["labels"].ndim != 1:
        raise source.error("labels must be one-dimensional")
    for name in _BYTES:
        if name in arrays:
            if arrays[name].shape != () or arrays[name].dtype.kind not in "iuf":
                raise source.error(f"{name} must be one number")
            fields[name] = float(arrays[name])
    graph = Graph(**fields)
    if graph.n < 1:
        raise source.error("has no vertex")
    return graph


def _sparse(source: Source, arrays: dict[str, npt.NDArray[Any]]) -> Graph:
    """Return the graph of a matrix written by scipy.sparse.save_npz."""
    shape = arrays["shape"]
    if shape.shape != (2,) or shape.dtype.kind not in "iu":
        raise source.error("the matrix must have two dimensions")
    rows, columns = (int(extent) for extent in shape)
    if min(rows, columns) < 0:
        raise source.error("the matrix's shape must not be negative")
    check_square(source, rows, columns)
    form = arrays["format"]
    kind = form.item() if form.shape == () else ""
    kind = kind.decode("latin-1") if isinstance(kind, bytes) else str(kind)
    u, v = _coordinates_of(source, kind, arrays, rows)
    for index in (u, v):
        if index.size and (index.min() < 0 or index.max() >= rows):
            raise source.error(f"an index lies outside the {rows:,} x {columns:,} matrix")
    return graph_of_pattern(source, rows, u, v, halved=False)


def _coordinates_of(
    source: Source, kind: str, arrays: dict[str, npt.NDArray[Any]], n: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    if kind == "coo":
        if "coords" in arrays and "row" not in arrays:  # sparse arrays since SciPy 1.15
            pair = arrays["coords"]
            if pair.ndim != 2 or len(pair) != 2:
                raise source.error("coords must have two rows")
            arrays = arrays | {"row": pair[0], "col": pair[1]}
        row, column = (_indices(source, arrays, name) for name in ("row", "col"))
        if row.size != column.size:
            raise source.error(f"has {row.size} row indices but {column.size} column indices")
        return row, column
    if kind not in ("csr", "csc"):
        raise source.error(
            f"holds a matrix in the format {kind[:10]!r}; csr, csc and coo are read",
            hint="matrix.tocsr() before save_npz makes it one.",
        )
    indptr, indices = (_indices(source, arrays, name) for name in ("indptr", "indices"))
    if (
        indptr.size != n + 1
        or indptr[0] != 0
        or indptr[-1] != indices.size
        or (np.diff(indptr) < 0).any()
    ):
        raise source.error(f"indptr must rise from 0 to {indices.size} in {n + 1} steps")
    return np.repeat(np.arange(n), np.diff(indptr)), indices


def _indices(
    source: Source, arrays: dict[str, npt.NDArray[Any]], name: str
) -> npt.NDArray[np.int64]:
    array = arrays.get(name)
    if array is None or array.ndim != 1 or array.dtype.kind not in "iu":
        raise source.error(f"lacks {name}, a list of whole numbers")
    return array.astype(np.int64)


def _short(error: BaseException) -> str:
    return str(error).split("\n")[0][:100] or type(error).__name__
