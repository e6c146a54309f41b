"""The options of `evener measure`: kernel, devices, loads, precision, trace files."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evener.cli.options import add_options, option, options_from
from evener.cli.values import LEAST_MEMORY, count, share, size_in_bytes
from evener.errors import UsageError
from evener.measuring.outcomes import Precision

if TYPE_CHECKING:
    from evener.platforms.processes import Process

LOADS, KERNEL = "loads", "kernel"  # titles of groups in --help
RATIO = "r, how many times as fast a GPU is as a CPU (pagerank)"
TRACE = "times of a program's run, in place of a kernel"
POINTS, MAX_ADAPTIVE, SIDE = 13, 20, 6  # default loads: of a grid; adaptive; heights, widths
BLOCK = 64  # default width of a block of gemm
BLOCKED = ("gemm", "gemm-streamed")  # kernels of blocks
TOLERANCE = 0.02  # default share by which sizes may still change when adaptive measuring ends


@dataclass(frozen=True)
class DeviceOptions:
    """The devices to measure, by name or in a process file; None: not given."""

    device: str | None = option(
        "devices, such as cpu0, cpu0-3 (one device of four cores), cuda0, cuda0@cpu5 (driven by "
        "core 5) (default: each core)",
        metavar="D,D,...",
    )
    processes: str | None = option(
        "take devices, bindings and options from a process file (`evener machine processes`)",
        metavar="FILE",
    )

    def processes_for(self, kernel: str) -> tuple[Process, ...]:
        """Return the processes of --processes FILE; none if the option is not given.

        Raises UsageError for options that the kernel does not take.
        """
        if self.processes is None:
            return ()
        if self.device is not None:
            raise UsageError("--device does not work with --processes, which names the devices")
        from evener.io.machines.processes import read_processes
        from evener.measuring.kernels import refuse_options

        found = read_processes(self.processes)
        for process in found:
            refuse_options(kernel, process.kind, process.options)
        return found


@dataclass(frozen=True)
class KernelOptions:
    """The options of a kernel, except its matrix; memory [B]: of each device."""

    block: int | None = option(
        f"width of a block of gemm, gemm-streamed (default {BLOCK})",
        type=int,
        metavar="B",
        group=KERNEL,
    )
    no_transfers: bool = option(
        "time a GPU without copying operands and results", default=False, group=KERNEL
    )
    memory: int | None = option(
        "memory that a device may use, as 4GiB (default: its share of the free memory)",
        type=size_in_bytes,
        metavar="SIZE",
        group=KERNEL,
    )

    def __post_init__(self) -> None:
        """Raise UsageError for less than LEAST_MEMORY: usually the unit is missing."""
        if self.memory is not None and self.memory < LEAST_MEMORY:
            raise UsageError(
                f"--memory {self.memory} is in bytes, and too small: give 1MiB or more, such as "
                "4GiB"
            )

    def given_to(self, kernel: str) -> dict[str, Any]:
        """Return the options in the form that the kernel takes."""
        if self.block is not None and kernel not in BLOCKED:
            raise UsageError("--block works with the kernel gemm only")
        block = BLOCK if self.block is None else self.block
        options: dict[str, Any] = {"block": block} if kernel in BLOCKED else {}
        if kernel == "gemm-streamed" and self.memory is not None:
            options["room"] = float(self.memory)
        return options | ({"transfers": False} if self.no_transfers else {})


@dataclass(frozen=True)
class MeasureOptions(DeviceOptions):
    """The options of `evener measure`; None: not given. range, second: LOW:HIGH [units]."""

    kernel: str = option(
        "spmv, jacobi, pagerank, axpy, triad, gemm, gemm-streamed (GPUs), or your own as "
        "module:name; or link",
        "kernel",
        metavar="KERNEL",
        nargs="?",
    )
    output: str = option(
        "the speeds file to write; FILE.journal is kept until all is measured",
        "-o",
        "--output",
        metavar="FILE",
        required=True,
    )
    between: str | None = option(
        "link: between what messages are exchanged (default cores; ranks under mpiexec)",
        choices=("cores", "threads", "ranks", "gpu"),
    )
    together: bool = True
    range: str = option(
        "loads in units (default 1e3:1e6)", default="1e3:1e6", metavar="LOW:HIGH", group=LOADS
    )
    second: str | None = option(
        "measure surfaces for `evener tile`: --range are the heights, --second the widths",
        metavar="LOW:HIGH",
        group=LOADS,
    )
    points: int | None = option(
        f"number of loads (default {POINTS}); with --adaptive the maximum (default "
        f"{MAX_ADAPTIVE}); with --second, the number of heights and of widths (default {SIDE})",
        type=int,
        metavar="P",
        group=LOADS,
    )
    adaptive: bool = option(
        "choose each load where the model is least certain", default=False, group=LOADS
    )
    n: int | None = option(
        "choose loads near the sizes that devices get if N units are divided",
        type=count,
        metavar="N",
        group=LOADS,
    )
    tolerance: float = option(
        f"adaptive: end when the sizes change by less than this share (default {TOLERANCE})",
        type=share,
        metavar="T",
        group=LOADS,
    )
    even: bool = option(
        "space loads evenly (default: by a constant factor)", default=False, group=LOADS
    )
    graph: str | None = option(
        "matrix of spmv, jacobi, pagerank (default: generated)", metavar="FILE"
    )
    own: KernelOptions = field(default_factory=KernelOptions)
    precision: Precision = field(default_factory=Precision)

    def loads(self) -> tuple[int, list[int]]:
        """Return the number of adaptively chosen loads, 0 for none; and the loads of the grid."""
        from evener.measuring.loads import range_of

        if self.adaptive and self.second is not None:
            raise UsageError("--second measures a grid: it does not work with --adaptive or --n")
        usual = MAX_ADAPTIVE if self.adaptive else POINTS if self.second is None else SIDE
        points = self.points if self.points is not None else usual
        if not 1 <= points <= 10_000:
            raise UsageError(f"--points must lie between 1 and 10,000, not {self.points}")
        if self.n is not None and self.n < 1:
            raise UsageError(f"--n must be one or more, not {self.n}")
        if not 0 < self.tolerance < 1:
            raise UsageError(f"--tolerance must lie in (0, 1), not {self.tolerance}")
        return points if self.adaptive else 0, self._spacing(*range_of(self.range), points)

    def widths(self) -> list[int]:
        """Return the widths of rectangles that --second requests."""
        from evener.measuring.loads import range_of

        assert self.second is not None
        return self._spacing(*range_of(self.second, "--second"), self.points or SIDE)

    @property
    def _spacing(self) -> Callable[[int, int, int], list[int]]:
        """The function that spaces loads: (low, high, number of loads) -> loads."""
        from evener.measuring.loads import fixed_grid, geometric_grid

        return fixed_grid if self.even else geometric_grid


@dataclass(frozen=True)
class RatioOptions:
    """The options of `--ratio`: kernel, devices, duration, output file."""

    ratio: bool = option(
        "measure r by arcs, for `evener run --ratio FILE`: run 10 to 90 %% of R-MAT graphs, in "
        "five random divisions, on the two devices of --device in turn",
        default=False,
        group=RATIO,
    )
    machine: str | None = option(
        "emulate this machine of a CPU and a GPU, with speeds in arcs/s",
        metavar="FILE",
        group=RATIO,
    )
    fast: bool = option(
        "R-MAT graphs of scales 12 to 14 instead of 16 to 20", default=False, group=RATIO
    )
    kernel: str = ""
    output: str = ""
    device: str | None = None


@dataclass(frozen=True)
class TraceOptions:
    """Trace files of a program's run, and facts that they do not record.

    loads: the loads of the ranks, one text for each file.
    """

    trace: Sequence[str] = option(
        "file of times: CSV, JSON Lines or Paraver's .prv; may be repeated",
        action="append",
        metavar="FILE",
        group=TRACE,
    )
    loads: Sequence[str] | None = option(
        "loads of a .prv's ranks; may be repeated", action="append", metavar="L,L,...", group=TRACE
    )
    iterations: int | None = option(
        "iterations that a .prv holds (default 1)", type=int, metavar="I", group=TRACE
    )
    event: int | None = option(
        "event that begins an iteration in a .prv", type=int, metavar="TYPE", group=TRACE
    )
    confidence: float = 0.95


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the kernel, the devices, the loads, and the precision."""
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--together",
        action="store_true",
        help="measure all devices of a computer at once (default)",
    )
    how.add_argument("--alone", action="store_true", help="measure one device after the other")
    add_options(parser, MeasureOptions)
    add_precision(parser)
    add_options(parser, KernelOptions)
    add_options(parser, RatioOptions)
    add_options(parser, TraceOptions)


