"""`evener machine`: make a machine file (papers' machines, grids, this computer), or draw one.

A machine is drawn as a text tree: levels, locations, devices; equal devices in one line.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from evener.cli.described_machines import (
    DESCRIBERS,
    add_here_arguments,
    add_slurm_arguments,
    describe_from,
)
from evener.cli.machines import checked_count, equal_runs, run_name, speeds_of
from evener.cli.parsing import sentence
from evener.cli.table_layout import wrapped
from evener.cli.values import not_negative, positive, positive_finite, refuse_outputs, sides
from evener.errors import UsageError
from evener.wording import microseconds, plural, printable

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.platforms.platform import Connection, Device, Level, Link, Platform
    from evener.running.comm import Comm


TOPOLOGIES = {
    "topo1": "fast devices and slow ones",
    "topo2": "fast, middle and slow devices",
    "topo3": "4 or 8 nodes of 24 devices, 1 or 2 of them fast (K 96 or 192, F 24 or 48)",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add a subcommand for each kind of machine."""
    kinds = parser.add_subparsers(dest="machine_kind", metavar="KIND", required=True)
    here = _kind(kinds, "here", "this computer: cores, sockets, memory, CUDA devices")
    add_here_arguments(here)
    add_slurm_arguments(_kind(kinds, "slurm", "the nodes of a Slurm cluster, by scontrol"))
    _kind(kinds, "processes", "a process file: a core for each process, or the ranks of mpiexec")
    flat = _kind(kinds, "flat", "devices of given speeds, free communication")
    flat.add_argument(
        "--speeds", required=True, metavar="S,S,...", help="speed of each device, such as 1,1,4"
    )
    _add_grid(_kind(kinds, "grid", "a grid of devices, neighbours joined by links"))
    star = _kind(kinds, "star", "devices joined to one switch")
    fat_tree = _kind(kinds, "fat-tree", "devices below switches, with wider links further up")
    for network in (star, fat_tree):
        network.add_argument(
            "--k", type=int, required=True, metavar="K", help="total number of devices"
        )
        _add_link(network)
    fat_tree.add_argument(
        "--arity",
        type=int,
        default=4,
        metavar="A",
        help="devices below each lowest switch, and switches below each higher one (default 4)",
    )
    _add_tree(_kind(kinds, "tree", "nodes of sockets of devices, some of them fast"))
    for name, purpose in TOPOLOGIES.items():
        _add_topology(_kind(kinds, name, purpose), name)
    show = _kind(kinds, "show", "draw a machine file's tree", writes=False)
    show.add_argument("file", metavar="FILE", help="a machine file")


def _add_topology(parser: argparse.ArgumentParser, name: str) -> None:
    parser.add_argument(
        "--k", type=int, default=96, metavar="K", help="number of devices (default 96)"
    )
    parser.add_argument(
        "--fast",
        type=int,
        default=24 if name == "topo3" else 8,
        metavar="F",
        help="number of fast devices (default: 8; topo3 takes only 24, the default, or 48)",
    )
    _add_fast_speed(parser)
    parser.add_argument(
        "--units",
        type=int,
        metavar="N",
        help="give devices memory in the ratios of Table III, scaled so that N units fill 5/6 of "
        "the total",
    )
    parser.add_argument("--no-memory-caps", action="store_true", help="write no memory")
    parser.add_argument(
        "--links",
        action="store_true",
        help="add links within nodes of 24 devices, and between the nodes",
    )
    if name == "topo2":
        parser.add_argument(
            "--middle",
            type=positive_finite,
            metavar="S",
            help="speed of a middle device (default 2); if devices have memory, equation 5 sets it",
        )


def _add_fast_speed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--speed",
        type=positive_finite,
        default=16.0,
        metavar="S",
        help="speed of a fast device (default 16)",
    )


def _add_grid(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--shape",
        required=True,
        metavar="NXxNY[xNZ]",
        help="devices along each axis, such as 4x4 or 2x2x3",
    )
    parser.add_argument(
        "--speeds",
        metavar="S,S,...",
        help="speeds, one per device or one for all (default: by --mips, or 1)",
    )
    parser.add_argument(
        "--torus", action="store_true", help="join the ends of each row of three or more"
    )
    _add_link(parser)


def _add_link(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--mips",
        metavar="M,M,...",
        help="for stream graphs: speeds in 10^6 instructions/s, assigned to devices in turn",
    )
    parser.add_argument(
        "--vector-length",
        metavar="L,L,...",
        help="for stream graphs: values per instruction, assigned to devices in turn",
    )
    parser.add_argument(
        "--alpha-us",
        type=not_negative,
        default=0.5,
        metavar="US",
        help="latency of a link, in microseconds (default 0.5)",
    )
    parser.add_argument(
        "--GB-per-s",
        type=positive,
        default=40.0,
        metavar="GB",
        help="bandwidth of a link (default 40)",
    )


