"""`evener machine`: make a machine file (papers' machines, grids, this computer), or draw one."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING

from evener.cli.machines import checked_count, speeds_of
from evener.cli.parsing import sentence
from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.platforms.platform import Platform

TOPOLOGIES = {
    "topo1": "fast devices and slow ones",
    "topo2": "fast, middle and slow devices",
    "topo3": "4 or 8 nodes of 24 devices, 1 or 2 of them fast (K 96 or 192, F 24 or 48)",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add a subcommand for each kind of machine."""
    kinds = parser.add_subparsers(dest="machine_kind", metavar="KIND", required=True)
    for name, purpose in TOPOLOGIES.items():
        _add_topology(_kind(kinds, name, purpose), name)
    flat = _kind(kinds, "flat", "devices of given speeds, free communication")
    flat.add_argument("--speeds", required=True, metavar="S,S,...", help="as 1,1,4")
    _add_grid(_kind(kinds, "grid", "a grid of devices, neighbours joined by links"))
    _add_tree(_kind(kinds, "tree", "nodes of sockets of devices, some of them fast"))
    here = _kind(kinds, "here", "this computer: cores, sockets, memory, CUDA devices")
    here.add_argument("--measure", action="store_true", help="speeds and links as well")
    show = _kind(kinds, "show", "draw a machine file's tree", writes=False)
    show.add_argument("file", metavar="FILE", help="a machine file")


def _add_topology(parser: argparse.ArgumentParser, name: str) -> None:
    fast, rest = (24, "24 or 48") if name == "topo3" else (8, "any number up to K")
    parser.add_argument(
        "--k", type=int, default=96, metavar="K", help="devices in all (default 96)"
    )
    parser.add_argument(
        "--fast", type=int, default=fast, metavar="F", help=f"fast devices, {rest} (default {fast})"
    )
    parser.add_argument(
        "--speed",
        type=_positive_finite,
        default=16.0,
        metavar="S",
        help="speed of a fast device (default 16)",
    )
    parser.add_argument(
        "--units",
        type=int,
        metavar="N",
        help="give the devices memory: Table III's ratios, N units being 5/6 of the total",
    )
    parser.add_argument("--no-memory-caps", action="store_true", help="write no memory")
    parser.add_argument(
        "--links", action="store_true", help="add links: levels cluster and node, 24 devices a node"
    )
    if name == "topo2":
        parser.add_argument(
            "--middle",
            type=_positive_finite,
            metavar="S",
            help="speed of a middle device without memory (default 2); with it, by equation 5",
        )