def add_precision(parser: argparse.ArgumentParser) -> None:
    """Add the options for precision: interval, repetitions, seconds."""
    default = Precision()
    group = parser.add_argument_group("precision of a measured point")
    group.add_argument(
        "--precision", type=share, default=default.precision, metavar="P",
        help="repeat until half the confidence interval / the mean is at most this (default 0.025)",
    )  # fmt: skip
    group.add_argument(
        "--confidence",
        type=share,
        default=default.confidence,
        metavar="C",
        help="confidence level of the interval of --precision (default 0.95)",
    )
    group.add_argument(
        "--repetitions",
        type=int,
        default=default.repetitions,
        metavar="R",
        help="maximum number of repetitions of a load (default 100)",
    )
    group.add_argument(
        "--time-limit", dest="seconds", type=float, default=default.seconds, metavar="S",
        help="seconds for all repetitions of a load (default 5); a repetition that exceeds them is "
             "stopped",
    )  # fmt: skip
    group.add_argument(
        "--slowest", type=float, default=default.slowest, metavar="SPEED",
        help="stop repetitions that are slower than this [units/s] (default: none)",
    )  # fmt: skip


def measure_options_from(args: argparse.Namespace) -> MeasureOptions:
    """Return the options given. Raises UsageError for a memory or a precision out of range."""
    adaptive = args.adaptive or args.n is not None
    if args.tolerance is not None and not adaptive:
        raise UsageError("--tolerance works with --adaptive or --n only")
    tolerance = TOLERANCE if args.tolerance is None else args.tolerance
    return options_from(
        args, MeasureOptions, together=not args.alone, adaptive=adaptive, tolerance=tolerance
    )
