"""Divide the graph of `evener run`: by a plan file, a policy DP, PD or C, or a new plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING, Any

from evener.cli.machines import machine_of
from evener.cli.run_options import RunOptions
from evener.errors import InfeasibleError, NotFoundError, UsageError
from evener.files.opening import is_there

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.graphs.directed import DirectedGraph
    from evener.graphs.graph import Graph
    from evener.partitioning.policies.families import PolicyBlocks
    from evener.plans.edge_plan import EdgePlan
    from evener.plans.partition import Partition
    from evener.plans.plan import Plan
    from evener.platforms.platform import Platform
    from evener.running.edge_copies import Copies
    from evener.running.edge_shares import DividedEdges

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
        """Return a sentence on the CPUs' share and on r of each kind of machine."""
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
    """Return the policy's name, or None. Raises UsageError for an incomplete or a second name."""
    given = options.family is not None, options.policies is not None
    if options.policy is not None and any(given):
        raise UsageError(
            "--policy NAME does not work with --family or --policies, which it stands for"
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
    """Return the policy's blocks and, unless --no-own, those of Evener's own plan for seconds.

    Without a policy, only Evener's own plan.
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
                message = f"--ratio {words}: a number, the word paper, or a file"
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
