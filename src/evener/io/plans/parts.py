"""Reads partition files of all tools; quotes CSV fields for `partitions`, which writes them.

A field that a spreadsheet would evaluate as a formula gets an apostrophe, as OWASP advises.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import Part, as_integers
from evener.errors import InputError
from evener.io.archives import array_of, read_arrays
from evener.io.json_text import loads
from evener.io.meshes import gmsh
from evener.io.meshes.rows import FileRows, scan
from evener.io.plans import binary
from evener.io.sources import Source, open_source
from evener.wording import without_marks

Labels = list[str] | None  # names of the graph's vertices
_FOAM = re.compile(rb"FoamFile\s*\{[^{}]*\}\s*(\d{1,15})\s*\(([^()]*)\)\s*\Z")
_MFEM = re.compile(rb"\s*number_of_elements\s+(\d{1,15})\s+number_of_processors\s+(\d{1,15})\s")
_COMMENT = re.compile(rb"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
# First characters of fields that spreadsheets evaluate as formulas.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?", re.ASCII)


def as_text(name: str) -> str:
    """Return a name, prefixed with an apostrophe if a spreadsheet would evaluate it.

    Numbers stay unchanged. Control characters and text-direction marks are escaped, but not line
    ends.
    """
    text = without_marks(name)
    return f"'{text}" if name.startswith(_FORMULA) and not _NUMBER.fullmatch(name) else text


def quoted(name: str) -> str:
    """Return a name as a CSV field, quoted if necessary."""
    text = as_text(name)
    special = bool(set(text) & set(',;"\r\n')) or text != text.strip()
    return '"' + text.replace('"', '""') + '"' if special else text


def parse(path: str | Path, n: int, labels: Labels) -> Part:
    """Return the block of each vertex (n,); see `partitions.read_part`."""
    source = open_source(path)
    if source.folder:
        raise source.error("is a folder; a file is needed")
    blocks = _reader(source)(source, n, labels)
    if blocks.size != n:
        raise source.error(f"contains blocks of {blocks.size:,} vertices; {n:,} are needed")
    if n and blocks.min() < 0:
        vertex = int(np.argmax(blocks < 0))
        raise source.error(f"vertex {vertex} has block {blocks[vertex]}, but blocks begin at 0")
    if n and blocks.max() >= 2**31:
        vertex = int(np.argmax(blocks))
        raise source.error(f"vertex {vertex} has block {blocks[vertex]}, which is above 2^31 - 1")
    return blocks.astype(np.int32)


def of_pyfr(path: str, name: str, n: int) -> Part:
    """Return the rank of each element (n,) in a partitioning of PyFR's mesh file."""
    from evener.io.meshes import meshio

    source = open_source(path)
    mesh = meshio.read(source)
    marked = "partitioning "
    found = mesh.cell_data.get(marked + name)
    if found is None:
        known = [one.removeprefix(marked) for one in mesh.cell_data if one.startswith(marked)]
        there = f"There are: {', '.join(known)}." if known else "It has none for several ranks."
        raise source.error(f"has no partitioning {name!r}", hint=there)
    if len(found) != n:
        raise source.error(f"contains blocks of {len(found):,} vertices; {n:,} are needed")
    return np.asarray(found, np.int32)


def _reader(source: Source) -> Callable[[Source, int, Labels], npt.NDArray[np.int64]]:
    """Return the reader for the format of the content."""
    head = source.head.lstrip()
    if source.data.startswith(binary.MAGIC):
        return _read_binary
    if source.data.startswith(b"\x93NUMPY"):
        return _read_npy
    if source.data.startswith(b"PK"):
        return _read_npz
    if head.startswith((b"{", b"[")):
        return _read_json
    if b"FoamFile" in source.head:
        return _read_openfoam
    if head.startswith((b"$MeshFormat", b"$Comments")):
        return _read_gmsh
    if head.startswith(b"number_of_elements"):
        return _read_mfem
    first = head.split(b"\n", 1)[0]
    if b"," in first or b";" in first:
        return _read_csv
    return _read_numbers


def _read_binary(source: Source, _n: int, _: Labels) -> npt.NDArray[np.int64]:
    return binary.blocks_of(source)


def _read_npy(source: Source, n: int, _: Labels) -> npt.NDArray[np.int64]:
    try:
        array = array_of(source.data, "it")
    except InputError as error:
        raise source.error(error.message) from error
    return _blocks(source, array, n)


def _read_npz(source: Source, n: int, _: Labels) -> npt.NDArray[np.int64]:
    try:
        arrays = read_arrays(source.data, {"part"})
    except InputError as error:
        raise source.error(error.message, hint=error.hint) from error
    if not arrays:
        raise source.error("is an archive without `part`, not a plan")
    return _blocks(source, arrays["part"], n)


