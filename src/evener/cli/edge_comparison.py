"""`evener compare --edges`: methods of dividing edges side by side."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evener.cli.edge_options import EdgeOptions, edge_figures, read_edges_as
from evener.cli.options import options_from
from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.planning.compare_edges import EdgeComparison
    from evener.platforms.platform import Platform

# Options of `evener compare` that say something of blocks of vertices, and their defaults.
_OF_VERTICES = {
    "objective": "cut", "sizing": "auto", "connected": False, "mapping": True, "threads": 2,
    "time_limit": 600.0, "shares": "", "kernel": None, "overlap": None, "bytes_per_value": None,
}  # fmt: skip
_WRITTEN = {
    "shares": "constraints",
    "mapping": "no-map",
    "sizing": "method",
}  # names of options that are not their key's


@dataclass(frozen=True)
class EdgeComparisonOptions:
    """What is compared, how, and how the file is read; methods: None for all; report: a page."""

    graph: str
    methods: list[str] | None
    preset: str
    epsilon: float
    seed: int
    report: str | None
    edges: EdgeOptions = field(default_factory=EdgeOptions)

    def recorded(self) -> dict[str, Any]:
        """Return the options of all methods, as a page shows them."""
        shown = {"preset": self.preset, "epsilon": self.epsilon, "seed": self.seed}
        reading = self.edges.reading.recorded() | {"as": self.edges.of}
        return shown | {"weighted": self.edges.weighted, "reading": reading}


def edge_comparison_options_from(args: argparse.Namespace) -> EdgeComparisonOptions:
    """Return the options of a comparison of edge partitions.

    Raises UsageError for those that say something of vertices alone.
    """
    for key, default in _OF_VERTICES.items():
        if getattr(args, key) != default:
            raise UsageError(
                f"--{_WRITTEN.get(key, key).replace('_', '-')} is of divided vertices, and does "
                "not go with --edges"
            )
    methods = [name.strip() for name in args.tools.split(",")] if args.tools else None
    return options_from(args, EdgeComparisonOptions, methods=methods)


def compare_edge_methods(options: EdgeComparisonOptions, platform: Platform, out: Output) -> int:
    """Run every method with the same targets and limits; exit 0 also where one of them fails."""
    from evener.planning.compare_edges import compare_edges

    reading = read_edges_as(options.graph, options.edges, out)
    with out.progress("Comparing") as progress:
        results = compare_edges(
            reading,
            platform,
            options.methods,
            preset=options.preset,
            epsilon=options.epsilon,
            seed=options.seed,
            progress=progress,
        )
    columns = ("method", "copies", "replication", "(load/target)", "most vertices", "exchanged",
               "holds", "CPU s")  # fmt: skip
    out.table(columns, [_row(one) for one in results if one.plan is not None])
    for one in results:
        if one.note:
            out.say(f"{one.method}: {one.note}")
    if options.report is not None:
        from evener.reporting.edge_comparisons import write_edge_comparison

        write_edge_comparison(
            options.report, results, reading, platform, options=options.recorded()
        )
        out.say(f"Written: {options.report}")
    out.result({"methods": [_json(one) for one in results]})
    return 0


def _row(result: EdgeComparison) -> list[str]:
    from evener.wording import memory

    assert result.plan is not None
    metrics, relative = result.plan.metrics, result.plan.relative_loads
    return [
        result.method,
        f"{metrics.copies:,}",
        f"{metrics.replication:.3f}",
        f"{relative.min():.3f} to {relative.max():.3f}",
        f"{metrics.most_vertices:,}",
        memory(metrics.exchanged_bytes()),
        "yes" if result.plan.holds.all() else "no",
        f"{result.cpu_seconds:.2f}",
    ]


def _json(result: EdgeComparison) -> dict[str, Any]:
    figures = {} if result.plan is None else edge_figures(result.plan)
    return {
        "method": result.method,
        **figures,
        "cpu_seconds": result.cpu_seconds,
        "note": result.note,
    }
