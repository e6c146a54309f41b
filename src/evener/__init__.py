"""Evener: splits one data-parallel computation over unequal devices so that all finish together.

    import evener as ev

    plan = ev.plan("mesh.su2", "machine.toml", epsilon=0.02)
    print(plan.verdict())

Names are imported when they are first used (PEP 562).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME = {
    "Advice": "evener.advice",
    "Balancer": "evener.rebalancing.balancer",
    "Certificate": "evener.plans",
    "Connection": "evener.platforms",
    "Contract": "evener.partitions",
    "Device": "evener.platforms",
    "DeviceSpeeds": "evener.samples",
    "Enforced": "evener.partitioning.enforce",
    "Evaluation": "evener.plans",
    "EvenerError": "evener.errors",
    "Exchange": "evener.plans",
    "Graph": "evener.graphs",
    "GraphLike": "evener.accepting",
    "InfeasibleError": "evener.errors",
    "InputError": "evener.errors",
    "Level": "evener.platforms",
    "Link": "evener.platforms",
    "Mapping": "evener.partitions",
    "Mesh": "evener.meshes",
    "NotFoundError": "evener.errors",
    "Partition": "evener.partitions",
    "PartitionLike": "evener.accepting",
    "Plan": "evener.plans",
    "PlanOptions": "evener.planning_options",
    "Platform": "evener.platforms",
    "PlatformLike": "evener.accepting",
    "Prediction": "evener.plans",
    "Reading": "evener.filing",
    "Rebalancer": "evener.rebalancing.rebalancer",
    "Refined": "evener.partitioning.refine",
    "RowRebalancer": "evener.rebalancing.rows",
    "Sample": "evener.samples",
    "Sizes": "evener.sizing",
    "SpeedModel": "evener.models",
    "SpeedSizes": "evener.sizing",
    "SpeedSurface": "evener.models",
    "Tiled": "evener.tiling.methods",
    "Tiling": "evener.tilings",
    "OutputError": "evener.errors",
    "ToolError": "evener.errors",
    "UsageError": "evener.errors",
    "WORKLOADS": "evener.workloads",
    "Workload": "evener.workloads",
    "Precision": "evener.measuring.outcomes",
    "TraceLog": "evener.measuring.timers",
    "benchmark": "evener.measuring.benchmark",
    "advise": "evener.advising",
    "best_subset": "evener.sizing",
    "read_traces": "evener.measuring.traces",
    "timed": "evener.measuring.timers",
    "compare": "evener.comparing",
    "contract_for": "evener.sizing",
    "enforce": "evener.partitioning.enforce",
    "evaluate": "evener.evaluating",
    "find_workload": "evener.filing.workloads",
    "fit_model": "evener.models",
    "fit_surface": "evener.models",
    "hilbert_blocks": "evener.partitioning.geometric",
    "layered_sizes": "evener.sizing",
    "map_blocks": "evener.mapping.blocks",
    "measured_sizes": "evener.sizing",
    "partition_with": "evener.partitioning.registry",
    "plan": "evener.planning",
    "rcb_blocks": "evener.partitioning.geometric",
    "read": "evener.filing",
    "read_graph": "evener.filing",
    "read_part": "evener.filing.partitions",
    "read_plan": "evener.filing.plans",
    "read_platform": "evener.filing.platforms",
    "read_speeds": "evener.filing.speeds",
    "refine": "evener.partitioning.refine",
    "replan": "evener.replanning",
    "rib_blocks": "evener.partitioning.geometric",
    "solve_sizes": "evener.sizing",
    "target_sizes": "evener.sizing",
    "target_weights": "evener.sizing",
    "tile": "evener.tiling.methods",
    "with_curves": "evener.curved_platforms",
    "write_graph": "evener.filing",
    "write_part": "evener.filing.partitions",
    "write_plan": "evener.filing.plans",
    "write_platform": "evener.filing.platforms",
    "write_report": "evener.reporting.html",
    "write_speeds": "evener.filing.speeds",
}

# Written out: type checkers take no other for what is offered.
__all__ = [
    "WORKLOADS", "Advice", "Balancer", "Certificate", "Connection", "Contract", "Device",
    "DeviceSpeeds", "Enforced", "Evaluation", "EvenerError", "Exchange", "Graph", "GraphLike",
    "InfeasibleError", "InputError", "Level", "Link", "Mapping", "Mesh", "NotFoundError",
    "OutputError",
    "Partition", "PartitionLike", "Plan", "PlanOptions", "Platform", "PlatformLike",
    "Precision", "Prediction", "Reading", "Rebalancer", "Refined", "RowRebalancer", "Sample",
    "Sizes", "SpeedModel", "SpeedSizes", "SpeedSurface", "Tiled", "Tiling", "ToolError",
    "TraceLog", "UsageError", "Workload", "advise", "benchmark", "best_subset",
    "compare", "contract_for", "enforce", "evaluate", "find_workload", "fit_model",
    "fit_surface", "hilbert_blocks", "layered_sizes", "map_blocks", "measured_sizes",
    "partition_with", "plan", "rcb_blocks", "read", "read_graph", "read_part", "read_plan",
    "read_platform", "read_speeds", "read_traces", "refine", "replan", "rib_blocks",
    "solve_sizes", "target_sizes", "target_weights", "tile", "timed", "with_curves",
    "write_graph", "write_part", "write_plan", "write_platform", "write_report", "write_speeds",
]  # fmt: skip

if TYPE_CHECKING:
    from evener.accepting import GraphLike, PartitionLike, PlatformLike
    from evener.advice import Advice
    from evener.advising import advise
    from evener.comparing import compare
    from evener.curved_platforms import with_curves
    from evener.errors import (
        EvenerError,
        InfeasibleError,
        InputError,
        NotFoundError,
        OutputError,
        ToolError,
        UsageError,
    )
    from evener.evaluating import evaluate
    from evener.filing import Reading, read, read_graph, write_graph
    from evener.filing.partitions import read_part, write_part
    from evener.filing.plans import read_plan, write_plan
    from evener.filing.platforms import read_platform, write_platform
    from evener.filing.speeds import read_speeds, write_speeds
    from evener.filing.workloads import find_workload
    from evener.graphs import Graph
    from evener.mapping.blocks import map_blocks
    from evener.measuring.benchmark import benchmark
    from evener.measuring.outcomes import Precision
    from evener.measuring.timers import TraceLog, timed
    from evener.measuring.traces import read_traces
    from evener.meshes import Mesh
    from evener.models import SpeedModel, SpeedSurface, fit_model, fit_surface
    from evener.partitioning.enforce import Enforced, enforce
    from evener.partitioning.geometric import hilbert_blocks, rcb_blocks, rib_blocks
    from evener.partitioning.refine import Refined, refine
    from evener.partitioning.registry import partition_with
    from evener.partitions import Contract, Mapping, Partition
    from evener.planning import plan
    from evener.planning_options import PlanOptions
    from evener.plans import Certificate, Evaluation, Exchange, Plan, Prediction
    from evener.platforms import Connection, Device, Level, Link, Platform
    from evener.rebalancing.balancer import Balancer
    from evener.rebalancing.rebalancer import Rebalancer
    from evener.rebalancing.rows import RowRebalancer
    from evener.replanning import replan
    from evener.reporting.html import write_report
    from evener.samples import DeviceSpeeds, Sample
    from evener.sizing import (
        Sizes,
        SpeedSizes,
        best_subset,
        contract_for,
        layered_sizes,
        measured_sizes,
        solve_sizes,
        target_sizes,
        target_weights,
    )
    from evener.tiling.methods import Tiled, tile
    from evener.tilings import Tiling
    from evener.workloads import WORKLOADS, Workload

    __version__: str


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("evener")
    if name not in _HOME:
        raise AttributeError(f"module 'evener' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
