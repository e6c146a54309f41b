"""Certificate, Prediction, Evaluation, Plan: all figures of a partition on a platform."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray, IntVector
from evener.errors import InputError
from evener.plans.partition import RELATIVE_SLACK, Contract, Partition
from evener.plans.partition import Mapping as BlockMapping
from evener.plans.workload import WEIGHTS, Workload, workload_from_dict
from evener.platforms.platform import Platform
from evener.wording import (
    all_of,
    brief,
    duration,
    from_above,
    number,
    plural,
    spread,
    time_of,
    times,
    two_lines,
)

if TYPE_CHECKING:
    from evener.graphs.graph import Graph
    from evener.graphs.mesh import Mesh
    from evener.graphs.polymesh import PolyMesh

IN_SLICES = "sliced"  # the option that records how a graph in slices was divided
METIS_STAGE, CUT_STAGE, SLABS_STAGE, CHOSEN_STAGE = "metis", "cut", "slabs", "chosen"
SAME_DEVICES_STAGE = "metis on the same devices"
ROLES = (METIS_STAGE, SAME_DEVICES_STAGE, CUT_STAGE, SLABS_STAGE, CHOSEN_STAGE, "")  # of a Stage
ENFORCED, ON_DEVICES = "enforced", "on the plan's "  # names of a rival's stages, or their begin
NAMED = 4  # devices that a verdict lists
AT_BOUND = 5e-4  # relative distance below which a verdict says "at the lower bound"
MOST_DRAWN = 1_000_000  # vertices up to which a plan keeps its graph for pictures, about 0.1 GB
AT_ONCE = 1e-9  # of the makespan: devices that end this close end together
# Ratio of the arcs a vertex of two blocks, and of the time that this would cost, from which on the
# verdict mentions both.
ARCS_APART, ARCS_COST = 2.0, 1.05
# Fields of Prediction that older plans lack; they then count as zero.
FURTHER_SECONDS = ("contention", "fixed", "overlapped", "interior", "delay")


def _nothing() -> FloatArray:
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class Certificate:
    """The measured figures of every block and its contract; arrays (k,), in device order.

    weights [units]; vertices; bytes [B]. boundary: vertices with a neighbour in another block.
    components: connected pieces. neighbours: other blocks touched. volumes: values sent per
    iteration. holds: whether the contract is kept. further (k, c - 1) [units]: the other weights of
    the blocks, if vertices have c weights. All figures are counted from graph and partition when
    the plan is finished.
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

    @property
    def fullness(self) -> FloatArray:
        """Weight / target of each block's weights, (k, c); a target of zero counts as 1e-300."""
        weights = np.column_stack([self.weights, self.further])
        return np.asarray(weights / self.contract.table("targets").clip(1e-300))


