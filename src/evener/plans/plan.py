"""Certificate, Prediction, Evaluation, Plan: what is known of a partition on a platform."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray, IntVector
from evener.errors import InputError
from evener.plans.partition import RELATIVE_SLACK, Contract, Partition
from evener.plans.partition import Mapping as BlockMapping
from evener.plans.workload import WEIGHTS, Workload, workload_from_dict
from evener.platforms.platform import Platform
from evener.wording import brief, duration, number, plural, spread, time_of, times, two_lines

METIS_STAGE, CUT_STAGE, SLABS_STAGE, CHOSEN_STAGE = "metis", "cut", "slabs", "chosen"
ROLES = (METIS_STAGE, CUT_STAGE, SLABS_STAGE, CHOSEN_STAGE, "")  # of a Stage
NAMED = 4  # devices that a verdict lists
AT_BOUND = 5e-4  # relative: nearer than that is at the bound
AT_ONCE = 1e-9  # of the makespan: a partner's exchange ends with one's own
# Of Prediction: zero where left out, as of plans that were made before they were known.
FURTHER_SECONDS = ("contention", "fixed", "overlapped", "interior", "delay")


def _nothing() -> FloatArray:
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class Certificate:
    """What every block really is, beside what its contract asks; arrays (k,), device order.

    weights [units], vertices, bytes [B]: measured. boundary: vertices with a neighbour
    elsewhere. components: connected pieces. neighbours: other blocks touched. volumes: values
    sent per iteration. holds: whether the contract is kept. further (k, c - 1) [units]: the other
    weights of the blocks, where vertices have c. Made by evener.planning.evaluate, which shares no
    metrics with partitioners.
    """

    contract: Contract
    weights: FloatArray
    vertices: IntVector
    bytes: FloatArray
    boundary: IntVector
    components: IntVector
    neighbours: IntVector
    volumes: IntVector
    holds: BoolArray
    further: FloatArray = field(default_factory=lambda: np.empty((0, 0)))

    def __post_init__(self) -> None:
        if not self.contract.further and not self.further.size:
            object.__setattr__(self, "further", np.empty((self.contract.k, 0)))
        if self.further.shape[1] != len(self.contract.further):
            raise InputError(
                f"the certificate has {self.further.shape[1]} further weights, "
                f"the contract {len(self.contract.further)}"
            )

    def __repr__(self) -> str:
        k, kept = self.contract.k, int(self.holds.sum())
        worst = "all hold" if kept == k else f"{kept:,} hold"
        figures = [f"weights {spread(self.weights)}", f"boundary {number(self.boundary.sum())}"]
        figures.append(f"pieces {spread(self.components)}")
        return two_lines("Certificate", [plural(k, "block"), worst], figures)

    @property
    def all_hold(self) -> bool:
        """Whether every block keeps its contract."""
        return bool(self.holds.all())


@dataclass(frozen=True, eq=False)
class Prediction:
    """Predicted seconds per iteration, each (k,) [s] in the devices' order; docs/prediction.md.

    compute: its speed model at its load. communicate: all it exchanges, waiting for shared links
    included; contention: how much of that is waiting for them. fixed: what an iteration costs
    whatever the load. overlapped: what of computing and communicating happens at once. interior
    (k,): share of each load at vertices without a neighbour elsewhere, which an exchange can hide
    behind. delay: how much later it is done because it waits for partners, who begin their exchange
    later or have more to exchange with others.
    bound [s]: the best that any sizes could do if nothing were exchanged (evener.sizing.bounds);
    not a number where nobody asked.
    hop_bytes (levels,) [B]: bytes x hops between devices by the deepest level they share.
    contention, fixed, overlapped, interior and delay are zero where left out.
    """

    compute: FloatArray
    communicate: FloatArray
    bound: float
    hop_bytes: FloatArray
    contention: FloatArray = field(default_factory=_nothing)
    fixed: FloatArray = field(default_factory=_nothing)
    overlapped: FloatArray = field(default_factory=_nothing)
    interior: FloatArray = field(default_factory=_nothing)
    delay: FloatArray = field(default_factory=_nothing)

    def __post_init__(self) -> None:
        for name in FURTHER_SECONDS:
            if not getattr(self, name).size:
                object.__setattr__(self, name, np.zeros(self.compute.size))

    def __repr__(self) -> str:
        first = plural(self.compute.size, "device"), f"makespan {duration(self.makespan)}"
        second = (
            f"computing up to {duration(float(self.compute.max()))}",
            (f"communicating up to {duration(float(self.communicate.max()))}"),
        )
        return two_lines("Prediction", [*first, f"bound {duration(self.bound)}"], second)

    @property
    def seconds(self) -> FloatArray:
        """(k,) time of each device per iteration, without its delay [s]."""
        return self.compute + self.communicate + self.fixed - self.overlapped

    @property
    def ends(self) -> FloatArray:
        """(k,) when each device is done, having waited for its partners [s]."""
        return self.seconds + self.delay

    @property
    def makespan(self) -> float:
        """Time until the last device is done [s]."""
        return float(self.ends.max())

    @property
    def bottleneck(self) -> int:
        """Index of the device that is done last; of several at once, the one that waits least."""
        last = np.flatnonzero(self.ends >= self.makespan * (1 - AT_ONCE))
        return int(last[self.delay[last].argmin()]) if last.size else int(self.ends.argmax())


@dataclass(frozen=True, eq=False)
class Exchange:
    """Who talks to whom: block sender[i] sends values[i] to block receiver[i] per iteration."""

    sender: IntVector
    receiver: IntVector
    values: IntVector

    def __repr__(self) -> str:
        return brief(self)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A partition judged on a platform."""

    certificate: Certificate
    prediction: Prediction
    exchange: Exchange
    edge_cut: float
    imbalance: float

    def __repr__(self) -> str:
        k, kept = self.certificate.contract.k, int(self.certificate.holds.sum())
        first = plural(k, "block"), f"{kept:,} of {k:,} contracts kept"
        figures = [f"edge cut {number(self.edge_cut)}", f"volume {self.total_volume:,}"]
        figures.append(f"{duration(self.prediction.makespan)} per iteration")
        return two_lines("Evaluation", first, figures)

    @property
    def total_volume(self) -> int:
        """Values sent by all blocks together per iteration."""
        return int(self.certificate.volumes.sum())

    @property
    def max_volume(self) -> int:
        """Values sent by the block that sends most."""
        return int(self.certificate.volumes.max())

    @property
    def boundary(self) -> int:
        """Vertices with a neighbour in another block."""
        return int(self.certificate.boundary.sum())

    @property
    def holds(self) -> bool:
        """Whether every block keeps its contract, and the time promised is kept."""
        return self.certificate.all_hold

    @property
    def above_bound(self) -> float:
        """How far the predicted time is above the lower bound, relative to it."""
        bound = self.prediction.bound
        return self.prediction.makespan / bound - 1 if bound > 0 else 0.0

    def verdict(self, platform: Platform) -> str:
        """The judgement in one sentence: are limits kept, how long it takes, who is last."""
        prediction, last = self.prediction, platform.names[self.prediction.bottleneck]
        ideal = platform.relative_ideal(float(self.certificate.weights.sum()))
        return (
            f"{_kept(self, platform)}; slowest device {time_of(prediction.makespan, ideal)}, "
            f"{_above(self)} {time_of(prediction.bound, ideal)}; {last} is last."
        )


