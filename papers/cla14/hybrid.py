"""Figures 5.9 and 5.10 ([Cla14]_, 5.2.3): products on 90 nodes with 432 cores and 12 GPUs.

The nodes of table 5.3 are emulated device by device. A device's kernel adds a product of `pivot` to
its slice of C: C += A B, where A has the slice's rows and `pivot` columns, B `pivot` rows and the
slice's columns. Its seconds are

    launch + 2 rows columns pivot / peak + bytes of C, read and written, / memory bus

where all cores of a node share the bus. A GPU has a bus of its own; what it gets of A and B in
every step is sent to it. Its slice of C stays on it, and if that is more than its memory it cannot
work: seconds are infinite, as the thesis uses no out-of-core algorithm there. A node whose A, B and
C are more than its memory pages: all its devices take PAGING times as long.

Peaks are of the processors of the table at 90 % of four operations a cycle and core; those of the
GPUs, of buses and of PCI Express are round numbers for such hardware. The thesis has none of them.

The matrix is divided between nodes (INPA) and within them (IDPA) in four ways. Each begins with
even areas. In each step the communication minimising algorithm makes rectangles of them (columns of
least half-perimeter, in whole blocks), every node cuts its own into slices over the full height,
one a device, and the nodes are timed on these rectangles. FPM adds the times to partial models and
solves these geometrically (GPA), multiple CPM takes the speeds of the last step, single CPM does so
once, homogeneous never. A device that cannot do its slice counts with the speed that 4.3.1 enters
for a benchmark that is killed.

This is the thesis's way for comparison; sizing.nested is the product's, which damps steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.plans.tiling import Tiling
from evener.platforms.models.fitting import fit_model
from evener.platforms.models.samples import Sample
from evener.sizing.rounding import whole_sizes
from evener.sizing.solving import solve_sizes
from evener.sizing.tiling.whole import proportional, upright_or_lying
from papers.cla14.balancing import EPSILON, even_sizes, spread
from papers.cla14.surfaces import sent_seconds
from papers.findings import Criterion, Finding, Panel, PaperResult, Plot, Row

BLOCK = 128  # the thesis's choice of pivot, and the side of the blocks that nodes get
ELEMENT = 8  # bytes
MATRICES = 3  # A, B and C, of which each node holds its rectangle
PAGING = 25.0
GIB = 2.0**30
CPU_LAUNCH = 2e-6  # [s] of a call
# Table 5.3: nodes with so many cores in use, from 0 on.
CORES_IN_USE = {
    "adonis": (2, 1, 1, 1, 1, 1, 2, 3, 0),
    "edel": (0, 6, 4, 4, 4, 8, 8, 8, 8),
    "genepi": (0, 3, 3, 3, 3, 4, 4, 4, 4),
}
FERMI = 2  # Adonis 11 and 12 have other processors and GPUs; we take the last of the table's row


@dataclass(frozen=True)
class CpuCore:
    """A core of a CPU. peak [operations/s]."""

    peak: float


@dataclass(frozen=True)
class Accelerator:
    """A GPU. peak [operations/s]; bus, sent [bytes/s]: its memory, PCI Express; memory [bytes]."""

    peak: float
    bus: float
    sent: float
    memory: float
    launch: float = 1e-4


TESLA_T10 = Accelerator(70e9, 80e9, 3e9, 4 * GIB)
TESLA_C2050 = Accelerator(300e9, 110e9, 5e9, 3 * GIB)


@dataclass(frozen=True)
class EmulatedNode:
    """A node: its name, cores and GPU, the bus that its cores share [bytes/s], memory [bytes]."""

    name: str
    cores: tuple[CpuCore, ...]
    gpu: Accelerator | None
    bus: float
    memory: float

    @property
    def n_devices(self) -> int:
        """Number of devices that compute."""
        return len(self.cores) + (self.gpu is not None)

    def seconds(self, rows: int, columns: IntArray, pivot: int = BLOCK) -> FloatArray:
        """Return seconds (p,) of one step of all devices together: cores first, then the GPU.

        rows; columns (p,) [elements]: of each device's slice. Infinite where the GPU cannot.
        """
        own = columns.astype(np.float64)
        n = len(self.cores)
        work, c_bytes = 2.0 * rows * own * pivot, 2.0 * ELEMENT * rows * own
        seconds = np.zeros(own.size)
        peaks = np.array([core.peak for core in self.cores])
        active = max(int((own[:n] > 0).sum()), 1)
        seconds[:n] = CPU_LAUNCH + work[:n] / peaks + c_bytes[:n] * active / self.bus
        if self.gpu is not None:
            gpu, pivots = self.gpu, ELEMENT * pivot * (rows + own[n])
            seconds[n] = gpu.launch + work[n] / gpu.peak + c_bytes[n] / gpu.bus + pivots / gpu.sent
            if ELEMENT * rows * own[n] + pivots > gpu.memory:
                seconds[n] = np.inf
        if MATRICES * ELEMENT * rows * own.sum() > self.memory:
            seconds *= PAGING
        return np.where(own > 0, seconds, 0.0)


def nodes_of_grenoble() -> tuple[EmulatedNode, ...]:
    """Return the 90 nodes of table 5.3: 12 of Adonis, 50 of Edel and 28 of Genepi."""
    nodes = []
    for cores, count in enumerate(CORES_IN_USE["adonis"]):
        nodes += [_adonis(cores, fermi=False)] * count
    nodes[-FERMI:] = [_adonis(len(node.cores), fermi=True) for node in nodes[-FERMI:]]
    for name, ghz, bus, gigabytes in (("edel", 2.27, 25e9, 24), ("genepi", 2.5, 9e9, 8)):
        for cores, count in enumerate(CORES_IN_USE[name]):
            own = (CpuCore(_peak(ghz)),) * cores
            nodes += [EmulatedNode(f"{name}-{cores}c", own, None, bus, gigabytes * GIB)] * count
    return tuple(nodes)


def _adonis(cores: int, *, fermi: bool) -> EmulatedNode:
    gpu, ghz = (TESLA_C2050, 2.4) if fermi else (TESLA_T10, 2.27)
    name = f"adonis-{cores}c-{'c2050' if fermi else 't10'}"
    return EmulatedNode(name, (CpuCore(_peak(ghz)),) * cores, gpu, 25e9, 24 * GIB)


def _peak(ghz: float) -> float:
    return 0.9 * 4e9 * ghz


WAYS = ("homogeneous", "single CPM", "multiple CPM", "FPM")
STEPS = {"homogeneous": 0, "single CPM": 1, "multiple CPM": 20, "FPM": 20}  # ours, at most
ENTERED = 0.1e9  # operations/s of a killed benchmark (4.3.1)
INNER = EPSILON / 2  # spread of devices' times at which IDPA ends

# seconds(node, rows, columns (p,)): of the devices of a node, together; infinite where one cannot.
Timed = Callable[[EmulatedNode, int, IntArray], FloatArray]


@dataclass(frozen=True, eq=False)
class DividedNodes:
    """Rectangles of q nodes in whole blocks, and what they take.

    seconds (q,): of one step of the product, infinite where a device cannot. steps: how often areas
    were changed.
    """

    tiling: Tiling
    seconds: FloatArray
    steps: int

    @property
    def makespan(self) -> float:
        """Seconds of the last node [s]."""
        return float(self.seconds.max())


@dataclass(eq=False)
class _Search:
    """Sizes of n units over groups of alike members, by one of WAYS, from seconds that are seen.

    alike (g,): members of each group, which all get its share evenly.
    """

    way: str
    n: int
    alike: IntArray
    known: list[dict[float, Sample]] = field(init=False)

    def __post_init__(self) -> None:
        self.known = [{} for _ in self.alike]

    def add(self, sizes: FloatArray, seconds: FloatArray) -> None:
        """Add a point to each group's model: sizes (g,) of a group, in the seconds of its last."""
        for known, size, time in zip(self.known, sizes.tolist(), seconds.tolist(), strict=True):
            if size > 0:
                known[size] = Sample(size, time)

    def following(self, sizes: FloatArray, seconds: FloatArray) -> IntArray:
        """Return new sizes (g,); `sizes` took `seconds`."""
        if self.way == "FPM":
            self.add(sizes, seconds)
            models = [fit_model(list(known.values()), "shaped") for known in self.known]
            found = solve_sizes(models, self.n, "gpa", low=np.minimum(self.alike, self.n))
            return np.asarray(found.sizes, np.int64)
        return in_proportion(sizes / np.maximum(seconds, 1e-300), self.n)


