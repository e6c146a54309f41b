"""The options of `evener measure`: kernel, devices, loads, precision, trace files."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evener.cli.machines import speeds_of as numbers_of
from evener.cli.values import LEAST_MEMORY, count, share, size_in_bytes
from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.measuring.outcomes import Precision
    from evener.platforms.processes import Process

POINTS, MAX_ADAPTIVE, SIDE = 13, 20, 6  # default loads: of a grid; adaptive; heights, widths
BLOCK = 64  # default width of a block of gemm
BLOCKED = ("gemm", "gemm-streamed")  # kernels of blocks
TOLERANCE = 0.02  # default share by which sizes may still change when adaptive measuring ends


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the kernel, the devices, the loads, and the precision."""
    parser.add_argument(
        "kernel",
        metavar="KERNEL",
        nargs="?",
        help="spmv, jacobi, pagerank, axpy, triad, gemm, gemm-streamed (cuda), or your own as "
        "module:name; or link",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="the speeds file to write"
    )
    parser.add_argument(
        "--device", metavar="D,D,...", help="such as cpu0,cpu1 or cpu0-3,cuda0 (default: each core)"
    )
    add_processes(parser)
    parser.add_argument(
        "--between",
        choices=("cores", "threads", "ranks", "gpu"),
        help="link: what exchanges messages (default cores; ranks under mpiexec)",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--together",
        action="store_true",
        help="measure all devices of a computer at once (default)",
    )
    how.add_argument("--alone", action="store_true", help="measure one device after the other")
    _add_loads(parser)
    add_precision(parser)
    add_kernel_options(parser).add_argument(
        "--graph", metavar="FILE", help="matrix of spmv, jacobi, pagerank (default: generated)"
    )
    _add_ratio_options(parser)
    _add_trace_options(parser)


def _add_ratio_options(parser: argparse.ArgumentParser) -> None:
    """Add --ratio, its machine and how much is measured."""
    group = parser.add_argument_group("r, how many times as fast a GPU is as a CPU (pagerank)")
    group.add_argument(
        "--ratio", action="store_true",
        help="r by arcs: parts of R-MAT graphs on the two devices of --device in turn",
    )  # fmt: skip
    group.add_argument(
        "--machine", metavar="FILE", help="a machine of a CPU and a GPU to emulate, in arcs/s"
    )
    group.add_argument("--fast", action="store_true", help="smaller graphs")


