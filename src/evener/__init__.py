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
    "Advice": "evener.plans.advice",
    "Balancer": "evener.rebalancing.balancer",
    "Certificate": "evener.plans.plan",
    "Connection": "evener.platforms.platform",
    "Contract": "evener.plans.partition",
    "CostReading": "evener.streams.readings",
    "Device": "evener.platforms.platform",
    "DeviceSpeeds": "evener.platforms.models.samples",
    "DirectedGraph": "evener.graphs.directed",
    "DistributedGraph": "evener.sliced.distributed",
    "DividedEdges": "evener.running.edge_shares",
    "EdgeComparison": "evener.planning.compare_edges",
    "EdgeList": "evener.graphs.edge_list",
    "EdgeMetrics": "evener.plans.edge_partition",
    "EdgePartition": "evener.plans.edge_partition",
    "EdgePlan": "evener.plans.edge_plan",
    "EdgeReading": "evener.io.edges",
    "EdgeShare": "evener.running.edge_shares",
    "Enforced": "evener.partitioning.enforce",
    "Evaluation": "evener.plans.plan",
    "EvenerError": "evener.errors",
    "Exchange": "evener.plans.plan",
    "Graph": "evener.graphs.graph",
    "GraphLike": "evener.io.accept",
    "Halo": "evener.running.halos",
    "InfeasibleError": "evener.errors",
    "InputError": "evener.errors",
    "Level": "evener.platforms.platform",
    "Link": "evener.platforms.platform",
    "LocalGraph": "evener.running.local_graphs",
    "MapOptions": "evener.planning.stream",
    "Mapping": "evener.plans.partition",
    "Mesh": "evener.graphs.mesh",
    "NotFoundError": "evener.errors",
    "OutputError": "evener.errors",
    "Partition": "evener.plans.partition",
    "PartitionLike": "evener.io.accept",
    "Plan": "evener.plans.plan",
    "PlanOptions": "evener.planning.options",
    "Platform": "evener.platforms.platform",
    "PlatformLike": "evener.io.accept",
    "Precision": "evener.measuring.outcomes",
    "Prediction": "evener.plans.plan",
    "ProgramRun": "evener.running.program_run",
    "RankPlan": "evener.plans.rank_plan",
    "Reading": "evener.io",
    "Rebalancer": "evener.rebalancing.rebalancer",
    "Refined": "evener.partitioning.refine",
    "RowBlock": "evener.doors.matrices",
    "RowRebalancer": "evener.rebalancing.row_rebalancer",
    "Sample": "evener.platforms.models.samples",
    "Sizes": "evener.sizing",
    "SpeedModel": "evener.platforms.models.fitting",
    "SpeedSizes": "evener.sizing",
    "SpeedSurface": "evener.platforms.models.fitting",
    "SplitOptions": "evener.planning.split",
    "StreamChannel": "evener.running.streams.program",
    "StreamComparison": "evener.planning.compare_streams",
    "StreamFilter": "evener.running.streams.program",
    "StreamGraph": "evener.graphs.stream_graph",
    "StreamPlan": "evener.plans.stream_plan",
    "StreamProgram": "evener.running.streams.program",
    "StreamRun": "evener.running.streams.results",
    "StreamWatch": "evener.running.streams.executing",
    "Tiled": "evener.sizing.tiling.methods",
    "Tiling": "evener.plans.tiling",
    "ToolError": "evener.errors",
    "TraceLog": "evener.measuring.traces",
    "UsageError": "evener.errors",
    "VertexProgram": "evener.running.engine.program",
    "WORKLOADS": "evener.plans.workload",
    "Workload": "evener.plans.workload",
    "advise": "evener.planning.advise.advise",
    "benchmark": "evener.measuring.benchmark",
    "best_subset": "evener.sizing",
    "calibrate_stream": "evener.running.streams.between_cores",
    "compare": "evener.planning.compare",
    "compare_edges": "evener.planning.compare_edges",
    "compare_filters": "evener.planning.compare_streams",
    "contract_for": "evener.sizing",
    "distribute": "evener.running.distributing",
    "edge_metrics": "evener.plans.edge_partition",
    "edge_shares": "evener.running.edge_shares",
    "emulate_stream": "evener.streams.emulating",
    "enforce": "evener.partitioning.enforce",
    "evaluate": "evener.planning.evaluate",
    "evaluate_edges": "evener.planning.evaluate_edges",
    "evaluate_filters": "evener.planning.stream",
    "find_workload": "evener.io.machines.workloads",
    "fit_model": "evener.platforms.models.fitting",
    "fit_surface": "evener.platforms.models.fitting",
    "hilbert_blocks": "evener.partitioning.initial.geometric",
    "layered_sizes": "evener.sizing",
    "local_graph": "evener.running.distributing",
    "map_blocks": "evener.partitioning.mapping.blocks",
    "map_filters": "evener.planning.stream",
    "measure_filters": "evener.running.streams.in_turn",
    "measured_sizes": "evener.sizing",
    "partition_with": "evener.partitioning.registry",
    "plan": "evener.planning.plan_ranks",
    "policy_blocks": "evener.partitioning.policies.families",
    "rcb_blocks": "evener.partitioning.initial.geometric",
    "read": "evener.io",
    "read_distributed": "evener.running.distributed",
    "read_edge_plan": "evener.io.plans.edge_plan",
    "read_edges": "evener.io.edges",
    "read_graph": "evener.io",
    "read_part": "evener.io.plans.partitions",
    "read_plan": "evener.io.plans.plan",
    "read_platform": "evener.io.machines.platforms",
    "read_speeds": "evener.io.machines.speeds",
    "read_stream_graph": "evener.io.dataflow.reading",
    "read_stream_plan": "evener.io.plans.stream_plan",
    "read_traces": "evener.measuring.traces",
    "refine": "evener.partitioning.refine",
    "refine_copies": "evener.splitting.refining",
    "replan": "evener.planning.plan_ranks",
    "rib_blocks": "evener.partitioning.initial.geometric",
    "run_in_turn": "evener.running.streams.in_turn",
    "run_on_edges": "evener.running.on_edges",
    "run_program": "evener.running.executing",
    "run_stream": "evener.running.streams.executing",
    "solve_sizes": "evener.sizing",
    "split": "evener.planning.split",
    "split_matrix": "evener.doors.matrices",
    "target_sizes": "evener.sizing",
    "target_weights": "evener.sizing",
    "tile": "evener.sizing.tiling.methods",
    "timed": "evener.measuring.traces",
    "with_curves": "evener.platforms.with_curves",
    "write_distributed": "evener.running.distributed",
    "write_edge_plan": "evener.io.plans.edge_plan",
    "write_edge_report": "evener.reporting.edge_report",
    "write_graph": "evener.io",
    "write_part": "evener.io.plans.partitions",
    "write_plan": "evener.io.plans.plan",
    "write_platform": "evener.io.machines.platforms",
    "write_report": "evener.reporting.html",
    "write_speeds": "evener.io.machines.speeds",
    "write_stream_graph": "evener.io.dataflow.writing",
    "write_stream_plan": "evener.io.plans.stream_plan",
    "write_stream_report": "evener.reporting.stream_report",
}

