"""Plans made by hand: no partitioner is needed to write about what one did."""

from dataclasses import replace

import numpy as np
import pytest

from evener.graphs.mesh import QUAD, TETRA, Mesh
from evener.planning.evaluate import evaluate
from evener.planning.in_memory import describe
from evener.plans.partition import Partition
from evener.plans.plan import Plan
from evener.platforms.platform import Device, Level, Link, Platform
from evener.sizing.contracts import contract_for
from tests.assertions import grid

LEVELS = (Level("cluster", Link(2e-6, 1e-10)), Level("node", Link(5e-7, 2.5e-11)))


def plan_of(graph, part, platform, epsilon=0.03, **fields):
    """The plan that a partitioner would have led to, had it returned `part`."""
    contract, sizes = contract_for(graph, platform, epsilon)
    judged = evaluate(graph, Partition(np.asarray(part), platform.k), platform, contract)
    usual = {
        "options": {
            "tool": "metis",
            "seed": 7,
            "workload": {"name": "weights"},
            "reading": {"by": "cells"},
        },
        "inputs": {"mesh.su2": "ab" * 32},
        "versions": {"evener": "0.1.0", "numpy": "2.0.0", "metis": "5.2.1"},
        "notes": ("12 vertices (1.00%) moved to keep every contract",),
    }
    return Plan(
        Partition(np.asarray(part), platform.k), platform, judged, sizes=sizes.sizes,
        saturated=sizes.saturated, graph=describe(graph), **(usual | fields),
    )  # fmt: skip


def without_links(plan):
    """The plan on the same devices without links: their small speeds are then relative."""
    platform = replace(plan.platform, levels=())
    ideal = platform.relative_ideal(float(plan.certificate.weights.sum()))
    assert ideal is not None
    predicted = replace(plan.prediction, ideal=ideal)
    return replace(
        plan, platform=platform, evaluation=replace(plan.evaluation, prediction=predicted)
    )


def machine(k, speeds=(1.0,), memory=None, names=None):
    """k devices on two nodes, with links."""
    names = names or [f"dev{b}" for b in range(k)]
    return Platform(
        tuple(
            Device(names[b], speeds[b % len(speeds)], memory=memory, at=f"n{b % 2}")
            for b in range(k)
        ),
        levels=LEVELS,
    )


def stripes(rows, columns, k):
    """Blocks of a grid: k vertical stripes as equal as can be."""
    return np.tile(np.arange(columns) * k // columns, rows)


def quads(rows, columns):
    """A mesh of unit squares."""
    y, x = np.mgrid[: rows + 1, : columns + 1]
    points = np.column_stack([x.ravel(), y.ravel()]).astype(float)
    first = (np.arange(rows)[:, None] * (columns + 1) + np.arange(columns)).ravel()
    corners = np.column_stack([first, first + 1, first + columns + 2, first + columns + 1])
    offsets = np.arange(0, 4 * rows * columns + 1, 4)
    return Mesh(points, offsets, corners.ravel(), np.full(rows * columns, QUAD))


def tetrahedra(n):
    """A bar of n unit cubes along x, five tetrahedra each; neighbours do not match face to face."""
    corner = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    five = np.array([[0, 1, 2, 4], [3, 2, 1, 7], [5, 4, 7, 1], [6, 7, 4, 2], [1, 2, 4, 7]])
    points = np.concatenate([corner + np.array([i, 0, 0]) for i in range(n)])
    cells = np.concatenate([five + 8 * i for i in range(n)])
    offsets = np.arange(0, 4 * len(cells) + 1, 4)
    return Mesh(points, offsets, cells.ravel(), np.full(len(cells), TETRA))


@pytest.fixture(scope="session")
def small_plan():
    """Four stripes of a 12 x 40 grid on four devices, one of them twice as fast."""
    graph = grid(12, 40)
    part = np.tile(np.repeat([0, 1, 2, 3], [16, 8, 8, 8]), 12)
    return plan_of(graph, part, machine(4, speeds=(2.0, 1.0, 1.0, 1.0), memory=1e6)), graph
