"""Divide the graph of `evener run`: by a plan file, a policy DP, PD or C, or a new plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evener.cli.graph_options import is_its_input, read_workload
from evener.cli.kinds.edges import EdgeOptions, edge_options_of, read_edges_as
from evener.cli.machines import machine_of
from evener.cli.run_options import RunOptions
from evener.errors import InfeasibleError, InputError, NotFoundError, UsageError
from evener.files.opening import is_there

if TYPE_CHECKING:
    import numpy.typing as npt

    from evener.cli.output import Output
    from evener.graphs.directed import DirectedGraph
    from evener.graphs.graph import Graph
    from evener.io.edges import EdgeReading
    from evener.partitioning.policies.families import PolicyBlocks
    from evener.plans.edge_plan import EdgePlan
    from evener.plans.partition import Partition
    from evener.plans.plan import Plan
    from evener.platforms.platform import Platform
    from evener.running.edge_copies import Copies
    from evener.running.edge_shares import DividedEdges
    from evener.running.engine.program import Solver, VertexProgram
    from evener.running.fitting import RunBytes


OWN = "evener"  # name of the division by a plan of ours


@dataclass(frozen=True, eq=False)
class EdgeDivision:
    """An edge plan for the graph, and the copies of vertices that it makes."""

    plan: EdgePlan
    divided: DividedEdges
    copies: Copies


@dataclass(frozen=True, eq=False)
class Division:
    """Blocks for the devices of a platform, their origin, and the figures of a policy.

    made: None unless a policy made them. is_made_here: not read from a plan file. plan: the vertex
    plan that was read, or None. edges: the edge plan that was read, or None; then partition is the
    device of each vertex's master copy.
    """

    name: str
    platform: Platform
    partition: Partition
    made: PolicyBlocks | None = None
    is_made_here: bool = True
    plan: Plan | None = None
    edges: EdgeDivision | None = None

    def sentence(self) -> str:
        """Return a sentence: the CPUs' share of arcs, r (CPU / GPU seconds) per kind of machine."""
        assert self.made is not None
        share = self.made.cpu_share
        of_cpus = "" if share is None else f"CPUs' share of arcs {share:.3g}, "
        r = ", ".join(f"{one:.3g}" for one in self.made.ratios)
        return f"{self.name}: {of_cpus}r {r}."

    def to_dict(self) -> dict[str, Any]:
        """Return name, share, r of each kind of machine, and each device's bytes for --json."""
        made = self.made
        if made is None:
            return {"name": self.name}
        left = [None if isnan(part) else part for part in made.memory_left.tolist()]
        return {"name": self.name, "cpu_share": made.cpu_share, "r": list(made.ratios),
                "n_bytes": made.n_bytes.tolist(), "memory_left": left}  # fmt: skip


def policy_name(options: RunOptions) -> str | None:
    """Return the policy's name, or None. Raises UsageError if it is incomplete or given twice."""
    given = options.family is not None, options.policies is not None
    if options.policy is not None and any(given):
        raise UsageError(
            "--policy NAME does not work with --family or --policies, which it includes"
        )
    if given[0] != given[1]:
        raise UsageError(
            "--family and --policies must be given together, as in --family DP --policies OH"
        )
    return f"{options.family}-{options.policies}" if all(given) else options.policy


def refuse_with_plan(options: RunOptions) -> None:
    """Raise UsageError if both a plan file and options that replace it are given."""
    names = ("family", "policies", "policy", "ratio", "cpu_share")
    given = [f"--{name.replace('_', '-')}" for name in names if getattr(options, name) is not None]
    found = [*options.machines.given, *given]
    found += ["--no-own"] * options.no_own
    if found:
        raise UsageError(f"{found[0]} does not work with a plan, which assigns the work to devices")


def divisions_of(graph: Graph | DirectedGraph, options: RunOptions, out: Output) -> list[Division]:
    """Return the policy's blocks and, unless --no-own, the blocks of Evener's own plan for seconds.

    Without a policy, return only the blocks of Evener's own plan.
    """
    name = policy_name(options)
    platform = machine_of(options.machines, out)
    if name is None:
        return [_own(graph, platform, out)]
    from evener.partitioning.policies.families import policy_blocks

    ratio = None if options.ratio is None else _ratios(options.ratio, graph, platform)
    made = policy_blocks(graph, platform, name, ratio=ratio, cpu_share=options.cpu_share)
    found = [Division(name, platform, made.partition, made)]
    if not options.no_own:
        try:
            found.append(_own(graph, platform, out))
        except (InfeasibleError, NotFoundError) as error:
            out.note(f"note: Evener's own plan is not run for comparison: {error.message}")
    return found


def _ratios(words: str, graph: Graph | DirectedGraph, platform: Platform) -> list[float | str]:
    """Return r of each kind of machine: a number, "paper", or computed from a file of --ratio.

    A file gives r as a function of a machine's arcs.
    """
    from evener.measuring.ratio import read_ratio
    from evener.partitioning.policies.machines import machines_of

    found: list[float | str] = []
    arcs = machines_of(platform).arcs_of_kinds(graph.arcs_out().adjncy.size)
    for i, text in enumerate(words.split(",")):
        try:
            found.append(text if text == "paper" else float(text))
        except ValueError:
            if not is_there(text):
                message = f"--ratio takes a number, the word paper or a file, not {words}"
                raise UsageError(message) from None
            found.append(read_ratio(text).at(arcs[min(i, len(arcs) - 1)]))
    return found


def _own(graph: Graph | DirectedGraph, platform: Platform, out: Output) -> Division:
    """Return the blocks of Evener's plan; the weight of a vertex is its degree."""
    from evener.graphs.directed import DirectedGraph
    from evener.io.weights import degree_weights
    from evener.planning.in_memory import plan

    edges = graph.undirected() if isinstance(graph, DirectedGraph) else graph
    weighted = replace(edges, vwgt=degree_weights(graph))
    with out.progress("Planning") as progress:
        made: Plan = plan(weighted, platform, progress=progress)
    return Division(OWN, platform, made.partition)


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
    """Return the divided lines or matrix entries as edges of the graph, with their blocks."""
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
