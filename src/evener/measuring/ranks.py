"""Measures on the ranks of an MPI program: each rank its own devices, all at the same time.

Outcomes are gathered on every rank, so that all ranks choose the same next loads by themselves.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Self, TypeVar, cast

from evener.errors import EvenerError, UsageError
from evener.measuring.devices import MeasuredDevice, devices_of
from evener.measuring.outcomes import Outcome
from evener.measuring.together import Bench
from evener.running.comm import Comm, run_threads

T = TypeVar("T")


class RankBench:
    """The devices of all ranks, measured at the same time, each by its own rank.

    bench: this rank's devices. names, groups: of the devices of all ranks, name and computer.
    agreed: whether `measure` has raised an error, which it then did on every rank.
    """

    def __init__(self, bench: Bench, comm: Comm) -> None:
        self._bench, self._comm, self.agreed = bench, comm, False
        gathered = comm.allgather((bench.names, socket.gethostname()))
        self.names = [name for names, _ in gathered for name in names]
        self.groups = [host for names, host in gathered for _ in names]
        counts = [len(names) for names, _ in gathered]
        self._from = sum(counts[: comm.rank])
        self._to = self._from + counts[comm.rank]

    def __enter__(self) -> Self:
        self._bench.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._bench.__exit__(*error)

    def has_company(self, name: str) -> bool:
        """Whether another device is on the same computer."""
        return self.groups.count(self.groups[self.names.index(name)]) > 1

    def measure(self, loads: Sequence[int | None]) -> list[Outcome | None]:
        """Return the outcome of device i of all at loads[i] units; None leaves it idle.

        Raises on every rank the error of the first rank that has one.
        """
        found: list[Outcome | None] | EvenerError
        try:
            found = self._bench.measure(loads[self._from : self._to])
        except EvenerError as error:
            found = error
        everything: list[Outcome | None] = []
        for own in self._comm.allgather(found):
            if isinstance(own, EvenerError):
                self.agreed = True
                raise own
            everything += own
        return everything


def devices_of_rank(text: str | None, comm: Comm, cpus: Sequence[int]) -> list[MeasuredDevice]:
    """Return the devices that this rank measures, named by it.

    text: names as for devices_of. A rank alone on its computer takes all of them; several take one
    each. None: all cores that a rank is bound to are one device; where ranks of a computer share
    cores, each takes one of them. cpus: the cores this rank may use. Raises UsageError on all
    ranks where any computer has other than one name, or less than one core, for each rank.
    """
    homes = comm.allgather(home(cpus))
    mine = together(comm, lambda: _chosen(text, comm, homes))
    prefix = f"rank{comm.rank}"
    if len(mine) == 1:
        return [replace(mine[0], name=prefix)]
    return [replace(device, name=f"{prefix}.{device.name}") for device in mine]


def home(cpus: Sequence[int]) -> tuple[str, tuple[int, ...]]:
    """Return the name of this rank's computer and the cores that the rank may use."""
    return socket.gethostname(), tuple(cpus)


def together(comm: Comm, action: Callable[[], T]) -> T:
    """Return action() of this rank; raise on all ranks the error of the first that has one."""
    result: T | None = None
    failure: EvenerError | None = None
    try:
        result = action()
    except EvenerError as error:
        failure = error
    for theirs in comm.allgather(failure):
        if theirs is not None:
            raise theirs
    return cast(T, result)


def _chosen(
    text: str | None, comm: Comm, gathered: Sequence[tuple[str, tuple[int, ...]]]
) -> list[MeasuredDevice]:
    here, cpus = gathered[comm.rank]
    beside = [rank for rank, (host, _) in enumerate(gathered) if host == here]
    place = beside.index(comm.rank)
    if text is not None:
        devices = devices_of(text, cpus)
        if len(beside) == 1:
            return devices
        if len(devices) != len(beside):
            raise UsageError(
                f"--device names {len(devices)} for {len(beside)} ranks on {here}, not one for each"
            )
        return [devices[place]]
    bound = [set(gathered[rank][1]) for rank in beside]
    if len(beside) > 1 and any(bound[place] & own for own in bound if own is not bound[place]):
        if len(beside) > len(cpus):
            raise UsageError(f"{len(beside)} ranks share {len(cpus)} cores of {here}")
        return [MeasuredDevice("", cpus=(cpus[place],))]
    return [MeasuredDevice("", cpus=tuple(cpus))] if cpus else [MeasuredDevice("")]


def one_rank() -> Comm:
    """Return a communicator of this process alone."""
    return run_threads(1, lambda comm: comm)[0]


def give_up(comm: Comm, error: BaseException) -> None:
    """End all ranks for an error that only this rank has: they would wait for it for ever."""
    leave = getattr(comm, "__exit__", None)
    if comm.size > 1 and leave is not None:
        leave(type(error), error, error.__traceback__)
