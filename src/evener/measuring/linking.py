"""Which links are measured: between cores, threads or ranks, each pair and one to many; a GPU's."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial

from evener.errors import UsageError
from evener.measuring.campaign import Progress
from evener.measuring.kernels import Kernel
from evener.measuring.links import PRECISION, SIZES, FittedLink, measure_link
from evener.measuring.pings import ProcessPing, RankPing, ThreadPing, answer
from evener.platforms.models.samples import DeviceSpeeds
from evener.running.comm import Comm

Opened = Callable[[], AbstractContextManager[Kernel]]


@dataclass(frozen=True)
class NamedLink:
    """A measured link by name; `many`: how many ends got the message at once."""

    name: str
    fitted: FittedLink
    many: int = 1

    @property
    def speeds(self) -> DeviceSpeeds:
        """The link as a file of speeds has it: a unit is a byte; alpha and bandwidth in notes."""
        fitted = self.fitted
        figures = {
            "alpha_us": fitted.link.alpha * 1e6,
            "alpha_us_half_width": fitted.alpha_half * 1e6,
            "GB_per_s": fitted.GB_per_s,
        }
        known = {key: value for key, value in figures.items() if math.isfinite(value)}
        notes = {"kernel": "link", "unit": "byte", "ends": self.many, **known}
        return DeviceSpeeds(self.name, fitted.samples, notes=notes)


def measure_links(
    between: str,
    cpus: Sequence[int],
    comm: Comm,
    sizes: Sequence[int] = SIZES,
    progress: Progress = lambda step, fraction: None,  # noqa: ARG005
) -> list[NamedLink]:
    """Measure the links from the first core, or rank, to each other one; then to all at once.

    between: "cores", "threads", "ranks" or "gpu". cpus: cores to speak between, or the GPUs'
    indices for "gpu". comm: for "ranks". On ranks above 0 nothing is returned. Raises UsageError
    for fewer than two ends, ToolError for a GPU that is not there.
    """
    if between == "ranks" and comm.rank > 0:
        answer(comm, max(sizes))
        return []
    opened = _opened(between, cpus, comm)
    found = []
    for i, (name, many, ping) in enumerate(opened):
        progress(name, i / len(opened))
        with ping() as kernel:
            found.append(NamedLink(name, measure_link(kernel, sizes, PRECISION), many))
    if between == "ranks":
        RankPing(comm, range(1, comm.size)).end()
    return found


def _opened(between: str, cpus: Sequence[int], comm: Comm) -> list[tuple[str, int, Opened]]:
    """Return name, number of other ends and how to open each link."""
    if between == "threads":
        return [("threads", 1, lambda: nullcontext(ThreadPing()))]
    if between == "gpu":
        from evener.measuring.cuda import Ping

        return [(f"cuda{i}", 1, partial(_kernel, partial(Ping, i))) for i in cpus]
    if between == "ranks":
        here, others = "rank0", list(range(1, comm.size))
        names = [f"rank{rank}" for rank in others]
        single: list[Opened] = [partial(_kernel, partial(RankPing, comm, [r])) for r in others]
        every: Opened = partial(_kernel, partial(RankPing, comm, others))
    else:
        here, others = f"cpu{cpus[0]}", list(cpus[1:])
        names = [f"cpu{cpu}" for cpu in others]
        single = [partial(ProcessPing, (cpu,), cpus[0]) for cpu in others]
        every = partial(ProcessPing, tuple(others), cpus[0])
    if not others:
        raise UsageError(
            f"a link between {between} needs two of them",
            hint="Cores are chosen by --device cpu0,cpu1; ranks are started by mpiexec -n 2.",
        )
    pairs = [(f"{here}-{name}", 1, ping) for name, ping in zip(names, single, strict=True)]
    return pairs + ([(f"{here}-all", len(others), every)] if len(others) > 1 else [])


def _kernel(make: Callable[[], Kernel]) -> AbstractContextManager[Kernel]:
    return nullcontext(make())