def in_proportion(speeds: FloatArray, n: int) -> IntArray:
    """Return whole sizes (p,) of n units, one at least each, in proportion to speeds."""
    targets = speeds * (n / speeds.sum())
    return np.asarray(
        whole_sizes(n, targets, np.maximum(targets, 1.0), np.full(speeds.size, np.inf)), np.int64
    )


def sliced(
    node: EmulatedNode, rows: int, columns: int, way: str, timed: Timed, pivot: int = BLOCK
) -> tuple[IntArray, FloatArray]:
    """Return a node's slices (p,) [columns], and their true seconds (p,) (IDPA, 5.2.2).

    The node's cores are alike and get as much each, so that one model serves them all.
    """
    p, cores = node.n_devices, len(node.cores)
    groups = [group for group in (np.arange(cores), np.arange(cores, p)) if group.size]
    alike = np.array([group.size for group in groups])
    search = _Search(way, columns, alike)

    def whole(shares: IntArray) -> IntArray:
        return np.concatenate([even_sizes(int(share), int(count))
                               for share, count in zip(shares, alike, strict=True)])  # fmt: skip

    def last(values: FloatArray) -> FloatArray:
        return np.array([values[group].max() for group in groups])

    if way == "FPM" and len(groups) > 1:
        one = np.ones(p, np.int64)
        search.add(alike.astype(np.float64), last(_seen(timed(node, rows, one), rows, one, pivot)))
    sizes = even_sizes(columns, p)
    for step in range(STEPS[way] + 1):
        seconds = timed(node, rows, sizes)
        even = len(groups) == 1 or columns < p or spread(np.maximum(seconds, 1e-300)) <= INNER
        if even or step == STEPS[way]:
            break
        shares = np.array([sizes[group].sum() for group in groups], np.float64)
        following = whole(search.following(shares, last(_seen(seconds, rows, sizes, pivot))))
        if (following == sizes).all():
            break
        sizes = following
    return sizes, seconds


