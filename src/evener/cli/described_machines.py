"""The kinds of `evener machine` that describe existing machines: here, slurm."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from evener.errors import InputError, UsageError
from evener.files.writing import write_text
from evener.io.machines.platforms import platform_to_toml, runs_of
from evener.platforms.described import Described, described
from evener.wording import plural, printable

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.platforms.computer import Computer, ComputerGpu
    from evener.platforms.platform import Platform


PER = ("core", "numa", "socket", "node", "gpu")


def add_here_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `evener machine here`."""
    parser.add_argument("--measure", action="store_true", help="also measure speeds and links")
    _add_common(parser)
    parser.add_argument(
        "--from",
        action="append",
        default=[],
        dest="files",
        metavar="FILE",
        help="describe another computer, from its `lstopo --of xml` or `nvidia-smi -q -x`; may be "
        "repeated",
    )


def add_slurm_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `evener machine slurm`."""
    parser.add_argument(
        "nodes",
        nargs="?",
        metavar="NODES",
        help="nodes, such as n[001-004] (default: the nodes of this job; outside a job, all nodes)",
    )
    _add_common(parser)
    parser.add_argument("--partition", default="", metavar="P", help="only nodes of this partition")
    parser.add_argument(
        "--from",
        dest="file",
        metavar="FILE",
        help="read the output of `scontrol show node` from this file, without asking the cluster",
    )


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--force", action="store_true", help="replace a file that exists")
    parser.add_argument(
        "--per",
        choices=PER,
        default="core",
        help="what a device of the machine file is; gpu: a GPU with the cores that drive it "
        "(default core)",
    )


def describe_from(args: argparse.Namespace, out: Output) -> int:
    """Describe a machine and print or write it."""
    from evener.files.writing import refuse_existing

    if args.output is not None:
        refuse_existing([args.output], force=args.force)
    found = DESCRIBERS[args.machine_kind](args, out)
    if found is None:
        return 0  # rank 0 prints and writes for all ranks
    if args.output is None:
        out.say(described_to_toml(found).rstrip("\n"), verbatim=True)
    else:
        write_described(args.output, found)
        out.say(f"{args.output}: {plural(found.platform.k, 'device')}")
        _note_guesses(found, out)
    out.result(_result(found))
    return 0


def _note_guesses(found: Described, out: Output) -> None:
    if any("speed" in keys for keys in found.guessed.values()):
        out.note("note: speeds are guesses, which the file marks")


def _result(found: Described) -> dict[str, object]:
    from evener.io.machines.platform_dicts import platform_to_dict

    guessed = {name: sorted(keys) for name, keys in found.guessed.items() if keys}
    return {
        **platform_to_dict(found.platform),
        "guessed": guessed,
        "remarks": list(found.remarks),
    }


def _here_from(args: argparse.Namespace, out: Output) -> Described | None:
    from evener.measuring.machine import measured_platform
    from evener.measuring.this_computer import this_computer
    from evener.running.launching import n_ranks

    if args.files and args.measure:
        raise UsageError(
            "--measure does not work with --from, which describes another computer",
            hint="Run `evener machine here --measure -o FILE` on that computer.",
        )
    if args.files:
        return described([computer_of_files(args.files)], args.per)
    if args.measure and n_ranks() > 1:
        return _measured_ranks(out)
    found = described([this_computer()], args.per)
    if not args.measure:
        return found
    doubts = list[str]()
    with out.progress("Measuring this computer") as progress:
        found = measured_platform(found, progress, doubts.append)
    return _with_doubts(found, doubts, out)


def _with_doubts(found: Described, doubts: Sequence[str], out: Output) -> Described:
    """Print notes on values that were not measured precisely, or at all.

    Returns the notes as the file's remarks.
    """
    for doubt in doubts:
        out.note(f"note: {doubt}")
    return replace(found, sources=(*found.sources, *doubts))


def _measured_ranks(out: Output) -> Described | None:
    from evener.measuring.machine import measured_ranks
    from evener.running.launching import world

    comm = world()
    if comm.rank > 0:
        measured_ranks(comm, lambda step, fraction: None, lambda text: None)  # noqa: ARG005
        return None
    doubts = list[str]()
    with out.progress("Measuring the computers of all ranks") as progress:
        platform: Platform = measured_ranks(comm, progress, doubts.append)
    return _with_doubts(Described(platform), doubts, out)


def computer_of_files(files: Sequence[str]) -> Computer:
    """Return the computer that these files describe: lstopo's, nvidia-smi's, or both.

    Raises UsageError for two files of one kind, InputError for other files.
    """
    from evener.files.opening import named, read_bytes
    from evener.io.machines import hwloc, nvidia_smi
    from evener.io.xml_tree import MOST_BYTES, outermost, xml_tree
    from evener.measuring.this_computer import source_of
    from evener.platforms.computer import Computer, with_gpus

    contents: dict[str, tuple[bytes, Path]] = {}
    for file in files:
        content = read_bytes(file, MOST_BYTES)
        kind = outermost(content)
        if not kind and content.lstrip().startswith(b"<"):
            xml_tree(content, hwloc.ROOT, named(file))  # which says what is wrong with it
        if kind not in (hwloc.ROOT, nvidia_smi.ROOT):
            raise InputError(
                "is not XML of `lstopo --of xml` or `nvidia-smi -q -x`",
                file=named(file),
                hint="`evener machine slurm --from FILE` reads the output of `scontrol show node`.",
            )
        if kind in contents:
            raise UsageError(f"--from: {file} is a second file from the same program")
        contents[kind] = content, named(file)
    computer = Computer()
    if hwloc.ROOT in contents:
        computer = hwloc.computer_of_hwloc(*contents[hwloc.ROOT])
    if nvidia_smi.ROOT in contents:
        listed = nvidia_smi.gpus_of_nvidia_smi(*contents[nvidia_smi.ROOT])
        gpus: tuple[ComputerGpu, ...] = listed.gpus
        computer = replace(
            with_gpus(computer, gpus),
            read_from=(*computer.read_from, ("GPUs", source_of(listed))),
            notes=(*computer.notes, *listed.notes),
        )
    return computer


def _slurm_from(args: argparse.Namespace, out: Output) -> Described:
    from evener.files.opening import named, read_bytes
    from evener.io.machines.scontrol import MOST_BYTES, nodes_of_scontrol
    from evener.measuring.this_computer import scontrol_text

    if args.file is not None and args.nodes is not None:
        raise UsageError("give either NODES, which scontrol describes, or --from FILE")
    if args.file is not None:
        content, file = read_bytes(args.file, MOST_BYTES), named(args.file)
    else:
        content, file = scontrol_text(args.nodes), Path("scontrol show node")
    nodes = nodes_of_scontrol(content, file, args.partition)
    if args.output is not None:
        for note in nodes.notes:
            out.note(f"note: {note}")
    return described(nodes.computers, args.per, nodes.notes)


DESCRIBERS = {"here": _here_from, "slurm": _slurm_from}


GUESSED = "  # guessed"
_KEY = re.compile(r"(\w+) = ")
_WIDEST = 98  # max. characters per line of the head


def described_to_toml(described: Described) -> str:
    """Return the text of a machine file: remarks first, "# guessed" after guessed values."""
    runs = runs_of(described.platform.devices)
    levels = iter(level.name for level in described.platform.levels)
    devices = iter(run[0].name for run, _, _ in runs)
    lines, marks = [f"# {line}" for line in _head(described)], frozenset[str]()
    for line in platform_to_toml(described.platform).split("\n"):
        if line == "[[level]]":
            marks = described.guessed.get(f"level {next(levels)}", frozenset())
        elif line == "[[device]]":
            marks = described.guessed.get(next(devices), frozenset())
        key = _KEY.match(line)
        lines.append(line + GUESSED if key and key[1] in marks else line)
    return "\n".join(lines)


def write_described(path: str | Path, described: Described) -> None:
    """Write the machine file of described computers, whole or not at all."""
    write_text(path, described_to_toml(described))


def _head(described: Described) -> list[str]:
    """Return the remarks as lines of limited width; continuation lines are indented."""
    lines = []
    for remark in described.remarks:
        line, *words = printable(remark).split(" ")
        for word in words:
            if len(line) + len(word) >= _WIDEST:
                lines.append(line)
                line = " "
            line = f"{line} {word}"
        lines.append(line)
    return lines
