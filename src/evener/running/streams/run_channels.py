"""Channels between the filters of a plan, and those of their ends that are in this process.

A channel of the program becomes one channel for each pair of a copy of its writer and a copy of its
reader.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from evener.running.devices import Cuda
from evener.running.mpi_comm import MpiComm
from evener.running.streams.channels import (
    Channel,
    FarReceiver,
    FarSender,
    GatheringReceiver,
    Receiver,
    ScatteringSender,
    Sender,
)
from evener.running.streams.cuda_firing import DeviceChannel
from evener.running.streams.processor import Waker
from evener.running.streams.program import StreamChannel
from evener.running.streams.stages import PipelineStages
from evener.running.streams.turns import FilterTurns


class _Ends(NamedTuple):
    """The reader's and the writer's end of a channel, as far as they are in this process."""

    read: Receiver | None
    fill: Sender | None


class RunChannels:
    """The channels of a run with an end in this process.

    wakers: of the processors in this process. mpi: communicator with other processes, if any.
    cuda(processor): its CUDA device, or None. far: ends of channels to other processes; on_device:
    channels in the memory of a CUDA device, by processor.
    """

    def __init__(
        self,
        turns: FilterTurns,
        stages: PipelineStages,
        wakers: Mapping[int, Waker],
        mpi: MpiComm | None,
        cuda: Callable[[int], Cuda | None],
    ) -> None:
        self._turns, self._stages, self._mpi, self._cuda = turns, stages, mpi, cuda
        self._program, self._plan, self._wakers = turns.program, turns.plan, wakers
        self.far: list[FarSender | FarReceiver] = []
        self.on_device: dict[int, list[DeviceChannel]] = {}
        self._ends_of = self._all()

    def reader(self, e: int, d: int) -> Receiver:
        """Return the end of a channel that filter d of the plan, in this process, reads."""
        tail, tokens = int(self._program.graph.tails[e]), len(self._program.channels[e].initial)
        found = {
            c: end
            for c in self._turns.copies(tail)
            if (end := self._ends_of[e, c, d].read) is not None
        }
        if len(found) == 1:
            return next(iter(found.values()))
        by = self._turns.owners(tail, -tokens, self._turns.iterations)
        return GatheringReceiver(found, [int(by[t]) for t in self._turns.of_copy(d)])

    def writer(self, e: int, c: int) -> Sender:
        """Return the end of a channel that filter c of the plan, in this process, fills."""
        head, tokens = int(self._program.graph.heads[e]), len(self._program.channels[e].initial)
        found = {
            d: end
            for d in self._turns.copies(head)
            if (end := self._ends_of[e, c, d].fill) is not None
        }
        if len(found) == 1:
            return next(iter(found.values()))
        to = self._turns.owners(head, 0, self._turns.iterations + tokens)
        return ScatteringSender(found, [int(to[t + tokens]) for t in self._turns.of_copy(c)])

    def _all(self) -> dict[tuple[int, int, int], _Ends]:
        """Return the ends in this process, by channel, and by its writer and reader in the plan."""
        graph, part, sizes = self._program.graph, self._plan.part, self._stages.of_channels
        found: dict[tuple[int, int, int], _Ends] = {}
        number = 0
        for e, channel in enumerate(self._program.channels):
            tail, head, tokens = int(graph.tails[e]), int(graph.heads[e]), len(channel.initial)
            by = self._turns.owners(tail, -tokens, self._turns.iterations)
            to = self._turns.owners(head, 0, self._turns.iterations + tokens)
            for c, d in product(self._turns.copies(tail), self._turns.copies(head)):
                own = np.flatnonzero((by == c) & (to == d))
                initial = [channel.initial[i] for i in own.tolist() if i < tokens]
                ends = self._ends(
                    replace(channel, initial=initial), (number, int(sizes[e]), own.size),
                    int(part[c]), int(part[d]),
                )  # fmt: skip
                found[e, c, d] = ends
                number += 1
        return found

    def _ends(
        self, channel: StreamChannel, numbers: tuple[int, int, int], writer: int, reader: int
    ) -> _Ends:
        """Return the ends in this process of one channel.

        numbers: the channel's number; its count of slots; arrays sent in the run.
        """
        number, size, total = numbers
        here = writer in self._wakers, reader in self._wakers
        if writer == reader and here[0] and self._cuda(writer) is not None:
            near = DeviceChannel(channel, size)
            self.on_device.setdefault(writer, []).append(near)
            return _Ends(near, near)
        if all(here):
            wakes = () if writer == reader else (self._wake(reader), self._wake(writer))
            between = Channel(channel, size, *wakes)
            return _Ends(between, between)
        if here[0]:
            assert self._mpi is not None
            sender = FarSender(self._mpi, channel, number, self._home(reader), size)
            self.far.append(sender)
            return _Ends(None, sender)
        if here[1]:
            assert self._mpi is not None
            receiver = FarReceiver(self._mpi, channel, number, self._home(writer), size, total)
            self.far.append(receiver)
            return _Ends(receiver, None)
        return _Ends(None, None)

    def _wake(self, device: int) -> Callable[[], None]:
        return self._wakers[device].wake

    def _home(self, device: int) -> int:
        """Return the process of a device."""
        assert self._mpi is not None
        return device * self._mpi.size // self._plan.platform.k
