"""VTK itself reads the pieces: all cells, global ids where it looks for them, the mesh's volume."""

import json
import subprocess

import numpy as np
import pytest

import evener as ev
from evener.cli import main
from evener.cli.precompile.samples import write_samples
from tests.graphs.test_pieces import box_mesh, wedge_mesh
from tests.integrations.programs import python_beside

pytestmark = [pytest.mark.integrations, pytest.mark.slow]
# Prints what VTK finds in an index: the numbers of cells, their global ids and blocks, the measure.
READER = """
import json, sys
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter
from vtkmodules.vtkIOXML import vtkXMLPUnstructuredGridReader

reader = vtkXMLPUnstructuredGridReader()
reader.SetFileName(sys.argv[1])
reader.Update()
grid = reader.GetOutput()
sizes = vtkCellSizeFilter()
sizes.SetInputData(grid)
sizes.Update()
cells, points = grid.GetCellData(), grid.GetPointData()
print(json.dumps({
    "errors": reader.GetErrorCode(),
    "cells": vtk_to_numpy(cells.GetGlobalIds()).tolist(),
    "points": vtk_to_numpy(points.GetGlobalIds()).tolist(),
    "where": vtk_to_numpy(grid.GetPoints().GetData()).tolist(),
    "part": vtk_to_numpy(cells.GetArray("part")).tolist(),
    "size": [float(vtk_to_numpy(sizes.GetOutput().GetCellData().GetArray(name)).sum())
             for name in ("Area", "Volume")],
}))
"""


def mesh_file(folder, kind):
    """(a mesh's file, its area, its volume)."""
    if kind == "triangles":
        path = folder / "m.su2"
        words = ["generate", "triangles", "--n", "300", "-o", str(path), "--quiet"]
        assert main(words) == 0
        corners = ev.read(path).mesh.points[ev.read(path).mesh.corners.reshape(-1, 3)]
        (a, b), (c, d) = (corners[:, 1] - corners[:, 0]).T, (corners[:, 2] - corners[:, 0]).T
        return path, float(np.abs(a * d - b * c).sum() / 2), 0.0
    if kind == "polyhedra":
        write_samples(folder)
        return folder / "foam", 0.0, 2.0
    mesh = {"boxes": box_mesh, "wedges": wedge_mesh}[kind]()
    path = folder / "m.vtu"
    ev.write_part(path, np.zeros(mesh.n_cells, int), "vtu", mesh=mesh)
    return path, 0.0, {"boxes": 60.0, "wedges": 1.0}[kind]


@pytest.mark.parametrize("kind", ["triangles", "boxes", "wedges", "polyhedra"])
def test_the_pieces_together(tmp_path, kind):
    python = python_beside("vtk", "vtkmodules.vtkIOXML")
    mesh, *size = mesh_file(tmp_path, kind)
    plan, out = tmp_path / "x.plan", tmp_path / "x.pvtu"
    words = ["plan", str(mesh), "--speeds", "1,1", "--with", "rcb", "-o", str(plan), "--quiet"]
    assert main(words) == 0
    assert main(["export", str(plan), str(mesh), "--to", "pvtu", "-o", str(out), "--quiet"]) == 0
    done = subprocess.run(
        [python, "-c", READER, out], capture_output=True, text=True, check=True, timeout=100
    )
    found = {key: np.array(value) for key, value in json.loads(done.stdout).items()}
    part = ev.read_plan(plan).partition.part
    whole = ev.read(mesh).mesh.points
    assert found["errors"] == 0
    assert np.array_equal(np.sort(found["cells"]), np.arange(part.size))
    assert np.array_equal(found["part"], part[found["cells"]])
    assert np.array_equal(found["where"][:, : whole.shape[1]], whole[found["points"]])
    # VTK's faces of a wedge turn outward in its order of corners, its tetrahedra do not.
    assert np.allclose(np.abs(found["size"]), size)
