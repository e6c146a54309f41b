"""The options of `evener measure`: kernel, devices, loads, precision."""

from __future__ import annotations

import argparse

from evener.cli.counting import count
from evener.cli.measure_settings import MOST, POINTS, SIDE
from evener.cli.tracing import add_trace_options
from evener.cli.values import share


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the kernel, the devices, the loads, and the precision."""
    parser.add_argument(
        "kernel",
        metavar="KERNEL",
        nargs="?",
        help="spmv, jacobi, pagerank, axpy, triad, gemm, or your own as module:name; or link",
    )
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="where to write")
    parser.add_argument(
        "--device", metavar="D,D,...", help="as cpu0,cpu1 or cpu0-3,cuda0 (default: each core)"
    )
    parser.add_argument(
        "--between",
        choices=("cores", "threads", "ranks", "gpu"),
        help="of link: what sends messages (default cores; ranks under mpiexec)",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--together", action="store_true", help="devices of a computer at once (the default)"
    )
    how.add_argument("--alone", action="store_true", help="one device after the other")
    _add_loads(parser)
    _add_precision(parser)
    _add_kernel_options(parser)
    add_trace_options(parser)


def _add_loads(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("loads")
    group.add_argument(
        "--range", default="1e3:1e6", metavar="LOW:HIGH", help="in units (default 1e3:1e6)"
    )
    group.add_argument(
        "--second", metavar="LOW:HIGH",
        help="surfaces: --range are heights, these widths, as evener tile wants them",
    )  # fmt: skip
    group.add_argument(
        "--points",
        type=int,
        metavar="P",
        help=f"how many (default {POINTS}); with --adaptive at most (default {MOST}); with "
        f"--second, of heights and of widths each (default {SIDE})",
    )
    group.add_argument(
        "--adaptive", action="store_true", help="each where the model is least certain"
    )
    group.add_argument(
        "--n",
        type=count,
        metavar="N",
        help="adaptive, about the sizes that N units are divided into",
    )
    group.add_argument(
        "--tolerance", type=share, default=0.02, metavar="T",
        help="adaptive: ends when sizes change by less than this share (default 0.02)",
    )  # fmt: skip
    group.add_argument(
        "--even", action="store_true", help="evenly spaced (default: each by the same factor)"
    )


def _add_precision(parser: argparse.ArgumentParser) -> None:
    from evener.measuring.outcomes import Precision

    default = Precision()
    group = parser.add_argument_group("when a point is measured well enough")
    group.add_argument(
        "--precision", type=share, default=default.precision, metavar="P",
        help="half the confidence interval's width over the mean (default 0.025)",
    )  # fmt: skip
    group.add_argument(
        "--confidence",
        type=share,
        default=default.confidence,
        metavar="C",
        help="of that interval (default 0.95)",
    )
    group.add_argument(
        "--repetitions",
        type=int,
        default=default.repetitions,
        metavar="R",
        help="at most (default 100)",
    )
    group.add_argument(
        "--time-limit", type=float, default=default.seconds, metavar="S",
        help="for one point's repetitions (default 5); what takes longer once is stopped",
    )  # fmt: skip
    group.add_argument(
        "--slowest", type=float, default=default.slowest, metavar="SPEED",
        help="units/s below which a repetition is stopped (default none)",
    )  # fmt: skip


def _add_kernel_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("kernel")
    group.add_argument(
        "--graph", metavar="FILE", help="of spmv, jacobi, pagerank: the matrix (default: made)"
    )
    group.add_argument(
        "--block", type=int, default=64, metavar="B", help="of gemm: width (default 64)"
    )
    group.add_argument(
        "--no-transfers", action="store_true", help="a GPU's operands and results stay there"
    )
    group.add_argument(
        "--memory",
        type=float,
        metavar="GIB",
        help="a device may take (default: its share of what is free)",
    )
