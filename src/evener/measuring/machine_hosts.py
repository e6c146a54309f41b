"""The process that mpiexec starts on each computer of a hostfile: it describes and measures it.

    python -m evener.measuring.machine_hosts core measure NAME...

One rank a computer, NAMEs in the order of ranks; "describe" in place of "measure" measures nothing.
Rank 0 prints the machine as a line of JSON after MARK; hosts.py is the other end.
"""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from evener.errors import EvenerError, UsageError
from evener.io.machines.platform_dicts import platform_to_dict
from evener.measuring.machine import (
    ROWS,
    Say,
    bench_of,
    known_speeds,
    loads_of,
    measured_links,
    speeds_of_devices,
    with_measured,
)
from evener.measuring.machine_ranks import MOST_HOSTS, link_of_ranks, median_link
from evener.measuring.ranks import RankBench, give_up, together
from evener.measuring.this_computer import this_computer
from evener.platforms.described import Described, described
from evener.platforms.platform import Link, with_only
from evener.running.comm import Comm

MARK = "evener machine: "
MEASURE, DESCRIBE = "measure", "describe"
BOOT = Path("/proc/sys/kernel/random/boot_id")


def described_ranks(
    comm: Comm, names: Sequence[str], per: str, *, measures: bool, say: Say, rows: int = ROWS
) -> Described:
    """Return the machine of all ranks' computers, the same on every rank.

    names: of the computers, a rank each. say: called with a sentence for each speed or link that
    was not measured, or not well. Raises UsageError on every rank where two are one computer.
    """
    if comm.size != len(names):
        raise UsageError(f"{comm.size} ranks were started for {len(names)} computers")
    mine = together(comm, this_computer)
    computers = comm.allgather(replace(mine, host=names[comm.rank]))
    _refuse_twins(comm.allgather((socket.gethostname(), _boot())), names)
    found = described(computers, per)
    if not measures:
        return found
    speeds = _speeds(comm, found, names[comm.rank], rows, say)
    return with_measured(found, speeds, _links(comm, found, names, say))


def _refuse_twins(computers: Sequence[tuple[str, str]], names: Sequence[str]) -> None:
    """Refuse hosts that are one computer: its cores would be counted twice."""
    first: dict[tuple[str, str], str] = {}
    for computer, name in zip(computers, names, strict=True):
        if computer in first:
            raise UsageError(
                f"{first[computer]} and {name} of the hostfile are one computer, {computer[0]}",
                hint="Name each computer once; how many slots it has does not matter.",
            )
        first[computer] = name


def _boot() -> str:
    try:
        return BOOT.read_text().strip()
    except OSError:  # not Linux: the host's name decides
        return ""


def _speeds(comm: Comm, found: Described, name: str, rows: int, say: Say) -> dict[str, float]:
    """Return the speeds of all devices, measured on all computers at once [rows/s]."""
    devices = found.platform.devices
    own = [device for device in devices if device.node == name]
    bench = together(comm, lambda: bench_of(own, say, comm.rest))
    loads = comm.allgather(loads_of(bench, rows))
    with RankBench(bench, comm) as all_at_once:
        outcomes = all_at_once.measure([load for some in loads for load in some])
    return speeds_of_devices(devices, known_speeds(all_at_once.names, outcomes, say), say)


def _links(comm: Comm, found: Described, names: Sequence[str], say: Say) -> dict[str, Link]:
    """Return the links of levels: within the first computer, and from it to some of the others."""
    platform, links = found.platform, dict[str, Link]()
    if comm.rank == 0:
        own = [i for i, device in enumerate(platform.devices) if device.node == names[0]]
        links = measured_links(with_only(platform, own), say)
    links = {level: link for level, link in comm.bcast(links).items() if level != "cluster"}
    comm.rest()
    between = [
        link_of_ranks(comm, 0, other, say) for other in range(1, min(comm.size, MOST_HOSTS + 1))
    ]
    outer = median_link(between)
    return links if outer is None else {"cluster": outer, **links}


def as_text(found: Described, notes: Sequence[str]) -> str:
    """Return a described machine and notes on it as a line of JSON."""
    return json.dumps(
        {
            "platform": platform_to_dict(found.platform),
            "guessed": {name: sorted(keys) for name, keys in found.guessed.items()},
            "sources": found.sources,
            "notes": notes,
        }
    )


def main(words: Sequence[str]) -> int:
    """Describe this rank's computer together with the others; return the exit code."""
    from evener.running.launching import world

    per, action, *names = words
    comm: Comm | None = None
    notes: list[str] = []
    try:
        comm = world()
        found = described_ranks(
            comm, names, per, measures=action == MEASURE, say=notes.append
        )  # fmt: skip
    except EvenerError as error:
        if comm is None or comm.rank == 0:
            sys.stderr.write(f"{MARK}{json.dumps([error.exit_code, error.message, error.hint])}\n")
        return error.exit_code
    except BaseException as error:
        if comm is not None:
            give_up(comm, error)
        raise
    if comm.rank == 0:
        sys.stdout.write(f"{MARK}{as_text(found, notes)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