def divided(
    nodes: Sequence[EmulatedNode], n: int, way: str, timed: Timed | None = None
) -> DividedNodes:
    """Return a matrix of n x n over nodes, by one of WAYS (INPA, 5.2.1).

    timed: by default the emulated nodes' own seconds.
    """
    timed = timed or (lambda node, rows, columns: node.seconds(rows, columns))
    side, q = n // BLOCK, len(nodes)
    known: dict[tuple[str, int, int], tuple[float, float]] = {}

    def nodes_seconds(heights: IntArray, widths: IntArray) -> FloatArray:
        """Return (2, q): true seconds, and those seen."""
        found = np.zeros((2, q))
        sides = zip(nodes, (heights * BLOCK).tolist(), (widths * BLOCK).tolist(), strict=True)
        for i, (node, rows, columns) in enumerate(sides):
            key = node.name, rows, columns
            if rows * columns and key not in known:
                sizes, seconds = sliced(node, rows, columns, way, timed)
                known[key] = float(seconds.max()), float(_seen(seconds, rows, sizes).max())
            found[:, i] = known[key] if rows * columns else 0.0
        return found

    search = _Search(way, side * side, np.ones(q, np.int64))
    if way == "FPM":
        ones = np.ones(q, np.int64)
        search.add(ones.astype(np.float64), nodes_seconds(ones, ones)[1])
    areas, best, tried = even_sizes(side * side, q), None, set()
    for step in range(STEPS[way] + 1):
        wanted = areas.astype(np.float64)
        tiling = upright_or_lying(wanted, proportional(wanted), (side, side), BLOCK)
        seconds, seen = nodes_seconds(tiling.height, tiling.width)
        one = DividedNodes(tiling, seconds, step)
        if best is None or way != "FPM" or one.makespan < best.makespan:
            best = one
        again = tuple(tiling.areas.tolist()) in tried
        if step == STEPS[way] or again or spread(np.maximum(seconds, 1e-300)) <= EPSILON:
            break
        tried.add(tuple(tiling.areas.tolist()))
        areas = search.following(tiling.areas.astype(np.float64), seen)
    assert best is not None
    return best