def _add_tree(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--shape",
        required=True,
        metavar="NxSxD",
        help="nodes x devices, nodes x sockets x devices, or clusters x these",
    )
    parser.add_argument(
        "--fast",
        type=int,
        default=0,
        metavar="F",
        help="number of fast devices in each lowest group (default 0)",
    )
    _add_fast_speed(parser)
    parser.add_argument(
        "--slow-speed",
        type=positive_finite,
        default=1.0,
        metavar="S",
        help="speed of all other devices (default 1)",
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
    for option in ("--json", "--quiet", "--verbose", "--debug"):
        parser.add_argument(
            option, action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
        )
    return parser


def run(args: argparse.Namespace, out: Output) -> int:
    """Make, write or show a machine."""
    from evener.io.machines.platform_dicts import platform_to_dict
    from evener.io.machines.platforms import platform_to_toml, read_platform, write_platform
    from evener.platforms.examples import note_on_middle

    if args.machine_kind == "show":
        platform = read_platform(args.file)
        out.result(platform_to_dict(platform))
        if not out.is_silent:
            out.say("\n".join(tree_lines(platform, out.width)), verbatim=True)
        return 0
    if args.output is not None:
        refuse_outputs([args.output], [])
    if args.machine_kind == "processes":
        return _write_processes(args.output, out)
    if args.machine_kind in DESCRIBERS:
        return describe_from(args, out)
    platform = platform_from(args)
    if args.machine_kind == "topo2" and (warning := note_on_middle(platform)):
        out.note(f"note: {warning}")
    if args.output is None:
        out.say(platform_to_toml(platform).rstrip("\n"), verbatim=True)
    else:
        write_platform(args.output, platform)
        out.say(f"{args.output}: {plural(platform.k, 'device')}")
    out.result(platform_to_dict(platform))
    return 0


def _write_processes(output: str | None, out: Output) -> int:
    """Write or print the processes of this computer, or of all ranks of mpiexec."""
    from evener.io.machines.processes import process_to_dict, processes_to_toml, write_processes
    from evener.measuring.devices import processes_here
    from evener.measuring.together import one_rank
    from evener.running.launching import n_ranks, world

    comm: Comm = world() if n_ranks() > 1 else one_rank()
    found = processes_here(comm)
    if comm.rank > 0:
        return 0  # rank 0 prints and writes for all ranks
    if output is None:
        out.say(processes_to_toml(found).rstrip("\n"), verbatim=True)
    else:
        write_processes(output, found)
        out.say(f"{output}: {plural(len(found), 'process', 'processes')}")
    out.result({"processes": [process_to_dict(process) for process in found]})
    return 0


def platform_from(args: argparse.Namespace) -> Platform:
    """Return the machine of the given kind and numbers; nothing is measured."""
    from evener.platforms.examples import PLATFORMS, tree

    kind = args.machine_kind
    if kind == "flat":
        return PLATFORMS["flat"](speeds_of(args.speeds))
    if kind in ("grid", "star", "fat-tree"):
        return _network_from(args)
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


def _network_from(args: argparse.Namespace) -> Platform:
    from evener.platforms.examples import fat_tree, grid, star
    from evener.platforms.platform import Link

    beta = 0.0 if args.GB_per_s == math.inf else 1 / (args.GB_per_s * 1e9)
    link = Link(args.alpha_us * 1e-6, beta)
    columns = {
        key: speeds_of(text, option)
        for key, text, option in (
            ("mips", args.mips, "--mips"),
            ("vector_length", args.vector_length, "--vector-length"),
        )
        if text is not None
    }
    turns = math.lcm(*(len(column) for column in columns.values()))
    able = [{key: c[i % len(c)] for key, c in columns.items()} for i in range(turns)]
    if args.machine_kind == "star":
        return star(args.k, link=link, able=able)
    if args.machine_kind == "fat-tree":
        return fat_tree(args.k, args.arity, link=link, able=able)
    speeds = None if args.speeds is None else speeds_of(args.speeds)
    shape = _shape(args.shape, "NXxNY or NXxNYxNZ", "4x4 or 2x2x3", 3)
    return grid(shape, speeds=speeds, link=link, wrap=args.torus, able=able)


def _shape(text: str, form: str, example: str, most: int) -> list[int]:
    found = sides(text)
    if not 2 <= len(found) <= most or min(found) < 0:
        raise UsageError(f"--shape must be {form}, such as {example}, not {text!r}")
    return [min(side, 10**12) for side in found]  # more are refused: of any number of digits


GIB = 2.0**30
OWN = {
    "cost_per_hour": "an hour",
    "watts": "W",
    "idle_watts": "W idle",
}
MAX_LINES = 40  # below one place; further ones are counted


@dataclass
class TreeNode:
    """A line of the tree, and the lines below it."""

    text: str
    below: list[TreeNode] = field(default_factory=list)

    def add(self, text: str) -> TreeNode:
        """Add a line below this one, and return the new line."""
        self.below.append(TreeNode(text))
        return self.below[-1]


def tree_lines(platform: Platform, width: int | None = None) -> list[str]:
    """Return the lines of the tree: locations, devices as leaves, then links between pairs.

    width: of the terminal, or None if lines may be of any length.
    """
    title = platform.name or "machine"
    root = TreeNode(f"{title}: {plural(platform.k, 'device')}{_level_note(platform, 0)}")
    _fill(root, platform, platform.devices, 0)
    if platform.connections:
        links = root.add(plural(len(platform.connections), "link"))
        lines = (
            f"{' - '.join(map(printable, c.between))}: {link_text(c.link)}{_shared(c)}"
            for c in platform.connections
        )
        _add_some(links, lines, len(platform.connections), "links")
    return _drawn(root, "", "", width)


def _drawn(node: TreeNode, before: str, further: str, width: int | None) -> list[str]:
    """Return the lines of a node and its subtree.

    Each line has a prefix: the first `before`, the others `further`.
    """
    room = None if width is None else max(width - len(before), 16)
    parts = [node.text] if room is None else wrapped(node.text, room, 0)
    bar = "│   " if node.below else ""
    lines = [before + parts[0], *(further + bar + part for part in parts[1:])]
    for i, child in enumerate(node.below):
        corner, side = ("└── ", "    ") if i == len(node.below) - 1 else ("├── ", "│   ")
        lines += _drawn(child, further + corner, further + side, width)
    return lines


def link_text(link: Link) -> str:
    """Return latency and bandwidth of a link, in the units of machine files."""
    if link.alpha == 0 and link.beta == 0:
        return "free"
    rate = "no limit" if link.beta == 0 else f"{1e-9 / link.beta:.4g} GB/s"
    return f"{microseconds(link.alpha)}, {rate}"


def device_text(devices: Sequence[Device]) -> str:
    """Return the description of a device, or of several that differ only in their names."""
    device = devices[0]
    words = [run_name([d.name for d in devices]), device.kind, f"speed {device.speed:,.6g}"]
    if device.memory is not None:
        words.append(f"{device.memory / GIB:,.4g} GiB")
    if device.memory_units is not None:
        words.append(f"{device.memory_units:,.6g} units")
    for key, what in (("low_units", "at least"), ("high_units", "at most")):
        if (units := getattr(device, key)) is not None:
            words.append(f"{what} {units:,.6g} units")
    if device.fixed_seconds:
        words.append(f"{microseconds(device.fixed_seconds)} fixed")
    words += [
        f"{getattr(device, key):,.6g} {unit}"
        for key, unit in OWN.items()
        if getattr(device, key) is not None
    ]
    if device.host_link is not None:
        words.append(f"behind {printable(device.host)} ({link_text(device.host_link)})")
    words += _home_words(devices)
    words += [f"{printable(key)} {value:,.6g}" for key, value in device.capabilities.items()]
    return "  ".join(words)


def _home_words(devices: Sequence[Device]) -> list[str]:
    """Return the location of devices, as "host n1" or "cores 0-3"; of several, first and last."""
    from evener.platforms.homes import cores_text

    words = []
    ends = [
        ("" if d.host else d.node, cores_text(d.cores), "" if d.gpu is None else str(d.gpu))
        for d in (devices[0], devices[-1])
    ]
    for key, first, last in zip(("host", "cores", "gpu"), *ends, strict=True):
        if first or last:
            words.append(f"{key} {first}" if first == last else f"{key} {first} .. {last}")
    return words


def _fill(tree: TreeNode, platform: Platform, devices: Sequence[Device], depth: int) -> None:
    """Add the devices at one location, then its child locations."""
    own: list[Device] = []
    below: dict[str, list[Device]] = {}
    for device in devices:
        parts = device.at.split("/") if device.at else []
        if len(parts) > depth:
            below.setdefault(parts[depth], []).append(device)
        else:
            own.append(device)
    alike = [replace(d, name="-", node="", cores=(), gpu=None) for d in own]
    stated = [(bool(d.node), bool(d.cores), d.gpu is None) for d in own]
    runs = equal_runs(list(zip(alike, stated, strict=True)))
    _add_some(tree, (device_text(own[a:b]) for a, b in runs), len(runs), "groups of devices")
    for place, inside in list(below.items())[:MAX_LINES]:
        note = _level_note(platform, depth + 1)
        branch = tree.add(f"{printable(place)}: {plural(len(inside), 'device')}{note}")
        _fill(branch, platform, inside, depth + 1)
    if len(below) > MAX_LINES:
        tree.add(f"... and {len(below) - MAX_LINES:,} more places")


def _level_note(platform: Platform, depth: int) -> str:
    if depth >= len(platform.levels):
        return ""
    level = platform.levels[depth]
    return f" ({printable(level.name)}: {link_text(level.link)}{_shared(level)})"


def _shared(one: Level | Connection) -> str:
    return ", shared" if one.shared else ""


def _add_some(tree: TreeNode, lines: Iterable[str], count: int, what: str) -> None:
    for _, line in zip(range(MAX_LINES), lines, strict=False):
        tree.add(line)
    if count > MAX_LINES:
        tree.add(f"... and {count - MAX_LINES:,} more {what}")