def _add_loads(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("loads")
    group.add_argument(
        "--range", default="1e3:1e6", metavar="LOW:HIGH", help="loads in units (default 1e3:1e6)"
    )
    group.add_argument(
        "--second", metavar="LOW:HIGH",
        help="measure surfaces, for `evener tile`: --range are heights, these widths",
    )  # fmt: skip
    group.add_argument(
        "--points",
        type=int,
        metavar="P",
        help=f"number (default {POINTS}); with --adaptive at most (default {MAX_ADAPTIVE}); "
        f"with --second, of heights and of widths each (default {SIDE})",
    )
    group.add_argument(
        "--adaptive", action="store_true", help="choose each load where the model is least certain"
    )
    group.add_argument(
        "--n",
        type=count,
        metavar="N",
        help="adaptive, around the sizes into which N units are divided",
    )
    group.add_argument(
        "--tolerance", type=share, metavar="T",
        help=f"adaptive: end when sizes change by less than this share (default {TOLERANCE})",
    )  # fmt: skip
    group.add_argument(
        "--even", action="store_true", help="space loads evenly (default: by a constant factor)"
    )


def add_processes(parser: argparse._ActionsContainer) -> None:
    """Add --processes."""
    parser.add_argument(
        "--processes", metavar="FILE",
        help="devices, bindings and options by a process file (`evener machine processes`)",
    )  # fmt: skip


def processes_in(path: str | None, device: str | None, kernel: str) -> tuple[Process, ...]:
    """Return the processes of --processes FILE; none where it is not given.

    Raises UsageError for options that the kernel does not take.
    """
    if path is None:
        return ()
    if device is not None:
        raise UsageError("--processes says what the devices are; --device does not go along")
    from evener.io.machines.processes import read_processes
    from evener.measuring.kernels import refuse_options

    found = read_processes(path)
    for process in found:
        refuse_options(kernel, process.kind, process.options)
    return found


def add_precision(parser: argparse.ArgumentParser) -> None:
    """Add when a load is measured well enough: interval, repetitions, seconds."""
    from evener.measuring.outcomes import Precision

    default = Precision()
    group = parser.add_argument_group("when a point is measured well enough")
    group.add_argument(
        "--precision", type=share, default=default.precision, metavar="P",
        help="half the confidence interval over the mean (default 0.025)",
    )  # fmt: skip
    group.add_argument(
        "--confidence",
        type=share,
        default=default.confidence,
        metavar="C",
        help="level of that interval (default 0.95)",
    )
    group.add_argument(
        "--repetitions",
        type=int,
        default=default.repetitions,
        metavar="R",
        help="max. repetitions of a load (default 100)",
    )
    group.add_argument(
        "--time-limit", type=float, default=default.seconds, metavar="S",
        help="for all repetitions of a load (default 5); a longer one is stopped",
    )  # fmt: skip
    group.add_argument(
        "--slowest", type=float, default=default.slowest, metavar="SPEED",
        help="units/s below which a repetition is stopped (default none)",
    )  # fmt: skip


def add_kernel_options(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add what a kernel takes, apart from its matrix; return the group."""
    group = parser.add_argument_group("kernel")
    group.add_argument(
        "--block", type=int, metavar="B", help=f"gemm: width of a block (default {BLOCK})"
    )
    group.add_argument(
        "--no-transfers",
        action="store_true",
        help="time a GPU without copying operands and results",
    )
    group.add_argument(
        "--memory",
        type=size_in_bytes,
        metavar="SIZE",
        help="memory that a device may use, as 4GiB (default: its share of what is free)",
    )
    return group


def _add_trace_options(parser: argparse.ArgumentParser) -> None:
    """Add --trace, and options for what its files do not record."""
    group = parser.add_argument_group("times of a program's run, in place of a kernel")
    group.add_argument(
        "--trace", action="append", default=[], metavar="FILE",
        help="file of times: CSV, JSON Lines or Paraver's .prv; may be repeated",
    )  # fmt: skip
    group.add_argument(
        "--loads", action="append", default=[], metavar="L,L,...", help="loads of a .prv's ranks"
    )
    group.add_argument(
        "--iterations", type=int, metavar="I", help="iterations that a .prv holds (default 1)"
    )
    group.add_argument(
        "--event", type=int, metavar="TYPE", help="event that begins an iteration in a .prv"
    )


@dataclass(frozen=True)
class MeasureOptions:
    """What `evener measure` is asked for; None: not given.

    range, second: LOW:HIGH [units], as written. memory [B]: of each device. options: the kernel's.
    """

    kernel: str
    output: str
    device: str | None
    processes: str | None
    between: str | None
    together: bool
    range: str
    second: str | None
    points: int | None
    adaptive: bool
    n: int | None
    tolerance: float
    even: bool
    precision: Precision
    graph: str | None
    memory: float | None
    options: dict[str, Any]

    def loads(self) -> tuple[int, list[int]]:
        """Return how many loads are chosen adaptively, 0 for none; and the loads of the grid."""
        from evener.measuring.loads import range_of

        if self.adaptive and self.second is not None:
            raise UsageError("--second measures a grid: neither --adaptive nor --n goes with it")
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
        """Return the widths of rectangles that --second asks for."""
        from evener.measuring.loads import range_of

        assert self.second is not None
        return self._spacing(*range_of(self.second, "--second"), self.points or SIDE)

    @property
    def _spacing(self) -> Callable[[int, int, int], list[int]]:
        """What spaces loads: (low, high, how many) -> loads."""
        from evener.measuring.loads import fixed_grid, geometric_grid

        return fixed_grid if self.even else geometric_grid


@dataclass(frozen=True)
class TraceOptions:
    """Trace files of a program's run, and what they do not record; loads: of the ranks of each."""

    files: list[str]
    loads: list[list[float]]
    iterations: int | None
    event: int | None
    confidence: float


def measure_options_from(args: argparse.Namespace) -> MeasureOptions:
    """Return the options given. Raises UsageError for a memory or a precision out of range."""
    adaptive = args.adaptive or args.n is not None
    if args.tolerance is not None and not adaptive:
        raise UsageError("--tolerance goes with --adaptive or --n")
    return MeasureOptions(
        kernel=args.kernel,
        output=args.output,
        device=args.device,
        processes=args.processes,
        between=args.between,
        together=not args.alone,
        range=args.range,
        second=args.second,
        points=args.points,
        adaptive=adaptive,
        n=args.n,
        tolerance=TOLERANCE if args.tolerance is None else args.tolerance,
        even=args.even,
        precision=precision_from(args),
        graph=args.graph,
        memory=memory_from(args),
        options=kernel_options_from(args, args.kernel),
    )


def memory_from(args: argparse.Namespace) -> float | None:
    """Return --memory [B]; UsageError for less than LEAST_MEMORY, as where its unit is missing."""
    if args.memory is None:
        return None
    if args.memory < LEAST_MEMORY:
        raise UsageError(f"--memory {args.memory} is in bytes: give 1MiB or more, as 4GiB")
    return float(args.memory)


def kernel_options_from(args: argparse.Namespace, kernel: str) -> dict[str, Any]:
    """Return the kernel's own options, without its matrix."""
    if args.block is not None and kernel not in BLOCKED:
        raise UsageError("--block is of the kernel gemm")
    block = BLOCK if args.block is None else args.block
    options: dict[str, Any] = {"block": block} if kernel in BLOCKED else {}
    if kernel == "gemm-streamed" and (memory := memory_from(args)) is not None:
        options["room"] = memory
    return options | ({"transfers": False} if args.no_transfers else {})


def precision_from(args: argparse.Namespace) -> Precision:
    """Return when a point is measured well enough."""
    from evener.measuring.outcomes import Precision

    return Precision(
        args.precision,
        args.confidence,
        args.repetitions,
        args.time_limit,
        slowest=args.slowest,
    )


def trace_options_from(args: argparse.Namespace) -> TraceOptions:
    """Return the trace options given."""
    loads = [numbers_of(text, "--loads") for text in args.loads]
    return TraceOptions(args.trace, loads, args.iterations, args.event, args.confidence)