def _add_grid(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--shape", required=True, metavar="NXxNY[xNZ]", help="as 4x4 or 2x2x3")
    parser.add_argument(
        "--speeds", metavar="S,S,...", help="one per device, or one for all (default 1)"
    )
    parser.add_argument(
        "--alpha-us",
        type=_not_negative,
        default=0.5,
        metavar="US",
        help="latency of a link (default 0.5)",
    )
    parser.add_argument(
        "--GB-per-s",
        type=_positive,
        default=40.0,
        metavar="GB",
        help="bandwidth of a link (default 40)",
    )


def _add_tree(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--shape", required=True, metavar="NxSxD", help="nodes x sockets x devices, as 4x2x12"
    )
    parser.add_argument(
        "--fast",
        type=int,
        default=0,
        metavar="F",
        help="fast devices in every lowest group (default 0)",
    )
    parser.add_argument(
        "--speed",
        type=_positive_finite,
        default=16.0,
        metavar="S",
        help="speed of a fast device (default 16)",
    )
    parser.add_argument(
        "--slow-speed",
        type=_positive_finite,
        default=1.0,
        metavar="S",
        help="speed of the others (default 1)",
    )


def _kind(
    kinds: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    purpose: str,
    *,
    writes: bool = True,
) -> argparse.ArgumentParser:
    parser = kinds.add_parser(name, help=purpose, description=sentence(purpose))
    if writes:
        parser.add_argument(
            "-o", "--output", metavar="FILE", help="write this file (default: print)"
        )
    # Options of every command are taken after the kind as well.
    for option in ("--json", "--quiet", "--debug"):
        parser.add_argument(
            option, action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
        )
    return parser


def _positive_finite(text: str) -> float:
    value = _positive(text)
    if value == math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not finite")
    return value


def _positive(text: str) -> float:
    value = _not_negative(text)
    if value == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not above zero")
    return value


def _not_negative(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value >= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number, zero or above")
    return value


def run(args: argparse.Namespace, out: Output) -> int:
    """Make, write or show a machine."""
    from evener.io.machines.platform_json import platform_to_dict
    from evener.io.machines.platforms import platform_to_toml, read_platform, write_platform

    if args.machine_kind == "show":
        platform = read_platform(args.file)
        out.result(platform_to_dict(platform))
        if not out.is_silent:
            from evener.cli.machine_tree import tree_lines

            out.say("\n".join(tree_lines(platform, out.width)), verbatim=True)
        return 0
    measuring = getattr(args, "measure", False)
    made = _measured(args.output, out) if measuring else platform_from(args)
    if made is None:
        return 0  # rank 0 prints and writes for all ranks
    platform = made
    if args.output is None:
        out.say(platform_to_toml(platform).rstrip("\n"), verbatim=True)
    else:
        from evener.wording import plural

        write_platform(args.output, platform)
        out.say(f"{args.output}: {plural(platform.k, 'device')}")
    out.result(platform_to_dict(platform))
    return 0


def _measured(output: str | None, out: Output) -> Platform | None:
    """Return this computer, or those of all ranks of mpiexec; None on ranks above 0."""
    from evener.files.writing import refuse_unwritable
    from evener.measuring.ranks import n_ranks

    if output is not None:
        refuse_unwritable(output)
    if n_ranks() > 1:
        return _measured_ranks(out)
    from evener.measuring.machine import measured_platform

    with out.progress("Measuring this computer") as progress:
        return measured_platform(progress, out.note)


def _measured_ranks(out: Output) -> Platform | None:
    from evener.measuring.machine import measured_ranks
    from evener.measuring.ranks import world

    comm = world()
    if comm.rank > 0:
        measured_ranks(comm, lambda step, fraction: None, lambda text: None)  # noqa: ARG005
        return None
    with out.progress("Measuring the computers of all ranks") as progress:
        return measured_ranks(comm, progress, out.note)


def platform_from(args: argparse.Namespace) -> Platform:
    """Return the machine of the kind and numbers given, none of them measured."""
    from evener.platforms.examples import PLATFORMS, flat, grid, tree

    kind = args.machine_kind
    if kind == "here":
        from evener.measuring.devices import discover_platform

        return discover_platform()
    if kind == "flat":
        return flat(speeds_of(args.speeds))
    if kind == "grid":
        from evener.platforms.platform import Link

        speeds = None if args.speeds is None else speeds_of(args.speeds)
        beta = 0.0 if args.GB_per_s == math.inf else 1 / (args.GB_per_s * 1e9)
        shape = _shape(args.shape, "NXxNY or NXxNYxNZ", "4x4 or 2x2x3", 3)
        return grid(shape, speeds=speeds, link=Link(args.alpha_us * 1e-6, beta))
    if kind == "tree":
        shape = _shape(args.shape, "NxSxD", "4x2x12", 4)
        return tree(shape, fast=args.fast, speed=args.speed, slow_speed=args.slow_speed)
    more = {"middle": args.middle} if kind == "topo2" else {}
    return PLATFORMS[kind](
        checked_count(args.k, "--k"),
        args.fast,
        args.speed,
        units=args.units,
        memory_caps=not args.no_memory_caps,
        links=args.links,
        **more,
    )


def _shape(text: str, form: str, example: str, most: int) -> list[int]:
    words = text.lower().split("x")
    if not (2 <= len(words) <= most and all(w.isascii() and w.isdigit() for w in words)):
        raise UsageError(f"--shape is {form}, as {example}; not {text!r}")
    return [int(word[:12]) for word in words]
