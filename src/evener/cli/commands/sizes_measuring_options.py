"""The options of `evener sizes --measure KERNEL --dynamic`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field

from evener.cli.commands.measure_options import (
    BLOCK,
    DeviceOptions,
    KernelOptions,
    add_precision,
)
from evener.cli.options import add_options, option, options_from
from evener.cli.values import count
from evener.errors import UsageError
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


def given_from(args: argparse.Namespace, options: Sequence[str]) -> list[str]:
    """Return those of the options that are given, as they are written."""
    return [f"--{name.replace('_', '-')}" for name in options if getattr(args, name)]


def matrix_block_from(args: argparse.Namespace) -> int:
    """Return the side of the blocks of --matrix; UsageError for what does not go with it."""
    if not args.hierarchical:
        raise UsageError(
            "--matrix works with --hierarchical only: nodes first, then the devices of each",
            hint="`evener tile` divides a matrix over all devices at once.",
        )
    _refuse("does not work with --matrix", *given_from(args, ("n", "graph", "edges")))
    block = BLOCK if args.block is None else int(args.block)
    if args.matrix < 1 or not 1 <= block <= args.matrix:
        raise UsageError(f"a matrix of side {args.matrix} has no blocks of side {block}")
    return block


def _refuse(why: str, *given: str) -> None:
    if given:
        raise UsageError(f"{given[0]} {why}")


@dataclass(frozen=True)
class MeasuringOptions(DeviceOptions):
    """What `--measure --dynamic` is asked for; None: not given."""

    measure: str = option(
        "spmv, jacobi, pagerank, axpy, triad, gemm, or your own as module:name", metavar="KERNEL"
    )
    dynamic: bool = option(
        "with --measure: measure, size anew, measure, until times agree to --epsilon (DPA)",
        default=False,
    )
    max_steps: int | None = option(
        "maximum number of measurements (default 40)", type=count, metavar="S"
    )
    output: str | None = option(
        "write the samples as a speeds file; FILE.journal is kept until all is done",
        "-o",
        "--output",
        metavar="FILE",
    )
    epsilon: float = 0.03
    method: str = "auto"
    low: str | None = None
    high: str | None = None
    own: KernelOptions = field(default_factory=KernelOptions)
    precision: Precision = field(default_factory=Precision)


def add_measuring_options(parser: argparse.ArgumentParser) -> None:
    """Add the kernel that is measured, the devices, and when a step is measured well enough."""
    group = parser.add_argument_group("by measuring this computer, or all ranks of mpiexec")
    add_options(group, MeasuringOptions)
    add_precision(parser)
    add_options(parser, KernelOptions)


def measuring_options_from(args: argparse.Namespace) -> MeasuringOptions | None:
    """Return the options given; None where nothing is to be measured.

    Raises UsageError for options that go with others, and for numbers out of range.
    """
    if args.measure is None and not args.dynamic:
        alone = [name for name in ALONE if name != "block" or args.matrix is None]
        _refuse("works with --measure KERNEL --dynamic only", *given_from(args, alone))
        return None
    if args.measure is None or not args.dynamic:
        raise UsageError(
            "--measure KERNEL and --dynamic must be given together",
            hint="`evener measure` makes a file of speeds for sizes of many loads.",
        )
    _refuse("does not work with --measure", *given_from(args, NEVER))
    if args.epsilon == 0:
        raise UsageError("--dynamic needs an --epsilon above zero, to which times must agree")
    return options_from(args, MeasuringOptions, method=args.method or "auto")
