"""Does `evener plan FILE --memory N` keep its bound? Peak of resident memory, cut, CPU seconds.

    python benchmarks/larger_memory.py [--graphs A,B] [--blocks 8,96,512] [--bounds 1,1.2,3]
                                       [--objective cut]
    python benchmarks/larger_memory.py --table     # what the result file says

Each measurement is the command as a process of its own, and its ru_maxrss. Bounds are multiples of
the least that the command tells when it refuses a bound of 1 MiB, or, where it refuses that least
too, of the one that it tells then. 96 blocks: 12 of them 16 times as large as the others; other
numbers: equal blocks. seconds: on devices on two computers with links. Lines that the file has are
not measured again.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

import larger_files as files
import numpy as np
from records import alone, answer_more, append, known, markdown, parser, words

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.graph import Graph
from evener.io.csr.csr_file import CsrFile
from evener.io.plans.plan import read_plan

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "larger_memory.jsonl"
DATA = HERE / "data" / "larger_memory"
KEYS = ("graph", "shrink", "blocks", "objective", "bound")
MIB = 2**20
MOST_REFUSALS = 3  # of the least that is told: one is asked for, after that of 1 MiB
NOTED = (
    "refine",
    "not least predicted seconds",
    "left out",
)  # in notes on what memory was too little for
# Half of the devices on each of two computers, those of the second four times as fast.
MACHINE = """
level = [
    {{name = "network", alpha_us = 2.0, GB_per_s = 10.0}},
    {{name = "node", alpha_us = 0.5, GB_per_s = 40.0}},
]
device = [
    {{name = "slow", count = {half}, at = "n0", speed = 2.0e8}},
    {{name = "fast", count = {half}, at = "n1", speed = 8.0e8}},
]
"""
SMALL = 64  # times smaller: graphs that compile the kernels


def main():
    answer_more(arguments(), measure, table)


def arguments():
    made = parser(__doc__, RESULTS)
    made.add_argument("--graphs", type=words, default=list(GRAPHS))
    made.add_argument("--blocks", type=words, default=["8", "96", "512"])
    made.add_argument("--bounds", type=words, default=["1", "1.2", "3"], help="times the least")
    made.add_argument("--objective", choices=["cut", "seconds"], default="cut")
    made.add_argument("--shrink", type=int, default=1, help="graphs so many times smaller")
    made.add_argument("--data", type=Path, default=DATA, help="where graphs are kept")
    made.when_small(blocks=["8"], bounds=["1"], shrink=256, data=DATA / "small")
    return made.parse_args()


def measure(args):
    """Add a line for each measurement that the file does not have.

    A small graph of the kind goes first: compiling kernels takes memory that is no part of a plan.
    """
    args.data.mkdir(parents=True, exist_ok=True)
    have = {tuple(line[key] for key in KEYS) for line in known(args.output)}
    for cell in product(
        args.graphs, [args.shrink], map(int, args.blocks), [args.objective],
        map(float, args.bounds),
    ):  # fmt: skip
        if cell not in have:
            name, shrink, *asked = cell
            measured(made_apart(name, args.data, SMALL), *asked)
            path = made_apart(name, args.data, shrink)
            made = dict(zip(KEYS, cell, strict=True)) | measured(path, *asked)
            print(append(args.output, made), flush=True)


def made_apart(name, data, shrink):
    """The file of a graph, made in a process of its own.

    What this process has had in memory counts in the ru_maxrss of those that it starts.
    """
    path = data / f"{name}-{shrink}.ecsr"
    alone(make, name, path, shrink)
    return path


def make(name, path, shrink):
    """Make the file of a graph, unless it is there."""
    GRAPHS[name](path, shrink)


def measured(path, blocks, objective, bound):
    """The peak, cut and CPU seconds within so many times the least that is told."""
    least, refusals = least_told(path, blocks, objective)
    allowed = int(least * bound)
    began = time.time()
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "x.plan"
        used, said = planned(path, blocks, objective, allowed, output)
        figures = {"vertices": vertices_of(path), "least_MiB": least, "refusals": refusals,
                   "allowed_MB": round(allowed * MIB / 1e6, 1),
                   "peak_MB": round(used.ru_maxrss * 1024 / 1e6, 1),
                   "cpu_s": round(used.ru_utime + used.ru_stime, 2),
                   "wall_s": round(time.time() - began, 1)}  # fmt: skip
        if not output.exists():
            return figures | {"cut": None, "said": said.strip()[-300:]}
        return figures | alone(figures_of, output)  # as in made_apart


def figures_of(output):
    """The cut of a plan, whether its limits hold, and its notes on too little memory."""
    plan = read_plan(output)
    notes = [note for note in plan.notes if any(word in note for word in NOTED)]
    holds = bool(plan.certificate.all_hold)
    return {"cut": plan.evaluation.edge_cut, "holds": holds, "notes": notes}


def least_told(path, blocks, objective):
    """The least memory [MiB] that the command tells, and after how many refusals it is enough."""
    least, refusals = 1, 0
    while refusals <= MOST_REFUSALS:
        _, said = planned(path, blocks, objective, least)
        told = re.search(r"--memory to at least (\d+)MiB", said)
        if told is None:
            break
        least, refusals = int(told.group(1)), refusals + 1
    if least == 1:
        raise RuntimeError(f"1 MiB is refused without a minimum: {said[-300:]}")
    return least, refusals


def vertices_of(path):
    with CsrFile(path) as file:
        return file.n


def planned(path, blocks, objective, mebibytes, output=os.devnull):
    """What the command used, and what it said."""
    speeds = ",".join(["16"] * 12 + ["1"] * 84) if blocks == 96 else ",".join(["1"] * blocks)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as said:
        machine = ["--speeds", speeds]
        if objective == "seconds":
            machine = ["--machine", str(Path(folder) / "two.toml")]
            Path(machine[1]).write_text(MACHINE.format(half=blocks // 2))
        command = [sys.executable, "-m", "evener", "plan", str(path), *machine,
                   "--memory", f"{mebibytes}MiB", "-o", str(output)]  # fmt: skip
        process = subprocess.Popen(command, stdout=said, stderr=said)
        _, _, used = os.wait4(process.pid, 0)
        said.seek(0)
        return used, said.read().decode()


def grid(path, *words_given):
    if not path.exists():
        subprocess.run([sys.executable, "-m", "evener", "generate", "grid", *words_given,
                        "-o", str(path)], check=True, stdout=subprocess.DEVNULL)  # fmt: skip
    return path


def triangulated(path, shrink):
    side = round(2000 / shrink**0.5)
    return grid(path, "--triangulated", "--shape", f"{side}x{side}")


def cubes(path, shrink):
    side = round(180 / shrink ** (1 / 3))
    return grid(path, "--shape", f"{side}x{side}x{side}")


def mesh(order="hilbert", coords=True, edges=False, vertices=False, power=20, seed=91):
    """A function that makes the file of a Delaunay graph."""

    def make(path, shrink):
        if not path.exists():
            graph = files.ordered(delaunay((1 << power) // shrink, seed=seed), order, seed)
            write(path, weighted(graph, edges, vertices), with_coords=coords)
        return path

    return make


def weighted(graph, edges, vertices):
    """Edges that weigh 1 to 9, vertices 1 to 20, some of them."""
    ends = np.repeat(np.arange(graph.n), np.diff(graph.xadj))
    low, high = np.minimum(ends, graph.adjncy), np.maximum(ends, graph.adjncy)
    adjwgt = 1 + (low * 7 + high * 3) % 9 if edges else None
    vwgt = np.random.default_rng(3).integers(1, 21, graph.n) if vertices else None
    return graph.with_(adjwgt=adjwgt, vwgt=vwgt)


def write(path, graph, with_coords):
    from evener.io import write_graph

    write_graph(path, graph if with_coords else graph.with_(coords=None))


def powers(scale, seed=91):
    def make(path, shrink):
        if not path.exists():
            from evener.graphs.generating.random_graphs import rmat

            write(path, rmat(scale - shrink.bit_length() + 1, seed), with_coords=False)
        return path

    return make


def random_edges(power, degree, edges=False, seed=91):
    """A function that makes the file of a graph all of whose edges are as likely as others."""

    def make(path, shrink):
        if not path.exists():
            n = (1 << power) // shrink
            u, v = np.random.default_rng(seed).integers(0, n, (2, n * degree // 2))
            keys = np.unique((np.minimum(u, v) * n + np.maximum(u, v))[u != v])
            ends = np.concatenate([np.divmod(keys, n), np.divmod(keys, n)[::-1]], axis=1)
            u, v = ends[:, np.lexsort(ends[::-1])]
            graph = Graph(np.searchsorted(u, np.arange(n + 1)), v)
            write(path, weighted(graph, edges, vertices=False), with_coords=False)
        return path

    return make


def scattered_in(dimension, degree, power=18, seed=91):
    """A function that makes the file of a random geometric graph."""

    def make(path, shrink):
        if not path.exists():
            command = ["generate", "rgg", "--n", str((1 << power) // shrink), "--dim",
                       str(dimension), "--degree", str(degree), "--seed", str(seed),
                       "-o", str(path)]  # fmt: skip
            subprocess.run([sys.executable, "-m", "evener", *command], check=True,
                           stdout=subprocess.DEVNULL)  # fmt: skip
        return path

    return make


def attached(path, shrink):
    """A Barabási-Albert graph of 2^18 vertices."""
    if not path.exists():
        subprocess.run([sys.executable, "-m", "evener", "generate", "barabasi-albert", "--n",
                        str((1 << 18) // shrink), "-o", str(path)], check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip
    return path


GRAPHS = {
    "triangulated grid": triangulated,
    "3-D grid": cubes,
    "Delaunay": mesh(),
    "Delaunay, bare": mesh(coords=False),
    "Delaunay, random": mesh("random"),
    "Delaunay, random, bare": mesh("random", coords=False),
    "Delaunay, edges weigh": mesh(edges=True),
    "Delaunay, vertices weigh": mesh(vertices=True),
    "Delaunay, random, both weigh": mesh("random", edges=True, vertices=True),
    "R-MAT 18": powers(18),
    "R-MAT 20": powers(20),
    "random edges, degree 4": random_edges(19, 4),
    "random edges, degree 8": random_edges(18, 8),
    "random edges, degree 16": random_edges(17, 16),
    "random edges, degree 40": random_edges(17, 40),
    "random edges, degree 16, weigh": random_edges(17, 16, edges=True),
    "near points in 3-D, degree 20": scattered_in(3, 20),
    "Barabási-Albert": attached,
}


def table(lines):
    return "\n\n".join([summary(lines), each(lines)])


def summary(lines):
    within = [line for line in lines if line["peak_MB"] <= line["allowed_MB"]]
    planned_at = [line for line in lines if line["cut"] is not None]
    least = [line for line in lines if line["bound"] == 1]
    share = max((line["peak_MB"] / line["allowed_MB"] for line in lines), default=0)
    done = sum(line["cut"] is not None for line in least)
    refusals = max((line["refusals"] for line in lines), default=0)
    return markdown([
        ("what", "asked", "reached"),
        ("within the bound", "all", f"{len(within)} of {len(lines)}"),
        ("planned", "all", f"{len(planned_at)} of {len(lines)}"),
        ("planned within the least that is told", "all", f"{done} of {len(least)}"),
        ("refusals until it is told, that of 1 MiB among them, at most", "2", str(refusals)),
        ("peak / bound, at most", "1", f"{share:.3f}"),
    ])  # fmt: skip


def each(lines):
    rows = [("graph", "vertices", "blocks", "lowered", "bound, MB", "of the least", "peak, MB",
             "peak / bound", "cut / that of the largest bound", "CPU s")]  # fmt: skip
    for line in lines:
        same = [one for one in lines if all(one[key] == line[key] for key in KEYS[:4])]
        most = max(same, key=lambda one: one["bound"])
        ratio = (
            "-"
            if len(same) == 1 or line["objective"] != "cut" or None in (line["cut"], most["cut"])
            else f"{line['cut'] / most['cut']:.3f}"
        )
        share = line["peak_MB"] / line["allowed_MB"]
        said = " ".join(
            line.get("notes", ())
        )  # earlier records: "Predicted seconds were not lowered"
        short = "not lowered" in said or "not least predicted seconds" in said
        rows.append((line["graph"], f"{line['vertices']:,}", line["blocks"],
                     "cut, for want of memory" if short else line["objective"],
                     f"{line['allowed_MB']:.0f}", line["bound"], f"{line['peak_MB']:.0f}",
                     f"{share:.2f}", ratio, f"{line['cpu_s']:.1f}"))  # fmt: skip
    return markdown(rows)


if __name__ == "__main__":
    main()