# Written out: type checkers take no other for what is offered.
__all__ = [
    "WORKLOADS",
    "Advice",
    "Balancer",
    "Certificate",
    "Connection",
    "Contract",
    "CostReading",
    "Device",
    "DeviceSpeeds",
    "DirectedGraph",
    "DistributedGraph",
    "DividedEdges",
    "EdgeComparison",
    "EdgeList",
    "EdgeMetrics",
    "EdgePartition",
    "EdgePlan",
    "EdgeReading",
    "EdgeShare",
    "Enforced",
    "Evaluation",
    "EvenerError",
    "Exchange",
    "Graph",
    "GraphLike",
    "Halo",
    "InfeasibleError",
    "InputError",
    "Level",
    "Link",
    "LocalGraph",
    "MapOptions",
    "Mapping",
    "Mesh",
    "NotFoundError",
    "OutputError",
    "Partition",
    "PartitionLike",
    "Plan",
    "PlanOptions",
    "Platform",
    "PlatformLike",
    "Precision",
    "Prediction",
    "ProgramRun",
    "RankPlan",
    "Reading",
    "Rebalancer",
    "Refined",
    "RowBlock",
    "RowRebalancer",
    "Sample",
    "Sizes",
    "SpeedModel",
    "SpeedSizes",
    "SpeedSurface",
    "SplitOptions",
    "StreamChannel",
    "StreamComparison",
    "StreamFilter",
    "StreamGraph",
    "StreamPlan",
    "StreamProgram",
    "StreamRun",
    "StreamWatch",
    "Tiled",
    "Tiling",
    "ToolError",
    "TraceLog",
    "UsageError",
    "VertexProgram",
    "Workload",
    "advise",
    "benchmark",
    "best_subset",
    "calibrate_stream",
    "compare",
    "compare_edges",
    "compare_filters",
    "contract_for",
    "distribute",
    "edge_metrics",
    "edge_shares",
    "emulate_stream",
    "enforce",
    "evaluate",
    "evaluate_edges",
    "evaluate_filters",
    "find_workload",
    "fit_model",
    "fit_surface",
    "hilbert_blocks",
    "layered_sizes",
    "local_graph",
    "map_blocks",
    "map_filters",
    "measure_filters",
    "measured_sizes",
    "partition_with",
    "plan",
    "policy_blocks",
    "rcb_blocks",
    "read",
    "read_distributed",
    "read_edge_plan",
    "read_edges",
    "read_graph",
    "read_part",
    "read_plan",
    "read_platform",
    "read_speeds",
    "read_stream_graph",
    "read_stream_plan",
    "read_traces",
    "refine",
    "refine_copies",
    "replan",
    "rib_blocks",
    "run_in_turn",
    "run_on_edges",
    "run_program",
    "run_stream",
    "solve_sizes",
    "split",
    "split_matrix",
    "target_sizes",
    "target_weights",
    "tile",
    "timed",
    "with_curves",
    "write_distributed",
    "write_edge_plan",
    "write_edge_report",
    "write_graph",
    "write_part",
    "write_plan",
    "write_platform",
    "write_report",
    "write_speeds",
    "write_stream_graph",
    "write_stream_plan",
    "write_stream_report",
]  # fmt: skip

