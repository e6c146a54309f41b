"""Process: where a process of a parallel program runs, on which device, with which options."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evener.errors import InputError

Option = str | int | float | bool
KINDS = ("cpu", "cuda")
_CORES = re.compile(r"cpu(\d{1,6})(?:-(\d{1,6}))?")
_SOCKET = re.compile(r"socket(\d{1,6})")


@dataclass(frozen=True)
class Process:
    """One process of a program ([Cla14]_, A.1).

    host: name of its computer. rank: among the processes of that host, from 0. kind: of its device,
    one of KINDS; index: of a CUDA device among the host's CUDA devices. bind: the cores it is bound
    to, as "cpu0-3", "cpu0,cpu4" or "socket1"; empty: not bound. memory [B]: limit for its
    computation;
    None: its share of the free memory. options: of the computation. Raises InputError for other
    kinds and bindings, and for negative numbers.
    """

    host: str
    rank: int = 0
    kind: str = "cpu"
    index: int = 0
    bind: str = ""
    memory: float | None = None
    options: Mapping[str, Option] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.host or self.host != self.host.strip():
            raise InputError(f"the host of a process must not be empty or padded: {self.host!r}")
        if self.kind not in KINDS:
            raise InputError(
                f"the kind of a process must be {' or '.join(KINDS)}, not {self.kind!r}"
            )
        if self.rank < 0 or self.index < 0:
            raise InputError(f"{self.title}: rank and index must not be below zero")
        if self.memory is not None and not 0 < self.memory < float("inf"):
            raise InputError(f"{self.title}: memory must be above zero, not {self.memory}")
        self.cores({})

    @property
    def title(self) -> str:
        """The name of the process in errors."""
        return f"process {self.rank} of {self.host}"

    def cores(self, sockets: Mapping[int, Sequence[int]]) -> tuple[int, ...]:
        """Return the cores of `bind`, in its order; empty if it is not bound.

        sockets: the cores of each socket of its host; a missing socket has no cores.
        """
        if not self.bind:
            return ()
        if match := _SOCKET.fullmatch(self.bind):
            return tuple(sockets.get(int(match[1]), ()))
        found: list[int] = []
        for word in self.bind.split(","):
            match = _CORES.fullmatch(word.strip())
            last = int(match[2] or match[1]) if match else -1
            if match is None or last < int(match[1]):
                raise InputError(
                    f"{self.title}: bind must be cores, such as cpu0-3 or cpu0,cpu4, or a "
                    f"socket, such as socket1, not {self.bind!r}"
                )
            found += range(int(match[1]), last + 1)
        if len(set(found)) < len(found):
            raise InputError(f"{self.title}: {self.bind!r} names a core twice")
        return tuple(found)


def of_host(processes: Sequence[Process], host: str) -> list[Process]:
    """Return the processes of a host by rank."""
    return sorted((p for p in processes if p.host == host), key=lambda p: p.rank)


def refuse_twins(processes: Sequence[Process]) -> None:
    """Raise InputError if two processes of a host have the same rank, core or CUDA device."""
    seen: set[tuple[object, ...]] = set()
    for process in processes:
        keys: list[tuple[object, ...]] = [(process.host, "rank", process.rank)]
        if process.kind == "cuda":
            keys.append((process.host, "CUDA device", process.index))
        if not _SOCKET.fullmatch(process.bind):
            keys += [(process.host, "core", core) for core in process.cores({})]
        for key in keys:
            if key in seen:
                raise InputError(f"two processes of {key[0]} have {key[1]} {key[2]}")
            seen.add(key)