def _seen(seconds: FloatArray, rows: int, columns: IntArray, pivot: int = BLOCK) -> FloatArray:
    """Return the seconds that count: of a killed benchmark those of ENTERED."""
    return np.where(np.isinf(seconds), 2.0 * rows * columns * pivot / ENTERED, seconds)


BY_CHANCE = 124032  # the N at which the thesis's multiple CPM "found a reasonably good" division
HYBRID_SIZES = (15000, 30000, 45000, 60000, 75000, 90000, 105000, BY_CHANCE, 135000, 150000)
COUNTER_SIZE = 90000
RANDOM_SIZE, RANDOM_OF = 30000, 9  # of the counter-example with random times: every ninth node
# InfiniBand 20G and 40G, of which the thesis has both, and does not say where [bytes/s]: their
# data rates. Products are timed over the slower one.
LINKS = 2e9, 4e9
NEAR = 0.95  # of the fastest way's speed, which we call as fast
LIMITS = {"single CPM": 60000, "multiple CPM": 75000}  # the largest N that each balances
SLOWEST = "edel-1c"  # "a node from Edel cluster with 1 CPU core"
SENT, SENT_AT = 0.06, 150000  # of all time is communication, waiting included
LARGE_BYTES = 0.5e12  # "in excess of 0.5 TB of data": three matrices of 8 bytes an element, we take
HYBRID_DID = "GEMM on 90 nodes with 432 cores and 12 GPUs; sizes set between nodes and within them"
HYBRID_TRIED = (
    f"the devices of table 5.3, emulated, in blocks of {BLOCK}; INPA, IDPA and messages; even "
    f"within {EPSILON:.0%} between nodes, {EPSILON / 2:.1%} within; at most {STEPS['FPM']} steps; "
    f"messages at {LINKS[0] / 1e9:g} GB/s"
)
# What we call balanced: nodes' times agree to EPSILON and what a row and a column of blocks are of
# the smallest rectangle.
BALANCED = f"{EPSILON:.0%} and a row and a column of blocks"
# Figure 5.9: a node of 7 cores and a GPU by itself.
SIDES, PIVOTS = (2048, 4096, 8192, 12288, 16384, 20480), (16, 32, 64, 128, 256, 512)
NEAR_PEAK, FROM = 0.85, 8192  # of the best pivot's speed; for N from which on; ours


