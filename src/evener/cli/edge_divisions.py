"""What `evener run` divides a graph by where its plan is an edge plan."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evener.cli.divisions import Division, EdgeDivision
from evener.cli.edge_options import edge_options_of, read_edges_as
from evener.cli.graph_options import is_its_input, read_workload
from evener.cli.run_options import RunOptions
from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.graphs.directed import DirectedGraph
    from evener.graphs.edge_list import EdgeList
    from evener.graphs.graph import Graph
    from evener.io.edges import EdgeReading
    from evener.running.engine.program import VertexProgram
    from evener.running.engine.solver import Solver
    from evener.running.fitting import RunBytes


def edge_division(
    path: str, options: RunOptions, out: Output, *, is_rank: bool
) -> tuple[Graph | DirectedGraph, Division]:
    """Return the graph, whole, and the blocks of the edge plan in the file `path`.

    is_rank: whether other processes read the graph as well, which a note says. Raises UsageError
    for options that go with vertex plans alone, InputError for a plan of another graph.
    """
    from evener.io.plans.edge_plan import read_edge_plan
    from evener.plans.partition import Partition
    from evener.running.edge_copies import copies_of
    from evener.running.edge_shares import KINDS, DividedEdges, dealt_edges, has_other_edges

    _refuse_beside_edges(options)
    plan = read_edge_plan(path)
    if plan.of not in KINDS:
        raise UsageError(
            f"{path} divides the lines of a file, and programs run on a graph's edges or arcs",
            hint="evener split --as graph or --as arcs, without --stream, makes a plan of these.",
        )
    if is_rank:
        out.note(f"note: each rank reads all of {options.graph}: its edges are divided")
    options_of_edges = edge_options_of(plan, options.reading, options.graph, path)
    how = options_of_edges.reading
    if plan.of != "graph" and how.directed is None:
        how = replace(how, directed=True)
    reading = read_workload(options.graph, how, out)
    divided = DividedEdges(plan.partition, plan.of)
    if plan.of == "matrix":
        found = read_edges_as(options.graph, options_of_edges, out)
        divided = divided._replace(edges=_entries(found, reading.graph, path))
    elif has_other_edges(reading.graph, divided):  # lines that repeat an edge, or loops
        found = read_edges_as(options.graph, options_of_edges, out)
        divided = divided._replace(edges=found.edges)
    copies = copies_of(*dealt_edges(reading.graph, divided))
    if not is_its_input(plan, reading.inputs):
        out.note(f"note: the plan was not made from {options.graph}")
    masters = Partition(copies.master, plan.platform.k)
    edges = EdgeDivision(plan, divided, copies)
    return reading.graph, Division(path, plan.platform, masters, is_made_here=False, edges=edges)


def _entries(found: EdgeReading, graph: Graph | DirectedGraph, path: str) -> EdgeList:
    """Return the entries of a matrix as arcs between the vertices of the graph that it makes."""
    from evener.graphs.edge_list import EdgeList

    if graph.labels is not None:
        raise UsageError(f"{path} divides a matrix whose rows have names: --as arcs divides arcs")
    return EdgeList(graph.n, *found.ends)


def bytes_of_division(
    edges: EdgeDivision,
    graph: Graph | DirectedGraph,
    program: VertexProgram | Solver,
    cores: list[int] | None,
) -> list[RunBytes]:
    """Return what a run allocates on each device; cores: of each, one by default."""
    from evener.running.edge_fitting import bytes_on_edges
    from evener.running.edge_shares import dealt_edges

    n_arcs = graph.arcs_out().adjncy.size
    dealt = dealt_edges(graph, edges.divided)
    return bytes_on_edges(*dealt, edges.copies, program, n_arcs, cores=cores)


def _refuse_beside_edges(options: RunOptions) -> None:
    """Raise UsageError for options that go with blocks of vertices alone."""
    asked = {
        "--emulate": options.emulate,
        "--rebalance": options.rebalance,
        "--locality": options.locality != "off",
        "--checkpoint": options.checkpoint is not None,
        "--resume": options.resume is not None,
    }
    for name, is_asked in asked.items():
        if is_asked:
            raise UsageError(f"{name} goes with blocks of vertices, and the plan divides edges")
