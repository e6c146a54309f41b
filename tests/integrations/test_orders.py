"""A program's mesh is the plan's where cells stand in the same order: facets are counted."""

import numpy as np
import pytest

import evener as ev
from evener.errors import InputError
from evener.graphs.generating.delaunay import triangle_mesh
from evener.graphs.mesh import Mesh
from evener.integrations.blocks import (
    blocks_of,
    blocks_of_cells,
    facets_between,
    n_devices,
    refuse_other_order,
)


def reordered(mesh, order):
    rows = mesh.corners.reshape(-1, 3)[order]
    return Mesh(mesh.points, mesh.offsets, rows.ravel(), mesh.kinds[order])


def test_another_order_is_refused():
    mesh = triangle_mesh(100, seed=31)
    plan = ev.plan(mesh, [1, 2, 5])
    blocks = blocks_of_cells(plan, mesh.n_cells, "the mesh")
    assert facets_between(blocks, mesh) == plan.evaluation.edge_cut
    refuse_other_order(blocks, mesh, "the mesh", "")
    swapped = np.argsort(plan.partition.part, kind="stable")
    with pytest.raises(
        InputError, match=r"has \d+ facets between the plan's blocks, but the plan counts \d"
    ):
        refuse_other_order(blocks, reordered(mesh, swapped), "the mesh", "")
    refuse_other_order(blocks_of(plan.partition), reordered(mesh, swapped), "the mesh", "")


def test_other_numbers_are_refused():
    with pytest.raises(InputError, match="divides 2 cells, but the mesh has 3"):
        blocks_of_cells([0, 1], 3, "the mesh")


def test_devices_are_counted():
    assert n_devices(blocks_of([0, 4, 1])) == 5
    assert n_devices(blocks_of(ev.Partition([0, 1], 7))) == 7