def hybrid(sizes: Sequence[int] = HYBRID_SIZES) -> PaperResult:
    """Figure 5.10: even, single-CPM, multiple-CPM and FPM on 90 nodes; 5.9: sizes of blocks."""
    nodes = nodes_of_grenoble()
    rows = [hybrid_row(nodes, n) for n in sizes]
    lines = {way: [float(row[f"{way}_gflops"]) for row in rows] for way in WAYS}
    panel = Panel("90 nodes with and without GPUs: C = A B", "N", "GFLOPS", list(sizes), lines)
    blocks = block_rows(nodes)
    by_n = {f"N = {n:,}": [float(row["gflops"]) for row in blocks if row["n"] == n] for n in SIDES}
    block_panel = Panel("7 cores and a GPU", "block", "GFLOPS", list(PIVOTS), by_n, log_x=True)
    endless, doubled = [_endless(node) for node in nodes], [_doubled(node) for node in nodes]
    without = [hybrid_row(endless, COUNTER_SIZE)]
    others = [hybrid_row(doubled, COUNTER_SIZE, ways=WAYS[:1])]
    at_random = [hybrid_row(nodes[::RANDOM_OF], RANDOM_SIZE, _random_times())]
    forever = "the same nodes with unlimited memory"
    findings = [
        slowest(rows).beside_counter("Edel's nodes of one core with eight", slowest(others)),
        limits(rows).beside_counter(forever, limits(without)),
        general(rows).beside_counter(forever, general(without)),
        reliable(rows).beside_counter("devices whose times are at random", reliable(at_random)),
        sent(rows),
        block_size(blocks),
    ]
    plots = [Plot("figure-5.10-hybrid", [panel]), Plot("figure-5.9-blocks", [block_panel])]
    return PaperResult(findings, plots, {"hybrid": rows, "blocks": blocks})


def _endless(node: EmulatedNode) -> EmulatedNode:
    gpu = None if node.gpu is None else replace(node.gpu, memory=np.inf)
    return replace(node, memory=np.inf, gpu=gpu)


def _doubled(node: EmulatedNode) -> EmulatedNode:
    return replace(node, cores=node.cores * 8) if node.name == SLOWEST else node


def _random_times() -> Timed:
    rng = np.random.default_rng(11)

    def timed(node: EmulatedNode, rows: int, columns: IntArray) -> FloatArray:
        return node.seconds(rows, columns) * rng.lognormal(0.0, 1.5, columns.size)

    return timed


def hybrid_row(
    nodes: Sequence[EmulatedNode], n: int, timed: Timed | None = None, ways: Sequence[str] = WAYS
) -> Row:
    """GFLOPS of a product of n x n matrices by every way, its nodes' spread, and what is sent.

    n is rounded down to whole blocks. `last`: the slowest node with even sizes. `blocks`: what a
    row and a column of blocks are of the smallest rectangle. `sent`, `waited`: shares of messages
    and of mean waiting for the last node in all time by FPM, by GB/s of the links.
    """
    row: dict[str, float | int | str] = {"n": n}
    side = n // BLOCK
    for way in ways:
        found = divided(nodes, n, way, timed)
        computed = side * found.makespan
        messages = [sent_seconds(found.tiling, link, BLOCK) for link in LINKS]
        whole = computed + messages[0]
        row[f"{way}_gflops"] = round(2 * (side * BLOCK) ** 3 / whole / 1e9, 1)
        apart = _spread(found)
        row[f"{way}_spread"] = round(apart, 4) if np.isfinite(apart) else "inf"
        row[f"{way}_blocks"] = round(_left_by_blocks(found.tiling), 4)
        row[f"{way}_steps"] = found.steps
        if way == WAYS[0]:
            row["last"] = nodes[int(found.seconds.argmax())].name
        if way == "FPM":
            waited = computed - side * float(found.seconds.mean())
            for link, own in zip(LINKS, messages, strict=True):
                row[f"sent_{link / 1e9:g}"] = round(own / (computed + own), 4)
                row[f"waited_{link / 1e9:g}"] = round(waited / (computed + own), 4)
    return row


def _spread(found: DividedNodes) -> float:
    """Spread of the nodes' times; infinite where a device cannot do its part."""
    able = np.isfinite(found.seconds).all()
    return float(spread(np.maximum(found.seconds, 1e-300))) if able else np.inf


def _left_by_blocks(tiling: Tiling) -> float:
    used = tiling.areas > 0
    return float((1 / tiling.height[used] + 1 / tiling.width[used]).max())


