"""What size costs Evener's partitioner: time, memory and threads, from 2^16 to 2^24 vertices.

    python benchmarks/partitioner_scale.py [--parts growth,few,points,threads,rdg] [--least 16]
                                           [--most 24]

growth: Delaunay graphs of 2^16 to 2^24 points for 8 to 4,096 blocks, one of twelve 16 times as
large as the rest; METIS k-way beside it up to 2^20. few: 20 vertices a block. points: k-means
alone. threads: CPU seconds of every slice of the work, and what two cores need for them.
rdg: 2^24 points, 96 devices, the machines of [LDHT]_'s Table IV, without memory and with that of
its Table III; whole plans, and METIS k-way at the same sizes.

Prints one line a measurement and puts them in place of those of the same parts in
the result file. Each is made in a process of its own; `peak_MB` is all the memory
it ever held, graph and compiled code included. The graph of 2^24 points is made once, which takes
minutes and 13 GB, and kept in benchmarks/data.
"""

import heapq
import statistics
import time
from pathlib import Path

import numpy as np
from records import Arguments, alone, known, markdown, write

import evener.threads
from evener.graphs.generating.delaunay import delaunay
from evener.graphs.graph import Graph
from evener.partitioning.initial.kmeans import kmeans_blocks
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.planning.in_memory import plan
from evener.planning.options import PlanOptions
from evener.planning.plan_file import peak_bytes
from evener.plans import metrics
from evener.plans.partition import Partition
from evener.platforms.examples import topo1, topo2

HERE = Path(__file__).parent
DATA, RESULTS = HERE / "data", HERE / "results" / "partitioner_scale.jsonl"
SEED, FAST_SPEED, ONE_FAST_OF = 2026, 16.0, 12
BLOCKS = (8, 96, 1024, 4096)
FEWEST_A_BLOCK = 20
WITH_METIS, SEVERAL_RUNS = 1 << 20, 1 << 16
# Table IV of the paper, its rdg row: least cut and least largest volume of any of its tools, and
# the cut of ParMetisGraph. Its number of points is inferred, not stated: see docs/results.
RDG_POWER = 24
PAPER = {
    "t1_f8": (102_700, 3_270, 111_690),
    "t1_f16": (97_184, 3_445, 100_240),
    "t2_f8": (107_750, 3_519, 115_650),
    "t2_f16": (104_440, 3_151, 111_950),
}
MEMORY = {"none": False, "table III": True}  # whether devices have caps


def main():
    parser = Arguments(__doc__, RESULTS)
    parser.add_argument("--parts", default=",".join(PARTS), help="which measurements")
    parser.add_argument("--least", type=int, default=16, help="smallest graphs, a power of two")
    parser.add_argument("--most", type=int, default=24, help="largest graphs, a power of two")
    parser.when_small(parts="growth,few,points,threads", least=12, most=12)
    args = parser.parse_args()
    parts = args.parts.split(",")
    powers = range(args.least, args.most + 1, 2)
    lines = [line for line in known(args.output) if line["part"] not in parts]
    prepare([*powers, *([RDG_POWER] if "rdg" in parts else [])])
    for part in parts:
        for function, arguments in PARTS[part](powers):
            line = {"part": part} | alone(function, *arguments)
            print(line, flush=True)
            lines.append(line)
            write(args.output, lines)


def growth(powers):
    for power in powers:
        for k in BLOCKS:
            if (1 << power) / k >= FEWEST_A_BLOCK:
                yield one_size, (power, k)