@dataclass(frozen=True, eq=False)
class Prediction:
    """Predicted seconds per iteration, each (k,) [s] in the devices' order; docs/prediction.md.

    compute: by the speed model at the load. communicate: time of its messages, including waiting
    for shared links; contention: only that waiting. fixed: cost of an iteration that does not
    depend on the load. overlapped: time of simultaneous computing and communicating. interior (k,):
    share of each load at vertices without a neighbour in another block, which can be computed
    during the exchange. delay: how much later a device finishes because it waits for partners that
    begin later or have more messages. bound [s]: makespan of the best sizes if nothing were
    exchanged (evener.sizing.bounds), NaN if not computed. hop_bytes (levels,) [B]: bytes x hops by
    the deepest level that two devices share. ideal [s]: if speeds are relative, so that only ratios
    of seconds are meaningful, the time of all devices together without exchange
    (Platform.relative_ideal); else None. contention, fixed, overlapped, interior and delay are zero
    if left out.
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
    ideal: float | None = None

    def __post_init__(self) -> None:
        for name in FURTHER_SECONDS:
            if not getattr(self, name).size:
                object.__setattr__(self, name, np.zeros(self.compute.size))

    def __repr__(self) -> str:
        first = plural(self.compute.size, "device"), f"makespan {self.clock(self.makespan)}"
        second = (
            f"computing up to {self.clock(float(self.compute.max()))}",
            (f"communicating up to {self.clock(float(self.communicate.max()))}"),
        )
        return two_lines("Prediction", [*first, f"bound {self.clock(self.bound)}"], second)

    def clock(self, seconds: float) -> str:
        """Return a time [s] as text; if speeds are relative, as a multiple of `ideal`."""
        return time_of(seconds, self.ideal)

    @property
    def seconds(self) -> FloatArray:
        """Time of each device per iteration, without its delay, (k,) [s]."""
        return self.compute + self.communicate + self.fixed - self.overlapped

    @property
    def ends(self) -> FloatArray:
        """Time when each device finishes, including its delay, (k,) [s]."""
        return self.seconds + self.delay

    @property
    def makespan(self) -> float:
        """Time when the last device finishes [s]."""
        return float(self.ends.max())

    @property
    def bottleneck(self) -> int:
        """Index of the device that finishes last; if there are several, the least delayed one."""
        last = np.flatnonzero(self.ends >= self.makespan * (1 - AT_ONCE))
        return int(last[self.delay[last].argmin()]) if last.size else int(self.ends.argmax())


@dataclass(frozen=True, eq=False)
class Exchange:
    """The messages of an iteration: block sender[i] sends values[i] to block receiver[i]."""

    sender: IntVector
    receiver: IntVector
    values: IntVector

    def __repr__(self) -> str:
        return brief(self)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """All figures of a partition on a platform."""

    certificate: Certificate
    prediction: Prediction
    exchange: Exchange
    edge_cut: float
    imbalance: float

    def __repr__(self) -> str:
        k, kept = self.certificate.contract.k, int(self.certificate.holds.sum())
        first = plural(k, "block"), f"{kept:,} of {k:,} contracts kept"
        figures = [f"edge cut {number(self.edge_cut)}", f"volume {self.total_volume:,}"]
        figures.append(f"{self.prediction.clock(self.prediction.makespan)} per iteration")
        return two_lines("Evaluation", first, figures)

    def _repr_html_(self) -> str:
        html: str = from_above("evener.reporting.notebook:evaluation_html")(self)
        return html

    @property
    def total_volume(self) -> int:
        """Values sent by all blocks together per iteration."""
        return int(self.certificate.volumes.sum())

    @property
    def max_volume(self) -> int:
        """Number of values sent by the block that sends most."""
        return int(self.certificate.volumes.max())

    @property
    def boundary(self) -> int:
        """Number of vertices with a neighbour in another block."""
        return int(self.certificate.boundary.sum())

    @property
    def holds(self) -> bool:
        """Whether every block keeps its contract, and all devices the makespan of the contract."""
        return self.certificate.all_hold

    @property
    def above_bound(self) -> float:
        """Predicted makespan / lower bound - 1."""
        bound = self.prediction.bound
        return self.prediction.makespan / bound - 1 if bound > 0 else 0.0

    def verdict(self, platform: Platform) -> str:
        """Return one sentence: whether limits are kept, an iteration's time, the last device."""
        prediction, last = self.prediction, platform.names[self.prediction.bottleneck]
        return (
            f"{_kept(self, platform)}; slowest device {prediction.clock(prediction.makespan)}, "
            f"{_above(self)} {prediction.clock(prediction.bound)}; {last} is last."
        )


def _kept(judged: Evaluation, platform: Platform) -> str:
    """Return the part of the verdict that states whether limits are kept, or which blocks fail."""
    certificate, k = judged.certificate, platform.k
    contract = certificate.contract
    if not judged.holds:
        return breaches(judged, platform)
    if not contract.may_be_unused:
        return f"{all_of(k, 'block')} {'hold their' if k > 1 else 'holds its'} contract"
    used = certificate.vertices > 0
    count = int(used.sum())
    capped = np.isfinite(contract.caps) | np.isfinite(platform.high_units)
    what = f"{count:,} {'block' if count == 1 else 'blocks'}"
    if capped[used].any():
        what += " fits its memory" if count == 1 else " fit their memory"
    return what if count == k else f"{what}, {k - count:,} of {k:,} devices unused"