if TYPE_CHECKING:
    from evener.doors.matrices import RowBlock, split_matrix
    from evener.errors import (
        EvenerError,
        InfeasibleError,
        InputError,
        NotFoundError,
        OutputError,
        ToolError,
        UsageError,
    )
    from evener.graphs.directed import DirectedGraph
    from evener.graphs.edge_list import EdgeList
    from evener.graphs.graph import Graph
    from evener.graphs.mesh import Mesh
    from evener.graphs.stream_graph import StreamGraph
    from evener.io import Reading, read, read_graph, write_graph
    from evener.io.accept import GraphLike, PartitionLike, PlatformLike
    from evener.io.dataflow.reading import read_stream_graph
    from evener.io.dataflow.writing import write_stream_graph
    from evener.io.edges import EdgeReading, read_edges
    from evener.io.machines.platforms import read_platform, write_platform
    from evener.io.machines.speeds import read_speeds, write_speeds
    from evener.io.machines.workloads import find_workload
    from evener.io.plans.edge_plan import read_edge_plan, write_edge_plan
    from evener.io.plans.partitions import read_part, write_part
    from evener.io.plans.plan import read_plan, write_plan
    from evener.io.plans.stream_plan import read_stream_plan, write_stream_plan
    from evener.measuring.benchmark import benchmark
    from evener.measuring.outcomes import Precision
    from evener.measuring.traces import TraceLog, read_traces, timed
    from evener.partitioning.enforce import Enforced, enforce
    from evener.partitioning.initial.geometric import hilbert_blocks, rcb_blocks, rib_blocks
    from evener.partitioning.mapping.blocks import map_blocks
    from evener.partitioning.policies.families import policy_blocks
    from evener.partitioning.refine import Refined, refine
    from evener.partitioning.registry import partition_with
    from evener.planning.advise.advise import advise
    from evener.planning.compare import compare
    from evener.planning.compare_edges import EdgeComparison, compare_edges
    from evener.planning.compare_streams import StreamComparison, compare_filters
    from evener.planning.evaluate import evaluate
    from evener.planning.evaluate_edges import evaluate_edges
    from evener.planning.options import PlanOptions
    from evener.planning.plan_ranks import plan, replan
    from evener.planning.split import SplitOptions, split
    from evener.planning.stream import MapOptions, evaluate_filters, map_filters
    from evener.plans import metrics as metrics
    from evener.plans.advice import Advice
    from evener.plans.edge_partition import EdgeMetrics, EdgePartition, edge_metrics
    from evener.plans.edge_plan import EdgePlan
    from evener.plans.partition import Contract, Mapping, Partition
    from evener.plans.plan import Certificate, Evaluation, Exchange, Plan, Prediction
    from evener.plans.rank_plan import RankPlan
    from evener.plans.stream_plan import StreamPlan
    from evener.plans.tiling import Tiling
    from evener.plans.workload import WORKLOADS, Workload
    from evener.platforms.models.fitting import SpeedModel, SpeedSurface, fit_model, fit_surface
    from evener.platforms.models.samples import DeviceSpeeds, Sample
    from evener.platforms.platform import Connection, Device, Level, Link, Platform
    from evener.platforms.with_curves import with_curves
    from evener.rebalancing.balancer import Balancer
    from evener.rebalancing.rebalancer import Rebalancer
    from evener.rebalancing.row_rebalancer import RowRebalancer
    from evener.reporting.edge_report import write_edge_report
    from evener.reporting.html import write_report
    from evener.reporting.stream_report import write_stream_report
    from evener.running.distributed import read_distributed, write_distributed
    from evener.running.distributing import distribute, local_graph
    from evener.running.edge_shares import DividedEdges, EdgeShare, edge_shares
    from evener.running.engine.program import VertexProgram
    from evener.running.executing import run_program
    from evener.running.halos import Halo
    from evener.running.local_graphs import LocalGraph
    from evener.running.on_edges import run_on_edges
    from evener.running.program_run import ProgramRun
    from evener.running.streams.between_cores import calibrate_stream
    from evener.running.streams.executing import StreamWatch, run_stream
    from evener.running.streams.in_turn import measure_filters, run_in_turn
    from evener.running.streams.program import StreamChannel, StreamFilter, StreamProgram
    from evener.running.streams.results import StreamRun
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
    from evener.sizing.tiling.methods import Tiled, tile
    from evener.sliced.distributed import DistributedGraph
    from evener.splitting.refining import refine_copies
    from evener.streams.emulating import emulate_stream
    from evener.streams.readings import CostReading

    __version__: str


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("evener")
    if name == "metrics":  # a module that the documentation has users import from here
        return import_module("evener.plans.metrics")
    if name not in _HOME:
        raise AttributeError(f"module 'evener' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