def _blocks(source: Source, array: npt.NDArray[Any], n: int) -> npt.NDArray[np.int64]:
    if array.shape != (n,):
        raise source.error(f"contains an array of shape {array.shape}; ({n},) is needed")
    if array.dtype.kind not in "iuf":
        raise source.error(f"contains {array.dtype}, not block numbers")
    return _whole(source, array)


def _whole(source: Source, values: Any) -> npt.NDArray[np.int64]:
    try:
        return as_integers(values, "the partition")
    except (InputError, ValueError, OverflowError, TypeError) as error:
        message = (
            error.message
            if isinstance(error, InputError)
            else "contains something other than numbers"
        )
        raise source.error(message) from error


def _read_json(source: Source, _n: int, _: Labels) -> npt.NDArray[np.int64]:
    try:
        content = loads(source.data)
    except json.JSONDecodeError as error:
        raise source.error(f"is not JSON: {error.msg}", line=error.lineno) from error
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        raise source.error("is not JSON") from error
    part = content.get("part") if isinstance(content, dict) else content
    if not isinstance(part, list):
        raise source.error("has no list `part`")
    wrong = next((i for i, block in enumerate(part) if type(block) is not int), None)
    if wrong is not None:
        raise source.error(f"entry {wrong} of `part` is not a whole number")
    return _whole(source, part)


def _read_openfoam(source: Source, _n: int, _: Labels) -> npt.NDArray[np.int64]:
    data = _COMMENT.sub(lambda match: re.sub(rb"[^\n]", b" ", match[0]), source.data)
    found = _FOAM.search(data)
    if found is None:
        raise source.error("has no complete list of numbers after its FoamFile header")
    rows = scan(source, found.start(2), found.end(2), data=data)
    if rows.values.size != int(found[1]):
        raise source.error(
            f"declares {int(found[1]):,} entries, but contains {rows.values.size:,}",
            offset=found.start(1),
        )
    return rows.integers(np.arange(rows.values.size), "a block")


def _read_mfem(source: Source, _n: int, _: Labels) -> npt.NDArray[np.int64]:
    """Read two lines of counts, then one line per element."""
    match = _MFEM.match(source.data)
    if match is None:
        raise source.error("number_of_elements and number_of_processors need numbers")
    rows = scan(source, match.end(2)).expect(int(match[1]), "elements")
    rows.columns(0, 1)
    blocks = rows.integers(rows.first[:-1], "a block")
    if (bad := np.flatnonzero(blocks >= int(match[2]))).size:
        rows.refuse(
            int(bad[0]), f"block {blocks[bad[0]]} does not exist: there are {int(match[2]):,}"
        )
    return blocks


def _read_gmsh(source: Source, _n: int, _: Labels) -> npt.NDArray[np.int64]:
    """Read the partitions of a Gmsh mesh's cells, which Gmsh numbers from 1."""
    numbers = gmsh.read(source).cell_data.get("partition")
    if numbers is None:
        raise source.error("has no partitions", hint="gmsh -part N adds partitions.")
    if (bad := np.flatnonzero(numbers < 1)).size:
        raise source.error(f"cell {bad[0]:,} (counted from 0) belongs to no partition")
    return np.asarray(numbers - 1, np.int64)


def _read_csv(source: Source, n: int, labels: Labels) -> npt.NDArray[np.int64]:
    """Read lines `vertex,block`, in any order; a heading is optional.

    A third column, the device's name, is skipped.
    """
    try:
        text = source.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise source.error("is not UTF-8 text", offset=error.start) from error
    names, blocks, places = [], [], []
    reader = csv.reader(io.StringIO(text), delimiter=";" if ";" in text.split("\n")[0] else ",")
    try:
        for row in reader:
            if not row or (reader.line_num == 1 and not _is_number(row[min(1, len(row) - 1)])):
                continue
            if len(row) not in (2, 3) or not _is_number(row[1]):
                raise source.error("a line must be a vertex and its block", line=reader.line_num)
            names.append(row[0])
            blocks.append(int(row[1]))
            places.append(reader.line_num)
    except csv.Error as error:
        raise source.error(f"is not CSV: {error}", line=reader.line_num) from error
    where = _vertices(source, names, n, labels, places)
    return _scatter(source, where, np.array(blocks, np.int64), n, np.array(places))


def _is_number(word: str) -> bool:
    return re.fullmatch(r"\s*-?\d{1,18}\s*", word, re.ASCII) is not None


