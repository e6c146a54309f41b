"""`evener info`: the contents of a graph, matrix or mesh file, and its oddities."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from evener.cli.graph_options import ReadOptions, add_reading_options, read_workload
from evener.cli.oddities import oddities
from evener.cli.options import options_from

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.graphs.directed import DirectedGraph
    from evener.graphs.graph import Graph
    from evener.io import Reading


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file and the reading options."""
    parser.add_argument("file", metavar="FILE", help="a mesh, matrix or graph file")
    add_reading_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Read the file, describe it, return 0."""
    reading = read_workload(args.file, options_from(args, ReadOptions), out)
    facts = describe(reading)
    out.result(facts)
    out.say(f"{args.file}: {facts['format']}")
    rows = _rows(facts, args.by) + [("odd", oddity) for oddity in facts["odd"]]
    for name, value in rows:
        out.say(f"  {name:<15}{value}", hang=15)
    return 0


def describe(reading: Reading) -> dict[str, Any]:
    """Return the facts of a graph or mesh that was read, for JSON; lengths in the file's units."""
    graph = reading.graph
    n_components, component = reading.undirected.components()
    facts: dict[str, Any] = {
        "format": reading.format,
        "n": graph.n,
        "m": graph.m,
        "degree": _spread(graph.degrees),
        **_directed_facts(reading),
        "components": n_components,
        "largest_component": _largest(component),
        "bandwidth": _bandwidth(graph),
        "vertex_weights": _weights_of(graph),
        "edge_weights": None if graph.adjwgt is None else _spread(graph.adjwgt),
        "coordinates": None if graph.coords is None else _box(graph.coords),
        "labels": graph.labels is not None,
        "bytes": graph.total_bytes,
        "bytes_per_vertex": graph.bytes_per_vertex,
        "bytes_per_edge": graph.bytes_per_edge,
        "mesh": None if reading.mesh is None else _mesh_of(reading.mesh),
    }
    facts["odd"] = oddities(graph, n_components)
    if facts["mesh"] is not None and facts["mesh"]["unused_points"]:
        facts["odd"].append(f"{facts['mesh']['unused_points']:,} points belong to no cell")
    facts["notes"] = list(reading.notes)
    facts["inputs"] = reading.inputs
    return facts


def _directed_facts(reading: Reading) -> dict[str, Any]:
    """Return further facts of a directed graph; degrees count outgoing arcs."""
    import numpy as np

    graph = reading.graph
    if graph.symmetric:
        return {}
    arcs_back = 2 * (graph.m - reading.undirected.m)
    return {
        "directed": True,
        "in_degree": _spread(np.diff(graph.arcs_in().xadj)),
        "both_ways": arcs_back,
    }


def _spread(values: Any) -> dict[str, float]:
    if values.size == 0:
        return {"min": 0, "mean": 0.0, "max": 0}
    low, high = values.min().item(), values.max().item()
    return {"min": low, "mean": float(values.mean()), "max": high}


def _largest(component: Any) -> int:
    import numpy as np

    return int(np.bincount(component).max())


def _bandwidth(graph: Graph | DirectedGraph) -> int:
    """Return the largest difference between the numbers of two neighbours."""
    import numpy as np

    v = np.flatnonzero(graph.degrees)
    if v.size == 0:
        return 0
    # Neighbours are sorted: the first or the last is the furthest.
    ends = graph.xadj[v], graph.xadj[v + 1] - 1
    return max(int(np.abs(v - graph.adjncy[end]).max()) for end in ends)


def _weights_of(graph: Graph | DirectedGraph) -> list[dict[str, float]] | None:
    """Return the spread and the total of each vertex weight; None if all weights are 1."""
    if graph.vwgt is None:
        return None
    columns = [graph.weights(i) for i in range(graph.n_constraints)]
    return [_spread(column) | {"total": column.sum().item()} for column in columns]


def _box(coords: Any) -> dict[str, Any]:
    low, high = coords.min(axis=0).tolist(), coords.max(axis=0).tolist()
    return {"dimensions": coords.shape[1], "min": low, "max": high}


def _mesh_of(mesh: Any) -> dict[str, Any]:
    import numpy as np

    from evener.graphs.mesh import POLYHEDRON, cells_called

    facts: dict[str, Any] = {
        "dimension": mesh.dim,
        "points": mesh.n_points,
        "cells": mesh.n_cells,
        "unused_points": mesh.n_unused_points,
    }
    polyhedra = np.full(mesh.n_cells, POLYHEDRON)
    kinds, counts = np.unique(getattr(mesh, "kinds", polyhedra), return_counts=True)
    facts["cell_types"] = {
        cells_called(kind): count
        for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True)
    }
    facts["cell_fields"], facts["point_fields"] = sorted(mesh.cell_data), sorted(mesh.point_data)
    return facts


def _rows(facts: dict[str, Any], by: str) -> list[tuple[str, str]]:
    graph_rows = [
        ("vertices", f"{facts['n']:,}" + ("" if facts["mesh"] is None else f", the mesh's {by}")),
        *_edge_rows(facts),
        ("components", _components_text(facts)),
        ("bandwidth", f"{facts['bandwidth']:,}"),
    ]
    weights = facts["vertex_weights"]
    texts = [f"{_spread_text(weight)}, total {weight['total']:,}" for weight in weights or []]
    graph_rows += [("vertex weight", text) for text in texts or ["1 each"]]
    edge = facts["edge_weights"]
    what = "arc weight" if facts.get("directed") else "edge weight"
    graph_rows.append((what, "1 each" if edge is None else _spread_text(edge)))
    graph_rows.append(("coordinates", _box_text(facts["coordinates"])))
    if facts["labels"]:
        graph_rows.append(("labels", "the file names its vertices"))
    costs = (
        f"{facts['bytes_per_vertex']:g} B per vertex, {facts['bytes_per_edge']:g} B per edge end"
    )
    graph_rows.append(
        ("memory", f"{facts['bytes'] / 2**20:,.1f} MiB during a computation, at {costs}")
    )
    return _mesh_rows(facts["mesh"]) + graph_rows


def _edge_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    if not facts.get("directed"):
        return [("edges", f"{facts['m']:,}"), ("degree", _spread_text(facts["degree"]))]
    return [
        ("arcs", f"{facts['m']:,}, {facts['both_ways']:,} of them with a reverse arc"),
        ("out-degree", _spread_text(facts["degree"])),
        ("in-degree", _spread_text(facts["in_degree"])),
    ]


def _mesh_rows(mesh: dict[str, Any] | None) -> list[tuple[str, str]]:
    if mesh is None:
        return []
    kinds = ", ".join(f"{count:,} {name}" for name, count in mesh["cell_types"].items())
    rows = [("cells", f"{kinds}, {mesh['dimension']}-D"), ("points", f"{mesh['points']:,}")]
    fields = ", ".join(mesh["cell_fields"] + mesh["point_fields"])
    return [*rows, ("fields", fields)] if fields else rows


def _components_text(facts: dict[str, Any]) -> str:
    if facts["components"] == 1:
        return "1"
    return f"{facts['components']:,}, the largest of {facts['largest_component']:,} vertices"


def _box_text(box: dict[str, Any] | None) -> str:
    if box is None:
        return "none"
    sides = zip(box["min"], box["max"], strict=True)
    return " x ".join(f"[{low:.6g}, {high:.6g}]" for low, high in sides)


def _spread_text(spread: dict[str, float]) -> str:
    if spread["min"] == spread["max"]:
        return f"{spread['min']:,} each"
    return f"{spread['min']:,} to {spread['max']:,}, mean {spread['mean']:,.2f}"