def _kept(judged: Evaluation, platform: Platform) -> str:
    """Say which limits blocks keep, and which devices do not keep theirs."""
    certificate, k = judged.certificate, platform.k
    contract, broken = certificate.contract, np.flatnonzero(~certificate.holds)
    if broken.size:
        names = ", ".join(platform.names[b] for b in broken[:NAMED].tolist())
        more = f" and {broken.size - NAMED:,} more" if broken.size > NAMED else ""
        kinds = "; ".join(_faults(judged, broken))
        return f"{broken.size:,} of {k:,} blocks break their contract ({names}{more}: {kinds})"
    if not contract.may_be_unused:
        return f"All {k:,} blocks hold their contract" if k > 1 else "The block holds its contract"
    used = certificate.vertices > 0
    count = int(used.sum())
    capped = np.isfinite(contract.caps) | np.isfinite(platform.high_units)
    what = f"{count:,} {'block' if count == 1 else 'blocks'}"
    if capped[used].any():
        what += " fits its memory" if count == 1 else " fit their memory"
    return what if count == k else f"{what}, {k - count:,} of {k:,} devices unused"


def _faults(judged: Evaluation, broken: IntVector) -> list[str]:
    """Name the limits that these blocks break, each once."""
    certificate, contract = judged.certificate, judged.certificate.contract
    weights = np.column_stack([certificate.weights, certificate.further])
    slack = RELATIVE_SLACK * np.maximum(np.abs(contract.table("targets")), 1e-300)
    faults = {
        "over memory": certificate.bytes > contract.caps * (1 + RELATIVE_SLACK),
        "above the limit": (weights > contract.table("high") + slack).any(axis=1),
        "below the limit": (weights < contract.table("low") - slack).any(axis=1),
        f"later than the {duration(contract.makespan)} stated": ~contract.in_time(
            judged.prediction.ends
        ),
    }
    empty = certificate.vertices == 0
    found = [name for name, wrong in faults.items() if (wrong & ~empty)[broken].any()]
    return [*found, *(["empty"] if empty[broken].any() else [])]