def _vertices(
    source: Source, names: list[str], n: int, labels: Labels, places: list[int]
) -> npt.NDArray[np.int64]:
    """Return the vertex of each name: by label, or by number counted from 0 or 1."""
    if labels is not None:
        index = {as_text(label): vertex for vertex, label in enumerate(labels)}
        index |= {label: vertex for vertex, label in enumerate(labels)}
        found = [index.get(name, index.get(name.strip(), -1)) for name in names]
        if -1 in found:
            row = found.index(-1)
            raise source.error(f"vertex {names[row]!r} does not exist", line=places[row])
        return np.array(found, np.int64)
    for name, line in zip(names, places, strict=True):
        if not _is_number(name):
            hint = "Vertex names need the labels of the graph."
            raise source.error(f"{name!r} is not a vertex number", line=line, hint=hint)
    return _from_zero(np.array([int(name) for name in names], np.int64), n)


def _from_zero(numbers: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.int64]:
    one_based = numbers.size > 0 and numbers.min() == 1 and numbers.max() == n
    return numbers - 1 if one_based else numbers


def _scatter(
    source: Source,
    vertices: npt.NDArray[np.int64],
    blocks: npt.NDArray[np.int64],
    n: int,
    lines: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """Return the blocks in vertex order; each vertex must occur exactly once."""
    if (bad := np.flatnonzero((vertices < 0) | (vertices >= n))).size:
        message = f"vertex {vertices[bad[0]]} does not exist: there are {n:,}"
        raise source.error(message, line=int(lines[bad[0]]))
    if vertices.size != n:
        raise source.error(f"contains blocks of {vertices.size:,} vertices; {n:,} are needed")
    count = np.bincount(vertices, minlength=n)
    if n and count.max() > 1:
        row = int(np.flatnonzero(count[vertices] > 1)[-1])
        raise source.error(f"vertex {vertices[row]} appears twice", line=int(lines[row]))
    if (bad := np.flatnonzero(blocks < 0)).size:
        row = int(bad[0])
        raise source.error(f"the block {blocks[row]} is below 0", line=int(lines[row]))
    out = np.empty(n, np.int64)
    out[vertices] = blocks
    return out


def _read_numbers(source: Source, n: int, labels: Labels) -> npt.NDArray[np.int64]:
    """Read METIS's format, one block per line, or Scotch's: n, then lines of vertex and block.

    ADCIRC's partmesh.txt numbers blocks from 1; each line of SCHISM's partition.prop has a cell,
    numbered from 1, and its block.
    """
    rows = scan(source, comment=b"%")
    if not len(rows):
        raise source.error("contains no numbers")
    counts = rows.counts
    if len(rows) > 1 and counts[0] == 1 and counts[1] == 2:
        return _mapping(source, rows, n, labels)
    if len(rows) == n and (counts == 2).all():
        return _pairs(source, rows, n, labels)
    if (bad := np.flatnonzero(counts != 1)).size:
        if len(rows) == 1:  # all on one line
            return rows.integers(np.arange(rows.values.size), "a block")
        rows.refuse(int(bad[0]), f"the line has {counts[bad[0]]} numbers; one is needed")
    if len(rows) > n:
        rows.refuse(n, f"there are more lines than the {n:,} vertices")
    blocks = rows.integers(np.arange(rows.values.size), "a block")
    if (bad := np.flatnonzero(blocks < 0)).size:
        rows.refuse(int(bad[0]), f"the block {blocks[bad[0]]} is below 0")
    return blocks - 1 if source.name == "partmesh.txt" and blocks.min(initial=1) == 1 else blocks


def _mapping(source: Source, rows: FileRows, n: int, labels: Labels) -> npt.NDArray[np.int64]:
    """Return the blocks; vertices are given by the graph's labels, else by numbers from 0 or 1."""
    count = int(rows.integers(np.zeros(1, np.int64), "the number of vertices")[0])
    return _pairs(source, rows.part(1, len(rows)).expect(count, "vertices"), n, labels)


def _pairs(source: Source, body: FileRows, n: int, labels: Labels) -> npt.NDArray[np.int64]:
    """Return the blocks from lines that contain a vertex and its block."""
    pairs = body.whole_columns(0, 2, "a vertex or block")
    newlines = np.flatnonzero(source.array == 10)
    lines = np.searchsorted(newlines, body.place) + 1
    index = {label: vertex for vertex, label in enumerate(labels or ())}
    named = [index.get(str(number), -1) for number in pairs[:, 0].tolist()] if index else [-1]
    vertices = _from_zero(pairs[:, 0], n) if -1 in named else np.array(named, np.int64)
    return _scatter(source, vertices, pairs[:, 1], n, lines)
