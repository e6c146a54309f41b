"""`evener machine`: the papers' machines, flat ones, grids, this computer; and any file drawn."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING

from evener.cli.machine_options import add_arguments
from evener.cli.machines import checked_count, speeds_of
from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.platforms import Platform

__all__ = ["add_arguments", "run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """Make, write or show a machine."""
    from evener.filing.platform_dicts import platform_to_dict
    from evener.filing.platform_writing import platform_to_toml
    from evener.filing.platforms import read_platform, write_platform

    if args.machine_kind == "show":
        platform = read_platform(args.file)
        out.result(platform_to_dict(platform))
        if not (out.is_json or out.is_quiet):
            from evener.cli.machine_tree import tree_lines

            out.say("\n".join(tree_lines(platform, out.width)), verbatim=True)
        return 0
    measuring = getattr(args, "measure", False)
    made = _measured(args, out) if measuring else _made(args)
    if made is None:
        return 0  # rank 0 speaks for all
    platform = made
    if args.output is None:
        out.say(platform_to_toml(platform).rstrip("\n"), verbatim=True)
    else:
        from evener.reporting.numbers import plural

        write_platform(args.output, platform)
        out.say(f"{args.output}: {plural(platform.k, 'device')}")
    out.result(platform_to_dict(platform))
    return 0


def _measured(args: argparse.Namespace, out: Output) -> Platform | None:
    """Return this computer, or all that the ranks of mpiexec are on; None on ranks above 0."""
    from evener.measuring.ranks import n_ranks
    from evener.writing import refuse_unwritable

    if args.output is not None:
        refuse_unwritable(args.output)
    if n_ranks() > 1:
        return _measured_ranks(out)
    from evener.measuring.machine import measured_platform

    with out.progress("Measuring this computer") as progress:
        return measured_platform(progress, out.note)


def _measured_ranks(out: Output) -> Platform | None:
    from evener.measuring.machine_ranks import measured_ranks
    from evener.measuring.ranks import world

    comm = world()
    if comm.rank > 0:
        measured_ranks(comm, lambda step, fraction: None, lambda text: None)  # noqa: ARG005
        return None
    with out.progress("Measuring the computers of all ranks") as progress:
        return measured_ranks(comm, progress, out.note)


def _made(args: argparse.Namespace) -> Platform:
    from evener.generating.platforms import PLATFORMS, flat, grid, tree

    kind = args.machine_kind
    if kind == "here":
        from evener.measuring.discover import discover_platform

        return discover_platform()
    if kind == "flat":
        return flat(speeds_of(args.speeds))
    if kind == "grid":
        from evener.platforms import Link

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