def _above(judged: Evaluation) -> str:
    """How far above the lower bound, to go before its figure."""
    above = judged.above_bound
    if above >= 1:
        return f"{times(1 + above)} times the lower bound"
    if above < AT_BOUND:
        return "at the lower bound"
    return f"{100 * above:.1f} % above the lower bound"


@dataclass(frozen=True)
class Stage:
    """The figures of a partition at one step on its way, which `name` says.

    neighbours: the most that a block has. smallest, largest: weight / target of a block.
    seconds: its predicted makespan [s], None where nobody asked. role: METIS_STAGE for METIS at the
    same sizes, the better of its two methods; CUT_STAGE for the plan of least cut; SLABS_STAGE for
    slabs at these sizes; CHOSEN_STAGE for what the plan is; "" for other steps.
    """

    name: str
    edge_cut: float
    max_volume: int
    total_volume: int
    neighbours: int
    smallest: float
    largest: float
    seconds: float | None = None
    role: str = ""


@dataclass(frozen=True)
class Rival:
    """Another tool's partition for the same contract: as it came, and enforced where it was not.

    seconds: predicted per iteration [s], in the end. cpu_seconds: the tool's own [s], None where
    it was read from a plan. note: why there are no stages, or what the tool was asked for instead
    of the objective.
    """

    tool: str
    stages: tuple[Stage, ...] = ()
    seconds: float | None = None
    cpu_seconds: float | None = None
    note: str = ""


@dataclass(frozen=True, eq=False)
class Plan:
    """A certified partition of one graph over one platform, with where it came from.

    part[v] of the partition is the index of v's device in the platform's order.
    saturated (k,): devices filled to their memory. options: everything that chose the result.
    graph: its counts. inputs: file name -> SHA-256. versions: program -> version.
    notes: what a person should know, one sentence each. mapping: where the partitioner's blocks
    went, or None where they were left alone; the partition has it in it. stages: how the
    partition came to be, the last what it is; none where it came at once. rival: another tool's
    partition, where it was to be set beside. cpu_seconds: the tool's CPU time [s], None where
    the plan was read: it is no part of the file.
    """

    partition: Partition
    platform: Platform
    evaluation: Evaluation
    sizes: npt.NDArray[np.generic]
    saturated: BoolArray
    options: Mapping[str, Any]
    graph: Mapping[str, Any]
    inputs: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    mapping: BlockMapping | None = None
    stages: tuple[Stage, ...] = ()
    rival: Rival | None = None
    cpu_seconds: float | None = None

    def __repr__(self) -> str:
        k, kept = self.platform.k, int(self.certificate.holds.sum())
        first = plural(self.partition.n, "vertex", "vertices"), plural(k, "device"), self.tool
        ideal = self.platform.relative_ideal(float(self.certificate.weights.sum()))
        figures = [f"edge cut {number(self.evaluation.edge_cut)}"]
        figures.append(f"{time_of(self.prediction.makespan, ideal)} per iteration")
        return two_lines("Plan", first, [*figures, f"{kept:,} of {k:,} contracts kept"])

    @property
    def certificate(self) -> Certificate:
        """What every block is, beside what its contract asks."""
        return self.evaluation.certificate

    @property
    def prediction(self) -> Prediction:
        """Predicted seconds per iteration."""
        return self.evaluation.prediction

    @property
    def workload(self) -> Workload:
        """What an iteration does. Raises InputError where the options hold none that is one."""
        return workload_from_dict(self.options.get("workload", {"name": WEIGHTS.name}))

    @property
    def is_for_seconds(self) -> bool:
        """Whether it is the fastest found, at sizes that were found as well."""
        return self.options.get("objective") == "seconds"

    @property
    def tool(self) -> str:
        """The partitioner that made the blocks; for seconds several did, and we chose."""
        if self.is_for_seconds:
            return "evener"
        return next((name for name in self.versions if name not in ("evener", "numpy")), "evener")

    def verdict(self) -> str:
        """The plan in one sentence."""
        return self.evaluation.verdict(self.platform)
