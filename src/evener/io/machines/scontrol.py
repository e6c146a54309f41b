"""Reads the text of `scontrol show node`: the computers of a Slurm cluster.

Slurm states sockets, cores, memory and the type of GPUs, but not Linux's processor numbers, NUMA
nodes, or the memory of GPUs. Nodes that accept no work are left out, with a note.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from evener.errors import InputError
from evener.platforms.computer import (
    Computer,
    ComputerCore,
    ComputerGpu,
    LocalMemory,
    cpus_in,
)
from evener.platforms.described import gpu_model
from evener.platforms.homes import MOST_CORES
from evener.platforms.platform import MAX_DEVICES

MOST_BYTES = 1 << 26  # a node takes about 1 KB
MOST_NODE_GPUS = 1024
MOST_SOCKETS = 1024
MOST_NAMED = 20  # max. omitted nodes that are listed by name
HIDDEN_MB = 1  # RealMemory of a node whose memory is not configured
MIB = 2.0**20
# States in which a node accepts no work. A powered-down node does: Slurm starts it.
OUT = frozenset(
    (
        *("DOWN", "DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING", "ERROR", "UNKNOWN"),
        *("FUTURE", "NOT_RESPONDING", "NO_RESPOND", "INVALID_REG", "INVAL", "MAINT"),
    )
)
_NODE = re.compile(r"^[ \t]*NodeName=", re.MULTILINE)
_FREE_TEXT = re.compile(r"\s(?:Reason|Comment|Extra)=")
_VALUE = re.compile(r"(?:^|\s)([A-Z]\w*)=(\S*)")
_GPU = re.compile(r"gpu(?::([^:()]{1,80}))?:(\d{1,9})(?:\(S:([\d,-]{1,80})\))?")


class SlurmNodes(NamedTuple):
    """The nodes of a cluster that accept work, and notes on those that are left out."""

    computers: tuple[Computer, ...]
    notes: tuple[str, ...]


def nodes_of_scontrol(content: bytes, file: str | Path, partition: str = "") -> SlurmNodes:
    """Return the nodes that accept work, in text order; only those of `partition` if given.

    Raises InputError for other content, for impossible numbers, and if no node is left.
    """
    records = _records(content, file)
    if partition:
        records = [r for r in records if partition in r.get("Partitions", "").split(",")]
        if not records:
            raise InputError(f"no node is in the partition {partition[:40]!r}", file=file)
    names = [record["NodeName"] for record in records]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"describes node {twice[:40]!r} twice", file=file)
    out = {r["NodeName"]: r.get("State", "") for r in records if not takes_work(r.get("State", ""))}
    found = [_computer(r, file) for r in records if r["NodeName"] not in out]
    if not found:
        states = ", ".join(sorted(set(out.values())))
        raise InputError(f"no node accepts jobs: their states are {states[:80]}", file=file)
    if (total := sum(len(computer.cores) for computer in found)) > MAX_DEVICES:
        raise InputError(f"{total:,} cores; at most {MAX_DEVICES:,} are possible", file=file)
    return SlurmNodes(tuple(found), _notes(out))


def takes_work(state: str) -> bool:
    """Return whether a node in this state, such as "IDLE+CLOUD", is up or can be started."""
    words = {word.rstrip("*~#!%$@^-") for word in state.upper().split("+")}
    return bool(state) and "*" not in state and words.isdisjoint(OUT)


def _records(content: bytes, file: str | Path) -> list[dict[str, str]]:
    """Return the values of each node by key, including NodeName; free text is left out."""
    if b"\0" in content:
        raise InputError("is not UTF-8 text", file=file)
    text = content.decode("utf-8", "replace").removeprefix("\ufeff")
    starts = [found.start() for found in _NODE.finditer(text)]
    if not starts or text[: starts[0]].strip():
        begin = text.strip().split("\n")[0][:60]
        raise InputError(
            f"is not output of `scontrol show node`: it begins with {begin!r}"
            if begin
            else "is empty",
            file=file,
            hint="Use `scontrol show node > FILE`, without JSON or YAML.",
        )
    records = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        record: dict[str, str] = {}
        for key, value in _VALUE.findall(_FREE_TEXT.split(text[start:end], maxsplit=1)[0]):
            record.setdefault(key, value)
        if not re.fullmatch(r"[A-Za-z0-9][\w.-]{0,252}", record["NodeName"]):
            line = text.count("\n", 0, start) + 1
            message = f"has a node named {record['NodeName'][:40]!r}"
            raise InputError(message, file=file, line=line)
        records.append(record)
    return records


def _computer(record: Mapping[str, str], file: str | Path) -> Computer:
    name = record["NodeName"]

    def number(key: str, default: int, least: int = 0, most: int = MOST_CORES) -> int:
        text = record.get(key, "")
        if text in {"", "N/A", "(null)"}:
            return default
        if not re.fullmatch(r"\d{1,18}", text) or not least <= int(text) <= most:
            raise InputError(
                f"{key} of node {name} must be a whole number from {least} to {most:,}, "
                f"not {text[:40]!r}",
                file=file,
            )
        return int(text)

    sockets, threads = number("Sockets", 1, 1), number("ThreadsPerCore", 1, 1)
    total = number("CPUTot", 0, 1)
    per_socket = number("CoresPerSocket", max(total // (sockets * threads), 1) if total else 0, 1)
    if not per_socket:
        raise InputError(f"node {name} states neither CoresPerSocket nor CPUTot", file=file)
    if sockets * per_socket * threads > MOST_CORES:
        raise InputError(
            f"node {name} has {sockets * per_socket * threads:,} processors", file=file
        )
    reserved = _reserved(record, sockets * per_socket, threads, number("CoreSpecCount", 0))
    cores = _cores(sockets, per_socket, threads, reserved)
    if not cores:
        raise InputError(f"node {name} reserves all of its cores for the system", file=file)
    memory = number("RealMemory", HIDDEN_MB, 0, 2**40)
    kept = number("MemSpecLimit", 0, 0, 2**40)
    hidden = memory <= HIDDEN_MB
    size = 0.0 if hidden else max(memory - kept, 0) * MIB
    if not hidden and not size:
        raise InputError(f"node {name} reserves all of its memory for the system", file=file)
    cpus = frozenset(cpu for core in cores for cpu in core.cpus)
    return Computer(
        name,
        architecture=record.get("Arch", ""),
        cores=cores,
        memories=(LocalMemory(size, cpus),) if size else (),
        gpus=_gpus(record.get("Gres", ""), name, file),
        numbering_guessed=True,
        read_from=(("nodes, cores, memory and GPUs", "scontrol show node"),),
        notes=("Slurm states no memory, so devices have no memory limit",) if hidden else (),
    )


def _reserved(record: Mapping[str, str], n: int, threads: int, count: int) -> frozenset[int]:
    """Return the cores reserved for the system: the listed ones, else the last `count`."""
    if listed := cpus_in(record.get("CPUSpecList", "")):
        return frozenset(cpu // threads for cpu in listed)  # Slurm numbers processors core by core
    return frozenset(range(max(n - count, 0), n))


@lru_cache(maxsize=256)
def _cores(
    sockets: int, per_socket: int, threads: int, reserved: frozenset[int]
) -> tuple[ComputerCore, ...]:
    """Return the cores; Linux usually numbers one thread of each core first, then the others.

    Each socket is taken as a NUMA node.
    """
    n = sockets * per_socket
    return tuple(
        ComputerCore(tuple(range(i, n * threads, n)), i // per_socket, i // per_socket)
        for i in range(n)
        if i not in reserved
    )


def _gpus(gres: str, node: str, file: str | Path) -> tuple[ComputerGpu, ...]:
    """Return the GPUs of a value such as "gpu:a100:4(S:0-1),lscratch:800"."""
    found: list[ComputerGpu] = []
    for entry in re.split(r",(?![^(]*\))", gres):
        if not re.match(r"gpu\b", entry):
            continue
        parts = _GPU.fullmatch(entry)
        if parts is None or int(parts[2]) > MOST_NODE_GPUS:
            raise InputError(
                f"Gres of node {node}: {entry[:40]!r} is not a number of GPUs such as 'gpu:a100:4'",
                file=file,
            )
        model, sockets = parts[1] or "", frozenset(cpus_in(parts[3] or "", MOST_SOCKETS))
        share = _share(model)
        for _ in range(int(parts[2])):
            found.append(ComputerGpu(len(found), model, share=share, sockets=sockets))
    return tuple(found)


def _share(model: str) -> float:
    """Return an instance's share of the whole GPU, from its type, such as "a100_1g.5gb"."""
    instance = re.search(r"\d{1,2}g\.(\d{1,4})gb", model)
    whole = gpu_model(model)
    if instance is None or whole is None:
        return 1.0
    return min(max(int(instance[1]), 1) / whole.least_gib, 1.0)


def _notes(out: Mapping[str, str]) -> tuple[str, ...]:
    notes = [
        f"node {name} is left out: its state is {state or 'not stated'}"
        for name, state in list(out.items())[:MOST_NAMED]
    ]
    more = len(out) - len(notes)
    return (*notes, f"{more:,} more nodes are left out") if more else tuple(notes)
