"""Options on contract and workload; figures of an evaluated partition, printed and as JSON."""

from __future__ import annotations

import argparse
import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from evener.cli.options import add_options, option
from evener.cli.values import bytes_per_value, share_below_one

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.graphs.graph import Graph
    from evener.plans.partition import Partition
    from evener.plans.plan import Certificate, Evaluation, Plan, Rival, Stage
    from evener.plans.workload import Workload
    from evener.platforms.platform import Platform


OWN = "the plan's own contract"  # value of "judged_by" in JSON


def add_judging_options(parser: argparse.ArgumentParser) -> None:
    """Add --epsilon, --constraints and the options of the workload."""
    add_epsilon(parser)
    add_shares(parser)
    add_options(parser, WorkloadOptions)


@dataclass(frozen=True)
class WorkloadOptions:
    """Options of the workload; None if not given."""

    kernel: str | None = option(
        "workload of an iteration: weights (the vertex weights), spmv, jacobi, pagerank, or a "
        "kernel file (default: weights)",
        metavar="KERNEL",
    )
    overlap: bool | None = option(
        "compute interior vertices during the exchange (default: as the kernel states)",
        action=argparse.BooleanOptionalAction,
    )
    exchange: str | None = option(
        "vertices: a vertex sends one value to each neighbouring block; faces: one value for each "
        "cut edge (default: as the kernel states; if it states neither, faces for meshes of "
        "OpenFOAM and PyFR, vertices for others)",
        choices=("vertices", "faces"),
    )
    bytes_per_value: float | None = option(
        "bytes of each value sent (default: as the kernel states, 8 for those built in)",
        type=bytes_per_value,
        metavar="B",
    )

    def workload(self, default: Workload | None = None) -> Workload:
        """Return the workload of --kernel, or else the default, with the given options applied."""
        from evener.io.machines.workloads import find_workload
        from evener.plans.workload import WEIGHTS

        chosen = find_workload(self.kernel) if self.kernel else default or WEIGHTS
        if self.overlap is not None:
            chosen = replace(chosen, overlap=self.overlap)
        if self.bytes_per_value is not None:
            chosen = replace(chosen, bytes_per_value=self.bytes_per_value)
        if self.exchange is not None:
            chosen = replace(chosen, exchange=self.exchange)
        return chosen


def add_shares(parser: argparse.ArgumentParser) -> None:
    """Add --constraints."""
    parser.add_argument(
        "--constraints",
        dest="shares",
        default="",
        metavar="SHARE,...",
        help="with several vertex weights: divide each by speed, memory or equally (equal), "
        "such as speed,memory (default: speed for all)",
    )


def add_epsilon(parser: argparse.ArgumentParser) -> None:
    """Add --epsilon."""
    parser.add_argument(
        "--epsilon",
        type=share_below_one,
        default=0.03,
        metavar="E",
        help="tolerance around each target, such as 0.03 or 3%% (default 0.03)",
    )


def finite(value: float | None) -> float | None:
    """Return a number for JSON: None if it is not finite."""
    return None if value is None or not math.isfinite(value) else float(value)


def partition_in(file: str, graph: Graph, k: int) -> Partition:
    """Return the partition of `graph` into k blocks stored in a file of any tool."""
    from evener.errors import InputError
    from evener.io.plans.partitions import read_part
    from evener.plans.partition import Partition

    try:
        return Partition(read_part(file, graph.n, labels=graph.labels), k)
    except InputError as error:
        error.file = error.file or file
        raise


def figures_of(judged: Evaluation, platform: Platform) -> dict[str, str]:
    """Return the figures of a partition as text, with the names that every command uses."""
    from evener.wording import signed_percent, units

    return {
        "edge cut": units(judged.edge_cut),
        "total volume": f"{judged.total_volume:,}",
        "largest volume": f"{judged.max_volume:,}",
        "boundary vertices": f"{judged.boundary:,}",
        "imbalance against targets": signed_percent(judged.imbalance),
        "predicted": judged.prediction.clock(judged.prediction.makespan),
        "blocks within contract": f"{int(judged.certificate.holds.sum()):,} of {platform.k:,}",
    }


def print_time_remarks(judged: Evaluation, platform: Platform, out: Output) -> None:
    """Print remarks on predicted times, such as that speeds are relative or links are missing."""
    from evener.reporting.tables import time_remarks

    for remark in time_remarks(platform, float(judged.certificate.weights.sum())):
        out.say(remark)


def evaluation_to_dict(judged: Evaluation, platform: Platform) -> dict[str, Any]:
    """Return the figures for --json; `blocks` holds an object for each device."""
    prediction = judged.prediction
    bottleneck = platform.names[prediction.bottleneck]
    return {
        "edge_cut": _whole(judged.edge_cut),
        "max_volume": judged.max_volume,
        "total_volume": judged.total_volume,
        "boundary": judged.boundary,
        "imbalance": finite(judged.imbalance),
        "seconds": prediction.makespan,
        "bound": prediction.bound,
        "bottleneck": bottleneck,
        "hop_bytes": prediction.hop_bytes.tolist(),
        "holds": judged.holds,
        "unused": int((judged.certificate.vertices == 0).sum()),
        "blocks": [_block(judged, platform, b) for b in range(platform.k)],
    }