def block_rows(nodes: Sequence[EmulatedNode]) -> list[Row]:
    """GFLOPS of a node of 7 cores and a Tesla T10 by itself, by N and width of the pivot."""
    (node,) = {one.name: one for one in nodes if one.name == "adonis-6c-t10"}.values()
    node = replace(node, cores=node.cores[:1] * 7)
    rows: list[Row] = []
    for n in SIDES:
        for pivot in PIVOTS:

            def timed(
                one: EmulatedNode, height: int, columns: IntArray, b: int = pivot
            ) -> FloatArray:
                return one.seconds(height, columns, b)

            _, seconds = sliced(node, n, n, "FPM", timed, pivot)
            gflops = 2 * n * n * pivot / float(seconds.max()) / 1e9
            rows.append({"n": n, "block": pivot, "gflops": round(gflops, 2)})
    return rows


def _balanced(rows: Sequence[Row], way: str) -> list[int]:
    """The N at which the nodes' times by a way are BALANCED."""
    return [
        int(row["n"])
        for row in rows
        if float(row[f"{way}_spread"]) <= EPSILON + float(row[f"{way}_blocks"])
    ]


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(f"{number:,}" for number in numbers) or "none"


def slowest(rows: Sequence[Row]) -> Finding:
    """The homogeneous distribution waits for the slowest node."""
    others = [int(row["n"]) for row in rows if row["last"] != SLOWEST]
    return Finding(
        "5.2.3, figure 5.10, even sizes",
        HYBRID_DID,
        "speed is that of the slowest, a node of Edel with one core",
        HYBRID_TRIED,
        f"all wait for {SLOWEST} at {len(rows) - len(others)} of {len(rows)} N; for another at "
        f"N = {_listed(others)}",
        [Criterion(f"{SLOWEST} is last at every N", not others)],
    )


def limits(rows: Sequence[Row]) -> Finding:
    """The largest N that CPM balances."""
    sizes = [int(row["n"]) for row in rows]
    found = {name: _balanced(rows, name) for name in LIMITS}
    seen = "; ".join(f"{name}: {_listed(own)}" for name, own in found.items())
    return Finding(
        "5.2.3, figure 5.10, CPM's limits",
        HYBRID_DID,
        " and ".join(f"{name} balances up to N = {most:,}" for name, most in LIMITS.items()),
        f"{HYBRID_TRIED}; N of {_listed(sizes)}",
        f"nodes within {BALANCED} at these N by {seen}",
        [
            criterion
            for name, most in LIMITS.items()
            for criterion in (
                Criterion(
                    f"{name} balances every N up to {most:,}",
                    all(n in found[name] for n in sizes if n <= most),
                    own=True,
                ),
                Criterion(
                    f"{name} balances none beyond",
                    all(n <= most for n in found[name]),
                    own=True,
                ),
            )
        ],
    )


def general(rows: Sequence[Row]) -> Finding:
    """CPM over the full range of N."""
    least = {name: min(float(row[f"{name}_gflops"]) / float(row["FPM_gflops"]) for row in rows)
             for name in LIMITS}  # fmt: skip
    seen = ", ".join(f"{name} {own:.2f}" for name, own in least.items())
    failing = {name: [int(row["n"]) for row in rows if int(row["n"]) not in _balanced(rows, name)]
               for name in LIMITS}  # fmt: skip
    chance = [float(row["multiple CPM_gflops"]) / float(row["FPM_gflops"])
              for row in rows if row["n"] == BY_CHANCE]  # fmt: skip
    by_chance = f"; multiple CPM has {chance[0]:.2f} of it at N = {BY_CHANCE:,}" if chance else ""
    return Finding(
        "5.2.3, figure 5.10, CPM in general",
        HYBRID_DID,
        "over the full range of N one speed a device is unable to converge to a balanced solution, "
        f"but by chance, as multiple CPM at N = {BY_CHANCE:,}",
        HYBRID_TRIED,
        f"unbalanced: {'; '.join(f'{name}: {_listed(own)}' for name, own in failing.items())}; "
        f"least part of FPM's speed: {seen}{by_chance}",
        [
            Criterion(f"{name} leaves some N unbalanced beyond {BALANCED}", bool(own),
                      own=True)
            for name, own in failing.items()
        ],
    )  # fmt: skip


