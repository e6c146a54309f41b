"""Runs on blocks of edges beside runs on blocks of vertices: seconds of supersteps, and bytes.

    python benchmarks/edge_running.py [--graphs triangles,rmat,social] [--scale 16] [--rounds 11]

triangles   Delaunay triangles of 2^scale points
rmat        R-MAT graph of 2^scale vertices
social      facebook_large of the folder EVENER_DATA; without it a Barabási-Albert graph

Two devices of one core each. Vertices: a plan for two equal devices by the work of PageRank. Edges:
`ev.split` for the same devices. Both ways of an app take turns; ratios are medians over turns, with
intervals by bootstrap. Beside that the values that a superstep sends if all vertices send, counted
for 2 and 16 devices. One JSON line a case goes to results/edge_running.jsonl.
"""

import os
import time
from pathlib import Path

import numpy as np
from records import answer, markdown, parser, words
from wall_clock.figures import paired

import evener as ev
from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.random_graphs import barabasi_albert, rmat
from evener.plans.edge_partition import edge_metrics
from evener.plans.metrics import comm_volumes, quotient
from evener.running.apps.registry import APPS
from evener.running.distributing import distribute
from evener.running.edge_shares import DividedEdges, edge_shares
from evener.running.executing import run_on_parts
from evener.running.on_device import wanted_arcs
from evener.running.on_edges import run_on_shares

RESULTS = Path(__file__).parent / "results" / "edge_running.jsonl"
GRAPHS, DEVICES, SEED = ["triangles", "rmat", "social"], 2, 7
SOCIAL = "powerlaw/facebook_large_edges.csv.zst"
RUN = ("pagerank", "bfs", "wcc", "spmv")
MANY = (2, 16)  # devices for which values are counted


def main():
    made = parser(__doc__, RESULTS)
    made.add_argument("--graphs", type=words, default=GRAPHS)
    made.add_argument("--scale", type=int, default=16)
    made.add_argument("--rounds", type=int, default=11)
    made.when_small(scale=9, rounds=1, graphs=["triangles", "rmat"])
    answer(made.parse_args(), measured, table)


def measured(args):
    for name in args.graphs:
        graph = graph_of(name, args.scale)
        plans = {k: (planned(graph, k), ev.split(graph, k)) for k in MANY if args.rounds > 1}
        plans[DEVICES] = plans.get(DEVICES) or (planned(graph, DEVICES), ev.split(graph, DEVICES))
        yield {"case": "values", "graph": name, "n": graph.n, "m": graph.m,
               "sent": {k: values_sent(graph, *both) for k, both in plans.items()}}  # fmt: skip
        for app in RUN:
            yield {"case": "run", "graph": name, "app": app, "load": os.getloadavg()[0],
                   **taken(graph, app, *plans[DEVICES], rounds=args.rounds)}  # fmt: skip


def graph_of(name, scale):
    if name == "triangles":
        return delaunay(2**scale, SEED)
    if name == "rmat":
        return rmat(scale, seed=SEED)
    folder = os.environ.get("EVENER_DATA")
    if folder is None:
        return barabasi_albert(22_470, 8, SEED)
    return ev.read(Path(folder) / SOCIAL).graph


def planned(graph, k):
    return ev.plan(graph, k, workload="pagerank")


def values_sent(graph, vertices, edges):
    """Values that a superstep sends in which all vertices send, by each way."""
    volumes = comm_volumes(quotient(graph, vertices.partition))
    metrics = edge_metrics(EdgeList.of_graph(graph), edges.partition)
    return {"vertices": int(volumes.sum()), "edges": 2 * metrics.copies}


def taken(graph, app, vertices, edges, rounds):
    """Seconds of all supersteps, CPU seconds of a whole run of parts that are there; bytes."""
    program, most = APPS[app].program, APPS[app].iterations
    how = {"devices": [[core] for core in sorted(os.sched_getaffinity(0))[:DEVICES]]}
    how |= {} if most is None else {"most": most}
    if app == "bfs":
        how["parameters"] = {"source": int(np.argmax(graph.degrees))}
    parts = distribute(graph, vertices.partition, want=wanted_arcs(program))
    shares = edge_shares(graph, DividedEdges(edges.partition))
    ways = {
        "vertices": lambda: run_on_parts(program, parts, **how),
        "edges": lambda: run_on_shares(program, shares, **how),
    }
    first = {way: run() for way, run in ways.items()}
    assert first["edges"].supersteps > 0
    seconds = {way: [] for way in ways}
    processor = {way: [] for way in ways}
    for _ in range(rounds):
        for way, run in ways.items():
            began = time.process_time()
            seconds[way].append(run().seconds)
            processor[way].append(time.process_time() - began)
    told = {
        way: {"supersteps": run.supersteps, "arcs": run.edges,
              "bytes": int(run.of_devices("sent").sum())}
        for way, run in first.items()
    }  # fmt: skip
    return {"seconds": seconds, "cpu_seconds": processor, "told": told}


def table(lines):
    head = ("graph", "app", "edges / vertices, seconds", "CPU seconds", "arcs looked at", "bytes",
            "supersteps: vertices, edges")  # fmt: skip
    rows = [head, *(row_of(line) for line in lines if line["case"] == "run")]
    more = [("graph", "devices", "values a superstep: vertices", "edges", "edges / vertices")]
    for line in lines:
        if line["case"] == "values":
            more += [
                (
                    line["graph"],
                    k,
                    f"{one['vertices']:,}",
                    f"{one['edges']:,}",
                    f"{one['edges'] / max(one['vertices'], 1):.2f}",
                )
                for k, one in sorted(line["sent"].items(), key=lambda item: int(item[0]))
            ]
    return markdown(rows) + "\n\n" + markdown(more)


def row_of(line):
    found = [
        paired(line[what]["edges"], line[what]["vertices"]) for what in ("seconds", "cpu_seconds")
    ]
    ratios = [f"{one['ratio']:.2f} ({one['low']:.2f} to {one['high']:.2f})" for one in found]
    own, other = line["told"]["vertices"], line["told"]["edges"]
    return (
        line["graph"],
        line["app"],
        *ratios,
        f"{other['arcs'] / own['arcs']:.2f}",
        f"{other['bytes'] / max(own['bytes'], 1):.2f}",
        f"{own['supersteps']}, {other['supersteps']}",
    )


if __name__ == "__main__":
    main()