def breaches(judged: Evaluation, platform: Platform) -> str:
    """Return how many blocks break their contract, on which devices, and which limits they break.

    "" if every block keeps its contract.
    """
    broken = np.flatnonzero(~judged.certificate.holds)
    if not broken.size:
        return ""
    names = ", ".join(platform.names[b] for b in broken[:NAMED].tolist())
    more = f" and {broken.size - NAMED:,} more" if broken.size > NAMED else ""
    kinds = "; ".join(_faults(judged, broken))
    count = f"{broken.size:,} of {platform.k:,} blocks"
    return f"{count} break their contract ({names}{more}: {kinds})"


def _faults(judged: Evaluation, broken: IntVector) -> list[str]:
    """Return the names of the limits that these blocks break."""
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
    """Return, in words, how far the makespan is above the lower bound."""
    above = judged.above_bound
    if above >= 1:
        return f"{times(1 + above)} times the lower bound"
    if above < AT_BOUND:
        return "at the lower bound"
    return f"{100 * above:.1f} % above the lower bound"


def arcs_remark(
    judged: Evaluation, platform: Platform, workload: Workload, graph: Mapping[str, Any]
) -> str:
    """Return a sentence if all vertices weigh one unit but blocks' degrees differ much; else "".

    graph: counts of the graph, see Plan.graph. "" if weights or the workload state the cost of a
    vertex, if no two blocks differ by more than ARCS_APART in arcs per vertex, or if computing
    would take less than ARCS_COST times as long with work proportional to arcs.
    """
    certificate, per_arc = judged.certificate, graph.get("bytes_per_edge", 0.0)
    used = np.flatnonzero(certificate.vertices > 0)
    if any(workload.shares) or not graph.get("unit_weights") or not per_arc or used.size < 2:
        return ""
    vertices = certificate.vertices[used]
    arcs = np.rint((certificate.bytes[used] - graph["bytes_per_vertex"] * vertices) / per_arc)
    density, compute = arcs / vertices, judged.prediction.compute[used]
    apart = density.max() > ARCS_APART * density.min()
    if not (apart and 0 < compute.max() < np.inf and 0 < arcs.sum() < np.inf):
        return ""
    cost = float((compute * density).max() / compute.max() * vertices.sum() / arcs.sum())
    if cost < ARCS_COST:
        return ""
    few, many = used[density.argmin()], used[density.argmax()]
    return (
        f"{platform.names[few]} has {density.min():.3g} arcs per vertex, "
        f"{platform.names[many]} {density.max():.3g}: if work is proportional to arcs, as in "
        f"PageRank, computing takes {times(cost)} times as long; --weights degree or --kernel "
        "pagerank balances it."
    )