def reliable(rows: Sequence[Row]) -> Finding:
    """FPM over the full range of N."""
    large = [int(row["n"]) for row in rows if 3 * 8 * int(row["n"]) ** 2 > LARGE_BYTES]
    balanced = _balanced(rows, "FPM")
    others = [max(float(row[f"{way}_gflops"]) for way in WAYS[:-1]) for row in rows]
    part = [float(row["FPM_gflops"]) / other for row, other in zip(rows, others, strict=True)]
    return Finding(
        "5.2.3, figure 5.10, FPM",
        HYBRID_DID,
        "reliably finds good sizes, for matrices of over 0.5 TB",
        HYBRID_TRIED,
        f"nodes within {BALANCED} at {len(balanced)} of {len(rows)} N ({_listed(large)}: over 0.5 "
        f"TB); {min(part):.3f} to {max(part):.1f} times the speed of the best other way",
        [
            Criterion(f"nodes within {BALANCED} at every N", len(balanced) == len(rows),
                      own=True),
            Criterion(f"{NEAR:.0%} at least of the best other way's speed", min(part) >= NEAR,
                      own=True),
        ],
    )  # fmt: skip


def sent(rows: Sequence[Row]) -> Finding:
    """The share of communication at N = 150,000."""
    found = [row for row in rows if row["n"] == SENT_AT]
    did = f"timed all communication, waiting included, at N = {SENT_AT:,}"
    where, says = "5.2.3, communication", f"{SENT:.0%} of the time"
    if not found:
        return Finding(where, did, says, "nothing", "", lacking=f"N = {SENT_AT:,} was left out")
    keys = [f"{link / 1e9:g}" for link in LINKS]
    parts = [(float(found[0][f"sent_{key}"]), float(found[0][f"waited_{key}"])) for key in keys]
    shares = [sum(part) for part in parts]
    seen = "; ".join(
        f"at {key} GB/s {sum(part):.1%}: messages {part[0]:.1%}, mean wait {part[1]:.1%}"
        for key, part in zip(keys, parts, strict=True)
    )
    return Finding(
        where,
        did,
        says,
        "the same; messages of A one after another, of B by a tree, over InfiniBand 20G, and 40G",
        seen,
        [Criterion(f"{SENT:.0%} lies between 40G's share and 20G's", shares[1] <= SENT <= shares[0],
                   own=True)],
        "the thesis has nodes of both networks, and does not say which",
    )  # fmt: skip


def block_size(rows: Sequence[Row]) -> Finding:
    """Figure 5.9: the block of which near-peak speed needs no larger one."""
    speed = {(int(row["n"]), int(row["block"])): float(row["gflops"]) for row in rows}
    part = {
        key: own / max(speed[key[0], b] for b in PIVOTS) for key, own in speed.items()
    }  # fmt: skip
    at = [part[n, BLOCK] for n in SIDES if n >= FROM]
    smaller = [part[n, PIVOTS[0]] for n in SIDES if n >= FROM]
    return Finding(
        "5.2.3, figure 5.9",
        "a node of 7 cores and a GPU, IDPA, by N and block size",
        f"with blocks of {BLOCK} near-peak speed for a range of N; large blocks reach the peak, "
        "small ones balance finer",
        f"7 cores and a Tesla T10, emulated; N of {_listed(SIDES)}, blocks of {_listed(PIVOTS)}",
        f"from N = {FROM:,} on blocks of {BLOCK} have {min(at):.2f} to {max(at):.2f} of the best "
        f"block's speed, of {PIVOTS[0]} {min(smaller):.2f} to {max(smaller):.2f}",
        [
            Criterion(f"{NEAR_PEAK:.0%} of the best at {BLOCK}", min(at) >= NEAR_PEAK, own=True),
            Criterion(f"less than that at {PIVOTS[0]}", max(smaller) < NEAR_PEAK, own=True),
            Criterion(
                "faster with every larger block, at every N",
                all(speed[n, a] <= speed[n, b] for n in SIDES
                    for a, b in pairwise(PIVOTS)),
            ),
        ],
    )  # fmt: skip