def few(powers):
    for power in [power for power in powers if power <= 18]:
        yield one_size, (power, (1 << power) // FEWEST_A_BLOCK)


def points(_powers):
    for d in (2, 3):
        yield one_cloud, (22, d, 96)


def threads(powers):
    for power in [power for power in powers if power in (18, 20)]:
        for preset, objective in (("default", "cut"), ("strong", "max_volume")):
            yield shared, (power, 96, preset, objective)


def rdg(_powers):
    for machine in PAPER:
        for memory in MEMORY:
            yield table_four, (machine, memory)


PARTS = {"growth": growth, "few": few, "points": points, "threads": threads, "rdg": rdg}


def one_size(power, k):
    graph = instance(power)
    warm(k)
    request = Request(targets(graph.n, k), seed=1)
    runs = 3 if graph.n <= SEVERAL_RUNS else 1
    metis, cpu = [], []
    for _ in range(runs):
        if graph.n <= WITH_METIS:
            metis.append(partition_with("metis", graph, request))
        result = partition_with("evener", graph, request)
        cpu.append(result.cpu_seconds)
    peak = round(peak_bytes() / 2**20)
    line = {"n": graph.n, "k": k} | judged(graph, result.part, request.targets)
    line |= {"cpu_s": round(statistics.median(cpu), 3), "peak_MB": peak}
    if metis:
        other = statistics.median(result.cpu_seconds for result in metis)
        cut = judged(graph, metis[0].part, request.targets)["cut"]
        line |= {"cpu_ratio": round(line["cpu_s"] / other, 3)}
        line |= {"cut_ratio": round(line["cut"] / cut, 4)}
    return line


def one_cloud(power, d, k):
    n = 1 << power
    cloud = np.random.default_rng(SEED).random((n, d))
    kmeans_blocks(cloud[:20_000], None, targets(20_000, k))
    cpu = []
    for _ in range(3):
        start = time.process_time()
        part = kmeans_blocks(cloud, None, targets(n, k))
        cpu.append(time.process_time() - start)
    off = np.bincount(part, minlength=k) / targets(n, k)
    return {
        "n": n, "k": k, "d": d, "worst": round(float(off.max()), 4),
        "smallest": round(float(off.min()), 4), "cpu_s": round(statistics.median(cpu), 3),
    }  # fmt: skip


def shared(power, k, preset, objective):
    """What one core needs and two would, each slice at its own CPU time, as cores are shared."""
    graph = instance(power)
    request = {"seed": 1, "preset": preset, "objective": objective}
    parts = []
    for count in (4, 1, 2):  # the first loads compiled code
        asked = Request(targets(graph.n, k), threads=count, **request)
        parts.append(partition_with("evener", graph, asked).part)
    same = all((part == parts[0]).all() for part in parts)
    ledger = TimedPool()
    original = evener.threads.ThreadPoolExecutor
    evener.threads.ThreadPoolExecutor = ledger.pool
    start = time.thread_time()
    partition_with("evener", graph, Request(targets(graph.n, k), threads=2, **request))
    one = time.thread_time() - start
    evener.threads.ThreadPoolExecutor = original
    in_slices = sum(sum(taken) for taken in ledger.calls)
    two = one - in_slices + sum(makespan(taken, 2) for taken in ledger.calls)
    return {"n": graph.n, "k": k, "preset": preset, "objective": objective, "same": bool(same),
            "cpu_s": round(one, 3), "serial_s": round(one - in_slices, 3),
            "two_cores_s": round(two, 3), "speedup": round(one / two, 3)}  # fmt: skip


class TimedPool:
    """Stands in for a pool of threads: works on slices in turn, and notes what each takes."""

    def __init__(self):
        self.calls = []

    def pool(self, _threads):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def map(self, work, slices):
        taken, results = [], []
        for i in slices:
            start = time.thread_time()
            results.append(work(i))
            taken.append(time.thread_time() - start)
        self.calls.append(taken)
        return results


def makespan(taken, cores):
    """When the last slice ends, each begun in turn by the first core that is free."""
    busy = [0.0] * cores
    for seconds in taken:
        heapq.heappush(busy, heapq.heappop(busy) + seconds)
    return max(busy)


def table_four(machine, memory):
    """A whole plan at the sizes that speeds and memory leave; METIS at the same."""
    graph = instance(RDG_POWER)
    kind, fast = machine.split("_f")
    topo = {"t1": topo1, "t2": topo2}[kind]
    platform = topo(96, int(fast), FAST_SPEED, units=graph.n, memory_caps=MEMORY[memory])
    small = topo(96, int(fast), FAST_SPEED, units=20_000, memory_caps=MEMORY[memory])
    options = PlanOptions(tool="evener", preset="strong", threads=2, seed=1)
    plan(delaunay(20_000, 1), small, options)  # loads compiled code
    wall, cpu = time.perf_counter(), time.process_time()
    made = plan(graph, platform, options)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = round(peak_bytes() / 2**20)
    sizes = made.certificate.contract.targets
    rival = partition_with("metis", graph, Request(sizes, seed=1))
    line = {"machine": machine, "memory": memory, "n": graph.n}
    line |= {"fast_to_slow": round(float(sizes.max() / sizes.min()), 2)}
    line |= judged(graph, made.partition.part, sizes)
    metis = judged(graph, rival.part, sizes)["cut"]
    cut, volume, parmetis = PAPER[machine]
    return line | {
        "holds": bool(np.all(made.certificate.holds)),
        "metis_cut": metis,
        "cut_ratio": round(line["cut"] / cut, 4),
        "volume_ratio": round(line["max_volume"] / volume, 4),
        "cut_to_metis": round(line["cut"] / metis, 4),
        "metis_to_parmetis": round(metis / parmetis, 4),
        "cpu_s": round(cpu, 1), "wall_s": round(wall, 1), "peak_MB": peak,
    }  # fmt: skip


def instance(power):
    """The Delaunay graph of 2^power points along the curve."""
    xadj, adjncy, coords = map(np.load, files(power).values())
    return Graph(xadj, adjncy, coords=coords)


def prepare(powers):
    """Make the graphs that are not there yet."""
    for power in powers:
        if not all(path.exists() for path in files(power).values()):
            DATA.mkdir(exist_ok=True)
            alone(make, power)


def make(power):
    graph = delaunay(1 << power, SEED)
    for name, path in files(power).items():
        np.save(path, getattr(graph, name))


def files(power):
    names = ("xadj", "adjncy", "coords")
    return {name: DATA / f"delaunay{power}-{SEED}-{name}.npy" for name in names}


def targets(n, k):
    """(k,) one block of twelve is 16 times as large as the rest."""
    speeds = np.ones(k)
    speeds[: max(1, k // ONE_FAST_OF)] = FAST_SPEED
    return n * speeds / speeds.sum()


def warm(k):
    """Load compiled code."""
    graph = delaunay(20_000, 1)
    partition_with("evener", graph, Request(targets(graph.n, min(k, 96))))


def judged(graph, part, targets):
    partition = Partition(part, targets.size)
    between = metrics.quotient(graph, partition)
    fullness = metrics.block_weights(graph, partition) / targets
    return {
        "cut": int(metrics.edge_cut(between)),
        "max_volume": int(metrics.comm_volumes(between).max()),
        "worst": round(float(fullness.max()), 4),
        "smallest": round(float(fullness.min()), 4),
    }


def table(lines):
    """One table for each part that was measured: sizes, points, threads, Table IV."""
    tables = []
    for part, (head, row) in TABLES.items():
        own = [row(line) for line in lines if line["part"] == part]
        tables += [markdown([head, *own])] if own else []
    return "\n\n".join(tables)


def size_row(line):
    ratios = [f"{line[key]:.2f}" if key in line else "" for key in ("cpu_ratio", "cut_ratio")]
    return f"{line['n']:,}", f"{line['k']:,}", f"{line['cpu_s']:.2f}", line["peak_MB"], *ratios


def thread_row(line):
    seconds = (f"{line[key]:.2f}" for key in ("cpu_s", "serial_s", "two_cores_s", "speedup"))
    what = f"`{line['preset']}`, {line['objective']}"
    return f"{line['n']:,}", what, *seconds, "yes" if line["same"] else "no"


def paper_row(line):
    found = (f"{line[key]:,}" for key in ("cut", "max_volume"))
    keys = ("cut_ratio", "volume_ratio", "cut_to_metis", "metis_to_parmetis")
    ratios = (f"{line[key]:.3f}" for key in keys)
    machine = f"{line['fast_to_slow']:.1f}"
    return line["machine"], line["memory"], machine, *found, *ratios, f"{line['cpu_s']:.0f}"


def points_row(line):
    return f"{line['n']:,}", line["d"], line["k"], f"{line['cpu_s']:.2f}", line["worst"]


SIZE_HEAD = ("vertices", "blocks", "CPU s", "peak MB", "CPU to METIS", "cut to METIS")
TABLES = {
    "growth": (SIZE_HEAD, size_row),
    "few": (SIZE_HEAD, size_row),
    "points": (("points, k-means alone", "dimensions", "blocks", "CPU s", "worst"), points_row),
    "threads": (
        ("vertices", "what", "CPU s", "serial", "on two cores", "speedup", "same blocks"),
        thread_row,
    ),
    "rdg": (
        ("machine", "memory", "largest to smallest target", "cut", "max volume", "cut to paper",
         "volume to paper", "cut to METIS", "METIS to paper's ParMetis", "CPU s"),
        paper_row,
    ),
}  # fmt: skip


if __name__ == "__main__":
    main()
