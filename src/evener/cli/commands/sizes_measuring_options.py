"""The options of `evener sizes --measure KERNEL --dynamic`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evener.cli.commands.measure_options import (
    BLOCK,
    add_kernel_options,
    add_precision,
    add_processes,
    kernel_options_from,
    memory_from,
    precision_from,
)
from evener.cli.values import count
from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.measuring.outcomes import Precision

ALONE = (
    "output",
    "device",
    "processes",
    "max_steps",
    "block",
    "memory",
    "no_transfers",
)  # go with --measure
NEVER = ("matrix", "hierarchical", "fixed_seconds", "shared_seconds", "explain")  # do not


def add_measuring_options(parser: argparse.ArgumentParser) -> None:
    """Add the kernel that is measured, the devices, and when a step is measured well enough."""
    group = parser.add_argument_group("by measuring this computer, or all ranks of mpiexec")
    group.add_argument(
        "--measure", metavar="KERNEL",
        help="spmv, jacobi, pagerank, axpy, triad, gemm, or your own as module:name",
    )  # fmt: skip
    group.add_argument(
        "--dynamic", action="store_true",
        help="with --measure: measure, size anew, measure, until times agree to --epsilon (DPA)",
    )  # fmt: skip
    group.add_argument(
        "--device", metavar="D,D,...", help="such as cpu0,cpu1 or cpu0-3,cuda0 (default: each core)"
    )
    add_processes(group)
    group.add_argument(
        "--max-steps", type=count, metavar="S", help="measurements at most (default 40)"
    )
    group.add_argument(
        "-o", "--output", metavar="FILE",
        help="write the samples as a speeds file; FILE.journal is kept until all is done",
    )  # fmt: skip
    add_precision(parser)
    add_kernel_options(parser)


def given_from(args: argparse.Namespace, options: Sequence[str]) -> list[str]:
    """Return those of the options that are given, as they are written."""
    return [f"--{name.replace('_', '-')}" for name in options if getattr(args, name)]


def matrix_block_from(args: argparse.Namespace) -> int:
    """Return the side of the blocks of --matrix; UsageError for what does not go with it."""
    if not args.hierarchical:
        raise UsageError(
            "--matrix goes with --hierarchical: nodes first, then the devices of each",
            hint="`evener tile` divides a matrix over all devices at once.",
        )
    _refuse("does not go with --matrix", *given_from(args, ("n", "graph", "edges")))
    block = BLOCK if args.block is None else int(args.block)
    if args.matrix < 1 or not 1 <= block <= args.matrix:
        raise UsageError(f"a matrix of side {args.matrix} has no blocks of side {block}")
    return block


def _refuse(why: str, *given: str) -> None:
    if given:
        raise UsageError(f"{given[0]} {why}")


@dataclass(frozen=True)
class MeasuringOptions:
    """What `--measure --dynamic` is asked for; None: not given. memory [B]: of each device."""

    kernel: str
    output: str | None
    device: str | None
    processes: str | None
    epsilon: float
    method: str
    low: str | None
    high: str | None
    max_steps: int | None
    precision: Precision
    memory: float | None
    options: dict[str, Any]


def measuring_options_from(args: argparse.Namespace) -> MeasuringOptions | None:
    """Return the options given; None where nothing is to be measured.

    Raises UsageError for options that go with others, and for numbers out of range.
    """
    if args.measure is None and not args.dynamic:
        alone = [name for name in ALONE if name != "block" or args.matrix is None]
        _refuse("goes with --measure KERNEL --dynamic", *given_from(args, alone))
        return None
    if args.measure is None or not args.dynamic:
        raise UsageError(
            "--measure KERNEL and --dynamic go together",
            hint="`evener measure` makes a file of speeds for sizes of many loads.",
        )
    _refuse("does not go with --measure: sizes are by what is measured", *given_from(args, NEVER))
    if args.epsilon == 0:
        raise UsageError("--dynamic needs an --epsilon above zero: times agree to that")
    return MeasuringOptions(
        args.measure,
        args.output,
        args.device,
        args.processes,
        args.epsilon,
        args.method or "auto",
        args.low,
        args.high,
        args.max_steps,
        precision_from(args),
        memory_from(args),
        kernel_options_from(args, args.measure),
    )
