"""Meshes of Triangle (2-D) and TetGen (3-D): points in X.node, cells in X.ele.

The first attribute of the cells is their region, stored as the field `region`.
"""

from __future__ import annotations

import numpy as np

from evener.graphs.mesh import TETRA, TRIANGLE, Mesh
from evener.io.entries import whole_where_all_are
from evener.io.meshes.rows import FileRows, make_mesh, renumber, scan
from evener.io.sources import Source

_KINDS = {(2, 3): TRIANGLE, (2, 6): 22, (3, 4): TETRA, (3, 10): 71}
_ORDER = {22: [0, 1, 2, 5, 3, 4]}  # VTK's order of Triangle's mid-edge points


def recognises(source: Source) -> bool:
    """Return whether the suffix is .node or .ele."""
    return source.suffix in (".node", ".ele") and source.is_text


def read(source: Source) -> Mesh:
    """Return the cells; either of the two files may be given."""
    stem, mine = source.name[: -len(source.suffix)], source.suffix
    beside = source.open_beside(stem + (".ele" if mine == ".node" else ".node"))
    if beside is None:
        raise source.error(f"is one half of a mesh; {stem}.node and {stem}.ele belong together")
    of_points, of_cells = (source, beside) if mine == ".node" else (beside, source)
    head, rows = _counted(of_points, "points")
    dim = head[1] if len(head) > 1 else 0
    if dim not in (2, 3):
        raise of_points.error(f"has points of {dim} dimensions, not 2 or 3", line=1)
    ids = rows.integers(rows.first[:-1], "the number of a point")
    points = rows.columns(1, 1 + dim, at_most=2**20)
    head, cells = _counted(of_cells, "cells")
    size = head[1] if len(head) > 1 else 0
    if (dim, size) not in _KINDS:
        raise of_cells.error(
            f"has cells of {size} points in {dim} dimensions, which Evener does not read", line=1
        )
    kind = _KINDS[dim, size]
    attributes = cells.columns(1 + size, 2 + size, at_most=2**20) if sum(head[2:3]) else None
    nodes = cells.whole_columns(1, 1 + size, "the number of a point", at_most=2**20)
    nodes = nodes[:, _ORDER.get(kind, range(size))]
    fields = {}
    if attributes is not None:
        fields["region"] = whole_where_all_are(attributes[:, 0])
    return make_mesh(
        source,
        points,
        np.full(len(cells), size),
        renumber(of_cells, ids, nodes.ravel()),
        np.full(len(cells), kind),
        cell_data=fields,
    )


def _counted(source: Source, what: str) -> tuple[list[int], FileRows]:
    """Return the numbers in the first line, and the rows; the first number counts the rows."""
    rows = scan(source, comment=b"#")
    if not len(rows):
        raise source.error(f"must begin with the number of {what}", line=1)
    head = rows.integers(np.arange(rows.counts[0]), "a count").tolist()
    if head[0] < 1:
        raise source.error(f"has no {what}", line=1)
    return head, rows.part(1, len(rows)).expect(head[0], what)
