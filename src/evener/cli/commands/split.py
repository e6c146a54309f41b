"""`evener split`: divide the edges of a graph, or the entries of a matrix, over devices."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from evener.cli.judged import add_epsilon
from evener.cli.kinds.edges import (
    EdgeOptions,
    add_edge_options,
    edge_figures,
    print_blocks,
    read_edges_as,
)
from evener.cli.machines import MachineOptions, add_machine_options, machine_of
from evener.cli.options import given_options_from, options_from
from evener.cli.values import LEAST_MEMORY, count, refuse_outputs, seed, size_in_bytes
from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.planning.split_file import StreamOptions
    from evener.plans.edge_plan import EdgePlan
    from evener.platforms.platform import Platform


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("graph", metavar="GRAPH", help="a mesh, matrix or graph file")
    parser.add_argument(
        "-o",
        "--output",
        metavar="X.plan",
        help="the plan file (default: the graph's name with .plan)",
    )
    parser.add_argument(
        "--method",
        metavar="NAME",
        help="spac, spac-path, spac-ring, spac-contracted, ne, hep, "
        "stream, 2ps, hdrf, greedy, greedy-uncapped, dbh, random, order, wvp-greedy, wvp-random, "
        "bourse, mtkahypar (default spac; with --stream: stream)",
    )
    parser.add_argument(
        "--preset",
        default="default",
        choices=("fast", "default", "strong"),
        help="effort (default: default)",
    )
    add_epsilon(parser)
    parser.add_argument(
        "--seed",
        type=seed,
        default=7,
        help="random seed; the same seed gives the same result (default 7)",
    )
    parser.add_argument(
        "--order",
        default="auto",
        choices=("auto", "neighbour", "degree", "block", "coordinate"),
        help="order in which spac-path, -ring and -contracted join clones (default: by neighbour)",
    )
    parser.add_argument(
        "--stream",
        action="store_true",
        help="divide the lines of an edge list, or an .npy array (m, 2), while reading, without "
        "holding all in memory; methods: stream (default), hep, 2ps, hdrf, greedy, dbh, "
        "random, order",
    )
    parser.add_argument(
        "--buffer",
        type=count,
        metavar="EDGES",
        help="with `--stream --method stream`: edges held in memory, about 70 bytes each "
        "(default: a "
        "million, or an eighth of all)",
    )
    parser.add_argument(
        "--memory",
        type=size_in_bytes,
        metavar="SIZE",
        help="with `--stream --method hep`: memory for edges, such as 4GiB; edges between hubs "
        "stay in the file (default: hubs have 10 times the mean degree)",
    )
    add_machine_options(parser)
    add_edge_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Read, divide the edges, write the plan; print a row for each device and the verdict."""
    from evener.files.writing import refuse_binary
    from evener.io.plans.edge_plan import write_edge_plan
    from evener.planning.split import SplitOptions, split

    output = Path(args.output or f"{Path(args.graph).name.split('.')[0]}.plan")
    refuse_binary(output)
    refuse_outputs([output], [args.graph, args.machine, args.coords])
    platform = machine_of(options_from(args, MachineOptions), out)
    if args.stream:
        unused = {"preset", "order", *given_options_from(args, add_edge_options)}
        for name, flag in given_options_from(args, add_arguments).items():
            if name in unused:
                raise UsageError(f"--stream does not work with {flag}")
        made = _streamed(args.graph, platform, stream_options_from(args), output, out)
        _say(made, made.notes, output, out)
        return 0
    if args.buffer is not None or args.memory is not None:
        raise UsageError("--buffer and --memory work with --stream only")
    options = options_from(args, SplitOptions, method=args.method or "spac")
    reading = read_edges_as(args.graph, options_from(args, EdgeOptions), out)
    with out.progress("Splitting") as progress:
        progress(options.method, 0.1)
        made = split(reading, platform, options)
    write_edge_plan(output, made)
    _say(made, made.notes[len(reading.notes) :], output, out)
    return 0


def stream_options_from(args: argparse.Namespace) -> StreamOptions:
    """Return the options for dividing lines while they are read."""
    from evener.planning.split_file import StreamOptions

    if args.memory is not None and args.memory < LEAST_MEMORY:
        raise UsageError(
            f"--memory {args.memory} is in bytes, and too small: give 1MiB or more, such as 4GiB"
        )
    return options_from(args, StreamOptions, method=args.method or "stream")


def _streamed(
    path: str, platform: Platform, options: StreamOptions, output: Path, out: Output
) -> EdgePlan:
    """Divide a file's lines while they are read; write the plan."""
    from evener.files.temporary import private_folder
    from evener.files.writing import is_stdout, refusal
    from evener.io.plans.edge_plan import write_edge_plan
    from evener.planning.split_file import split_file

    parent = None if is_stdout(output) else output.absolute().parent
    with private_folder(parent) as folder, out.progress("Splitting") as progress:
        progress(options.method, 0.1)
        try:
            made = split_file(path, platform, options, part_file=folder / "part")
        except OSError as error:  # the blocks are in the plan's folder, as large as the plan
            raise refusal(error, output) from error
        write_edge_plan(output, made, level=0)
    return made


def _say(made: EdgePlan, notes: tuple[str, ...], output: Path, out: Output) -> None:
    print_blocks(made, out)
    for note in notes:
        out.note(f"note: {note}")
    out.say(made.verdict())
    out.say(f"Written: {output}")
    out.result({
        **edge_figures(made), "method": made.options["method"], "order": made.order,
        "cpu_seconds": made.cpu_seconds, "notes": list(made.notes),
        "written": str(output),
    })  # fmt: skip
