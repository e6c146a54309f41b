"""`evener plan --cut`: blocks of vertices, of edges, or the one that is predicted faster."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evener.cli.edges import EdgeOptions, edge_figures, print_blocks, read_edges_as
from evener.cli.graph_options import ReadOptions
from evener.errors import EvenerError, UsageError
from evener.files.opening import is_stdin

if TYPE_CHECKING:
    from pathlib import Path

    from evener.cli.output import Output
    from evener.graphs.edge_list import EdgeList
    from evener.graphs.graph import Graph
    from evener.planning.cuts import CutChoice
    from evener.planning.options import PlanOptions
    from evener.plans.edge_plan import EdgePlan
    from evener.plans.plan import Plan
    from evener.platforms.platform import Platform

CUTS = ("vertices", "edges", "auto")


def add_cut_option(parser: argparse.ArgumentParser) -> None:
    """Add --cut."""
    parser.add_argument(
        "--cut",
        choices=CUTS,
        default="vertices",
        help="what to divide: vertices, edges (as `evener split` does), or auto (what "
        "is predicted to be faster; prints the reason) (default vertices)",
    )


def refuse_with_cut(cut: str, graph: str, others: dict[str, str | None]) -> None:
    """Raise UsageError if an option (name -> value) was given that applies only to vertex plans."""
    if cut == "vertices":
        return
    if is_stdin(graph):
        raise UsageError(f"--cut {cut} reads the graph twice, so it must be a file")
    for name, value in others.items():
        if value is not None:
            raise UsageError(f"{name} does not work with --cut {cut}")


@dataclass(frozen=True, eq=False)
class EdgeRival:
    """The edges of a file, and a plan for them."""

    edges: EdgeList
    plan: EdgePlan

    def choice(self, made: Plan, graph: Graph) -> CutChoice:
        """Return which plan is predicted to be faster: `made`, for vertices, or this one."""
        from evener.planning.cuts import choose_cut

        return choose_cut(made, graph, self.edges, self.plan.partition)


def split_for(
    path: str, reading: ReadOptions, options: PlanOptions, platform: Platform, out: Output
) -> EdgeRival:
    """Return the edges of a file, and their plan with preset, tolerance and seed of `options`."""
    from evener.planning.split import SplitOptions, split

    found = read_edges_as(path, EdgeOptions("graph", weighted=False, reading=reading), out)
    given = SplitOptions(preset=options.preset, epsilon=options.epsilon, seed=options.seed)
    with out.progress("Splitting") as progress:
        progress(given.method, 0.1)
        return EdgeRival(found.edges, split(found, platform, given))


def without_vertices(error: EvenerError) -> str:
    """Return a sentence on why edges are divided, as vertices cannot be."""
    return f"Blocks of edges: there is no plan with blocks of vertices: {error.message}"


def write_edges(
    rival: EdgeRival, output: Path, out: Output, choice: CutChoice | None = None, reason: str = ""
) -> int:
    """Write and print the plan of edges; return the exit code. reason: why edges were chosen."""
    from evener.io.plans.edge_plan import write_edge_plan

    made = rival.plan
    if reason:
        made = replace(made, notes=(*made.notes, reason))
    write_edge_plan(output, made)
    print_blocks(made, out)
    out.say(made.verdict())
    if reason:
        out.say(reason)
    out.say(f"Written: {output}")
    cut = cut_to_dict(choice, "edges")
    out.result({**edge_figures(made), "cpu_seconds": made.cpu_seconds, "notes": list(made.notes),
                "written": [str(output)], "cut": cut})  # fmt: skip
    return 0


def cut_to_dict(choice: CutChoice | None, cut: str) -> dict[str, Any]:
    """Return for --json what is divided, and the reason if there was a choice."""
    if choice is None:
        return {"divided": cut}
    seconds = {"vertices": choice.vertices.makespan, "edges": choice.edges.makespan}
    told = {"reason": choice.reason, "sent": dict(choice.sent), "seconds": seconds}
    return {"divided": choice.cut, **told}