@dataclass(frozen=True)
class Stage:
    """The figures of a partition after the step `name`.

    neighbours: the largest number of neighbours of a block. smallest, largest: weight / target of a
    block. seconds: predicted makespan [s], None if not computed. role: METIS_STAGE for METIS at the
    sizes of the plan of least cut, the better of its two methods; SAME_DEVICES_STAGE for METIS only
    on the devices that the plan uses, if it leaves some unused; CUT_STAGE for the plan of least
    cut; SLABS_STAGE for slabs at these sizes; CHOSEN_STAGE for the final partition; "" for other
    steps.
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

    def __repr__(self) -> str:
        seconds = "" if self.seconds is None else f", {number(self.seconds)} s"
        sent = f"volume {self.total_volume:,}, {self.max_volume:,} of one block at most"
        return f"Stage({self.name}: edge cut {number(self.edge_cut)}, {sent}{seconds})"


@dataclass(frozen=True)
class Rival:
    """Another tool's partition for the same contract, repaired if it broke the contract.

    stages: its figures as returned, and after the repair; if the plan leaves devices unused, a last
    stage on the used devices only. seconds: predicted makespan of the stage `nearest` [s].
    cpu_seconds: CPU time of the tool [s], None in a plan that was read. note: why there are no
    stages, or which objective the tool was given instead.
    """

    tool: str
    stages: tuple[Stage, ...] = ()
    seconds: float | None = None
    cpu_seconds: float | None = None
    note: str = ""

    @property
    def is_on_devices(self) -> bool:
        """Whether the last stage is on the used devices only."""
        return len(self.stages) > 1 and self.stages[-1].name.startswith(ON_DEVICES)

    @property
    def nearest(self) -> Stage:
        """The stage of least predicted seconds; a stage that was then repaired does not count."""
        repaired = any(one.name == ENFORCED for one in self.stages)
        kept = self.stages[1:] if repaired else self.stages
        return min(kept, key=lambda one: np.inf if one.seconds is None else one.seconds)


@dataclass(frozen=True, eq=False)
class Plan:
    """A certified partition of one graph over one platform, with its origin.

    partition: part[v] is the index of v's device in the order of the platform. platform: the
    devices and links. evaluation: certificate, prediction and figures of the partition. sizes (k,):
    requested load of each device [units]; saturated (k,): whether it fills the device's memory.
    options: all options that influenced the result. graph: counts of its vertices and edges.
    inputs: file name -> SHA-256. versions: program -> version. notes: sentences for the user.
    mapping: the devices of the partitioner's blocks, already applied to the partition, or None.
    stages: figures after each step, the last of which is the result; may be empty. rival: another
    tool's partition to compare with, or None. cpu_seconds: of the partitioner [s]; None if the plan
    was read, as the file does not contain it. source: the divided graph and its mesh, for pictures;
    None if the plan was read, or if the graph has more than MOST_DRAWN vertices. A notebook shows
    the plan with the pictures of its report.
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
    source: tuple[Graph, Mesh | PolyMesh | None] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        k, kept = self.platform.k, int(self.certificate.holds.sum())
        first = plural(self.partition.n, "vertex", "vertices"), plural(k, "device"), self.tool
        figures = [f"edge cut {number(self.evaluation.edge_cut)}"]
        figures.append(f"{self.prediction.clock(self.prediction.makespan)} per iteration")
        return two_lines("Plan", first, [*figures, f"{kept:,} of {k:,} contracts kept"])

    def _repr_html_(self) -> str:
        html: str = from_above("evener.reporting.notebook:plan_html")(self)
        return html

    def plot(self, graph: Any = None) -> Any:
        """Return a matplotlib Figure: the blocks in colours, and each device's predicted time.

        graph: a file's name, what `read` returns, a Graph or a Mesh, for the positions of blocks;
        None: `source`. Without coordinates the blocks are discs, joined by lines if they exchange
        values. Raises InputError if the graph is not the plan's.
        """
        return from_above("evener.reporting.notebook:plan_figure")(self, graph)

    def explain(self) -> str:
        """Return why an iteration takes as long as it does, and what would make it faster.

        The text has the verdict, other partitions that were tried, the slowest device, the changes
        of the machine that help most, and the notes, as `evener plan` prints them.
        """
        text: str = from_above("evener.reporting.explanation:explanation")(self)
        return text

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with a row for each device: its contract, its block, its times.

        Raises ImportError if pandas is not installed.
        """
        return from_above("evener.reporting.certificates:certificate_frame")(self)

    @property
    def certificate(self) -> Certificate:
        """The measured figures of every block and its contract."""
        return self.evaluation.certificate

    @property
    def prediction(self) -> Prediction:
        """Predicted seconds per iteration."""
        return self.evaluation.prediction

    @property
    def workload(self) -> Workload:
        """The workload in the options. Raises InputError if it is invalid."""
        return workload_from_dict(self.options.get("workload", {"name": WEIGHTS.name}))

    @property
    def is_for_seconds(self) -> bool:
        """Whether sizes and blocks were chosen for least predicted seconds."""
        return self.options.get("objective") == "seconds"

    @property
    def tool(self) -> str:
        """Name of the partitioner; "evener" for seconds, where several contribute."""
        if self.is_for_seconds:
            return "evener"
        return next((name for name in self.versions if name not in ("evener", "numpy")), "evener")

    def verdict(self) -> str:
        """Return the plan's result in one sentence, and a second one if arcs are out of balance."""
        verdict = self.evaluation.verdict(self.platform)
        remark = arcs_remark(self.evaluation, self.platform, self.workload, self.graph)
        return f"{verdict} {remark}" if remark else verdict
