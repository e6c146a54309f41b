"""How `evener run` divides a graph if its plan is an edge plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evener.cli.divisions import Division, EdgeDivision
from evener.cli.edges import EdgeOptions, edge_options_of, read_edges_as
from evener.cli.graph_options import is_its_input, read_workload
from evener.cli.run_options import RunOptions
from evener.errors import InputError, UsageError

if TYPE_CHECKING:
    import numpy.typing as npt

    from evener.cli.output import Output
    from evener.graphs.directed import DirectedGraph
    from evener.graphs.graph import Graph
    from evener.io.edges import EdgeReading
    from evener.plans.edge_plan import EdgePlan
    from evener.running.edge_shares import DividedEdges
    from evener.running.engine.program import VertexProgram
    from evener.running.engine.solver import Solver
    from evener.running.fitting import RunBytes


def edge_division(
    path: str, options: RunOptions, out: Output, *, is_rank: bool
) -> tuple[Graph | DirectedGraph, Division]:
    """Return the whole graph, and the blocks of the edge plan in the file `path`.

    is_rank: whether other processes also read the graph; then a note says so. Raises UsageError for
    options that work only with vertex plans, InputError for a plan of another graph.
    """
    from evener.io.plans.edge_plan import read_edge_plan
    from evener.plans.partition import Partition
    from evener.running.edge_copies import copies_of
    from evener.running.edge_shares import DividedEdges, dealt_edges, has_other_edges

    _refuse_with_edges(options)
    plan = read_edge_plan(path)
    if is_rank:
        out.note(f"note: each rank reads all of {options.graph}, because the plan divides edges")
    how = edge_options_of(plan, options.reading, options.graph, path)
    graph, inputs = _graph_of(plan, how, options.graph, out)
    divided = DividedEdges(plan.partition, plan.of)
    if plan.of in ("file", "matrix"):
        divided = _by_names(plan, _edges_again(how, options.graph, out), graph)
    elif has_other_edges(graph, divided):  # lines that repeat an edge, or loops
        divided = divided._replace(edges=_edges_again(how, options.graph, out).edges)
    copies = copies_of(*dealt_edges(graph, divided))
    if not is_its_input(plan, inputs):
        out.note(f"note: the plan was not made from {options.graph}")
    masters = Partition(copies.master, plan.platform.k)
    edges = EdgeDivision(plan, divided, copies)
    return graph, Division(path, plan.platform, masters, is_made_here=False, edges=edges)


def _graph_of(
    plan: EdgePlan, how: EdgeOptions, path: str, out: Output
) -> tuple[Graph | DirectedGraph, Mapping[str, str]]:
    """Return the graph in the file, directed if the plan's edges are, and its SHA-256."""
    reading = how.reading
    if plan.of in ("arcs", "matrix") and reading.directed is None:
        reading = replace(reading, directed=True)
    if plan.of == "file" and Path(path).suffix == ".npy":  # which is no format of graphs
        from evener.io.edges import graph_of_lines

        found = _edges_again(how, path, out)
        graph = graph_of_lines(found.edges, directed=bool(reading.directed))
        if graph.labels is not None:
            out.note(
                f"note: Numbers that appear in no line are not vertices; {graph.n:,} vertices "
                "remain."
            )
        return graph, found.inputs
    try:
        whole = read_workload(path, reading, out)
    except InputError as error:
        if plan.of == "matrix" and "rectangular" in error.message:
            error.hint = "Programs run on square matrices, whose rows and columns are vertices."
        raise
    return whole.graph, whole.inputs


def _edges_again(how: EdgeOptions, path: str, out: Output) -> EdgeReading:
    """Return the edges in the plan's order; notes on the file were already printed."""
    return read_edges_as(path, how, out, has_notes=False)


def _by_names(plan: EdgePlan, found: EdgeReading, graph: Graph | DirectedGraph) -> DividedEdges:
    """Return the blocks of lines or matrix entries, as edges between the graph's vertices."""
    import numpy as np

    from evener.graphs.directed import DirectedGraph
    from evener.graphs.edge_list import EdgeList, by_ends
    from evener.plans.edge_partition import EdgePartition
    from evener.running.edge_shares import DividedEdges

    of = plan.of
    if of == "file":
        of = "arcs" if isinstance(graph, DirectedGraph) else "graph"
    part = plan.partition.checked_for(found.edges).part
    u, v = (_numbers_of(end, graph) for end in found.ends)
    if of == "graph":
        u, v = np.minimum(u, v), np.maximum(u, v)
    order = by_ends(u, v)
    edges = EdgeList(graph.n, u[order], v[order])
    return DividedEdges(EdgePartition(part[order], plan.partition.k), of, edges)


def _numbers_of(names: npt.NDArray[Any], graph: Graph | DirectedGraph) -> npt.NDArray[Any]:
    """Return the numbers of vertices, given their names in the file."""
    import numpy as np

    if graph.labels is None:
        return names
    order = np.argsort(graph.labels, kind="stable")
    at = np.searchsorted(graph.labels, names, sorter=order)
    found = order[np.minimum(at, graph.n - 1)]
    if (graph.labels[found] != names).any():
        raise InputError("the graph lacks vertices that the plan's edges join")
    return np.asarray(found)


def bytes_of_division(
    edges: EdgeDivision,
    graph: Graph | DirectedGraph,
    program: VertexProgram | Solver,
    cores: list[int] | None,
) -> list[RunBytes]:
    """Return what a run allocates on each device; cores: of each device, one by default."""
    from evener.running.edge_shares import dealt_edges
    from evener.running.fitting import bytes_on_edges

    n_arcs = graph.arcs_out().adjncy.size
    dealt = dealt_edges(graph, edges.divided)
    return bytes_on_edges(*dealt, edges.copies, program, n_arcs, cores=cores)


def _refuse_with_edges(options: RunOptions) -> None:
    """Raise UsageError if an option was given that applies only when vertices are divided."""
    asked = {
        "--rebalance": options.rebalance,
        "--locality": options.locality != "off",
    }
    for name, is_asked in asked.items():
        if is_asked:
            raise UsageError(
                f"{name} works with blocks of vertices only; this plan divides edges",
                hint="`evener plan` makes blocks of vertices.",
            )
