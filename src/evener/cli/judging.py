"""What commands print of a judged partition."""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evener.cli.values import share_below_one

if TYPE_CHECKING:
    from evener.arrays import FloatArray
    from evener.plans import Certificate, Evaluation
    from evener.platforms import Platform
    from evener.workloads import Workload


OWN = "the plan's own contract"  # what a plan is judged by, in words


def add_judging_options(parser: argparse.ArgumentParser) -> None:
    """Add --epsilon, --constraints and what an iteration does."""
    add_epsilon(parser)
    add_shares(parser)
    add_workload_options(parser)


def add_workload_options(parser: argparse.ArgumentParser) -> None:
    """Add --kernel, --overlap and --bytes-per-value."""
    parser.add_argument(
        "--kernel",
        metavar="KERNEL",
        help="what an iteration does: weights (default: by the vertex weights), spmv, jacobi, "
        "pagerank, or a file",
    )
    parser.add_argument(
        "--overlap",
        action=argparse.BooleanOptionalAction,
        help="interior vertices are computed during the exchange (default: as the kernel says)",
    )
    parser.add_argument(
        "--bytes-per-value",
        type=_bytes_per_value,
        metavar="B",
        help="what a boundary vertex sends to a neighbouring block (default: as the kernel "
        "says, 8 for those built in)",
    )


def workload_of(args: argparse.Namespace, default: Workload | None = None) -> Workload:
    """Return the workload given, or the default with the changes given."""
    from evener.filing.workloads import find_workload
    from evener.workloads import WEIGHTS

    workload = find_workload(args.kernel) if args.kernel else default or WEIGHTS
    given = {"overlap": args.overlap, "bytes_per_value": args.bytes_per_value}
    return replace(workload, **{key: v for key, v in given.items() if v is not None})


def add_shares(parser: argparse.ArgumentParser) -> None:
    """Add --constraints."""
    parser.add_argument(
        "--constraints",
        dest="shares",
        default="",
        metavar="SHARE,...",
        help="what each of several vertex weights follows: speed, memory or equal, such as "
        "speed,memory (default: speed for all)",
    )


def add_epsilon(parser: argparse.ArgumentParser) -> None:
    """Add --epsilon."""
    parser.add_argument(
        "--epsilon",
        type=share_below_one,
        default=0.03,
        metavar="E",
        help="tolerance about each target, both ways, as 0.03 or 3%% (default 0.03)",
    )


def finite(value: float | None) -> float | None:
    """Return what JSON can say: None for what is not finite."""
    return None if value is None or not math.isfinite(value) else float(value)


def fullness(certificate: Certificate) -> FloatArray:
    """(k, c) weight/target of each block; a target of nothing counts as the least there is."""
    import numpy as np

    weights = np.column_stack([certificate.weights, certificate.further])
    return np.asarray(weights / certificate.contract.table("targets").clip(1e-300))


def evaluation_to_dict(judged: Evaluation, platform: Platform) -> dict[str, Any]:
    """Return the judgement as JSON takes it; `blocks` holds one object a device."""
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


def _bytes_per_value(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1e18:
        raise argparse.ArgumentTypeError(f"{text} does not lie between 0 and 1e18")
    return value