def _block(judged: Evaluation, platform: Platform, b: int) -> dict[str, Any]:
    certificate, prediction = judged.certificate, judged.prediction
    contract = certificate.contract
    return {
        "device": platform.names[b],
        "weight": _whole(certificate.weights[b]),
        "low": _whole(contract.low[b]),
        "target": float(contract.targets[b]),
        "high": _whole(contract.high[b]),
        "vertices": int(certificate.vertices[b]),
        "bytes": _whole(certificate.bytes[b]),
        "cap": finite(contract.caps[b]),
        "boundary": int(certificate.boundary[b]),
        "components": int(certificate.components[b]),
        "neighbours": int(certificate.neighbours[b]),
        "volume": int(certificate.volumes[b]),
        "seconds": float(prediction.seconds[b]),
        "compute_seconds": float(prediction.compute[b]),
        "communicate_seconds": float(prediction.communicate[b]),
        "contention_seconds": float(prediction.contention[b]),
        "fixed_seconds": float(prediction.fixed[b]),
        "overlapped_seconds": float(prediction.overlapped[b]),
        "delay_seconds": float(prediction.delay[b]),
        "holds": bool(certificate.holds[b]),
        **({"further": _further(certificate, b)} if contract.further else {}),
    }


def _further(certificate: Certificate, b: int) -> list[dict[str, Any]]:
    """Return the block's further weights and their limits, one object each."""
    return [
        {
            "shared_by": one.by,
            "weight": _whole(certificate.further[b, i]),
            "low": _whole(one.low[b]),
            "target": float(one.targets[b]),
            "high": _whole(one.high[b]),
        }
        for i, one in enumerate(certificate.contract.further)
    ]


def _whole(value: float) -> int | float:
    return int(value) if float(value).is_integer() else float(value)


# A rival of a plan: another tool's partition of the same graph.

COLUMNS = (
    *("", "edge cut", "largest volume", "total volume", "neighbours", "block/target"),
    *("predicted", "CPU s"),
)
KEYS = ("edge_cut", "max_volume", "total_volume", "neighbours")


def print_versus(made: Plan, rival: Rival, out: Output) -> None:
    """Print the figures of both tools and their ratios, or why there are none."""
    from evener.wording import percent

    if rival.stages:
        out.say("")
        out.table(COLUMNS, _rows(made, rival))
        theirs = rival.nearest.edge_cut
        if not made.is_for_seconds and theirs < made.evaluation.edge_cut:
            less = percent(1 - theirs / made.evaluation.edge_cut)
            out.say(
                f"The edge cut of {rival.tool} is {less} lower; --with {rival.tool} uses its "
                "blocks."
            )
    if rival.note:
        out.say(f"{rival.tool}: {rival.note}")


def rival_to_dict(made: Plan, rival: Rival) -> dict[str, Any]:
    """Return the rival's figures for --json; `ratios`: the plan's divided by the rival's."""
    return asdict(rival) | {"ratios": ratios(made, rival)}


def ratios(made: Plan, rival: Rival) -> dict[str, float | None]:
    """Return the plan's figures divided by those of `rival.nearest`; None for a zero divisor."""
    if not rival.stages:
        return {}
    mine, theirs = _own(made), rival.nearest
    found = {key: _over(getattr(mine, key), getattr(theirs, key)) for key in KEYS}
    seconds = _over(made.prediction.makespan, rival.seconds)
    return found | {"seconds": seconds, "cpu_seconds": _over(made.cpu_seconds, rival.cpu_seconds)}


def _rows(made: Plan, rival: Rival) -> list[list[str]]:
    from evener.plans.plan import ENFORCED
    from evener.reporting.stages import rival_name
    from evener.wording import NOTHING, ratio

    clock = made.prediction.clock
    own = clock(made.prediction.makespan)
    rows = [_figures(made.tool, _own(made), own, made.cpu_seconds)]
    repaired = any(stage.name == ENFORCED for stage in rival.stages)
    for i, stage in enumerate(rival.stages):
        # CPU time: the tool's, without repair. Predicted: after repair.
        seconds = NOTHING if stage.seconds is None else clock(stage.seconds)
        seconds = "" if repaired and i == 0 else seconds
        rows.append(
            _figures(rival_name(rival, i), stage, seconds, None if i else rival.cpu_seconds)
        )
    shown = {key: ratio(value) for key, value in ratios(made, rival).items()}
    rows.append(
        [f"{made.tool} / {rival.tool}", *(shown[key] for key in KEYS), "", shown["seconds"],
         shown["cpu_seconds"]]
    )  # fmt: skip
    return rows


def _figures(name: str, stage: Stage, seconds: str, cpu_seconds: float | None) -> list[str]:
    return [
        name,
        f"{stage.edge_cut:,.6g}",
        f"{stage.max_volume:,}",
        f"{stage.total_volume:,}",
        f"{stage.neighbours:,}",
        f"{stage.smallest:.3f} to {stage.largest:.3f}",
        seconds,
        "" if cpu_seconds is None else f"{cpu_seconds:.2f}",
    ]


def _own(made: Plan) -> Stage:
    from evener.planning.evaluate import stage_of

    return stage_of(made.tool, made.evaluation)


def _over(ours: float | None, theirs: float | None) -> float | None:
    return ours / theirs if ours is not None and theirs else None


SHOWN_CHANGES = 4  # that would help most; --json and the report have more


def say_bottleneck(
    judged: Evaluation, platform: Platform, workload: Workload, out: Output
) -> dict[str, Any]:
    """Print the bottleneck and the change that would help most, if links are stated.

    Returns both for --json.
    """
    from evener.planning.bottleneck import bottleneck_of
    from evener.reporting.headline import (
        CHANGE_COLUMNS,
        bottleneck_dict,
        bottleneck_sentence,
        change_rows,
    )

    slowest = bottleneck_of(judged, platform, workload)
    if platform.has_links:
        out.say(bottleneck_sentence(slowest))
        rows = change_rows(slowest, SHOWN_CHANGES)
        if rows:
            out.table(list(CHANGE_COLUMNS), [list(row) for row in rows])
    return bottleneck_dict(slowest)
