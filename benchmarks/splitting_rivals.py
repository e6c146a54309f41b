"""Rivals of split-and-connect: streaming, in memory, by vertices; copies of vertices, CPU seconds.

    EVENER_DATA=FOLDER python benchmarks/splitting_rivals.py [--methods ...] [--ks ...]
    python benchmarks/splitting_rivals.py --table     # what the result file says

Graphs, machines and limits are those of `splitting.py`, set `reported`; the methods of a cell run
in turn, in one process, one seed each. Edges come in the order of the graph, u < v by u, then v;
HDRF and greedy shuffle them. Of `stream` also buffers of a quarter, an eighth and a sixteenth of
the edges, in that order and shuffled: `stream/4`, `stream/16 shuffled`; the default buffer holds
all of these graphs. Ratios are to `spac-path` and to `hdrf` of the same cell, geometric means.
`mtkahypar`: its default preset on the hypergraph of `splitting.py`, one thread. All get the same
targets and limits; `dbh`, `random`, `wvp-random` and `greedy-uncapped` know none while they run,
`mtkahypar` no lower ones: their blocks are brought within them afterwards, at the copies counted.
"""

from pathlib import Path

import numpy as np
import splitting
from records import answer_more, append, known, markdown, parser, words

from evener.graphs.edge_list import EdgeList
from evener.splitting.buffering import buffered

RESULTS = Path(__file__).parent / "results" / "splitting_rivals.jsonl"
BUFFERS = tuple(f"stream/{part}{order}" for order in ("", " shuffled") for part in (4, 8, 16))
METHODS = (
    "spac-path", "hdrf", "ne", "hep", "stream", *BUFFERS, "2ps", "greedy", "greedy-uncapped",
    "dbh", "random", "order", "wvp-greedy", "wvp-random", "bourse", "mtkahypar",
)  # fmt: skip
HEAD = ("machine", "kind", "method", "cells", "copies", "CPU", "copies / hdrf", "CPU / hdrf",
        "smallest", "kept")  # fmt: skip
AGAINST = [(figure, base) for base in ("spac-path", "hdrf") for figure in ("copies", "cpu_s")]


def main():
    answer_more(arguments(), measure, table)


def arguments():
    made = parser(__doc__, RESULTS)
    made.add_argument("--set", choices=(*splitting.GRAPHS, "little"), default="reported")
    made.add_argument("--graphs", type=words, help="those whose names contain one of these")
    made.add_argument("--ks", type=words, default=["16", "64", "256"], help="numbers of blocks")
    made.add_argument("--methods", type=words, default=list(METHODS))
    made.add_argument("--machine", choices=splitting.MACHINES, default="equal")
    made.when_small(set="little", ks=["8"])
    return made.parse_args()


def measure(args):
    """Add a line for each cell that the file does not have."""
    have = {splitting.key(line) for line in known(args.output)}
    started = splitting.cost_of_a_process()
    for kind, name, edges in splitting.graphs_of(args):
        warm(edges, args)
        for k in map(int, args.ks):
            contract = splitting.contract_for(edges, splitting.MACHINES[args.machine](k))
            for method in args.methods:
                about = {"set": args.set, "kind": kind, "graph": name, "m": edges.m, "k": k}
                about |= {"machine": args.machine, "method": method, "seed": splitting.SEED}
                if splitting.key(about) not in have:
                    append(args.output, about | figures(edges, contract, method, started))


def warm(edges, args):
    """Load kernels, which is not to be timed."""
    few = EdgeList(edges.n, edges.tails[:2000], edges.heads[:2000])
    for method in args.methods:
        figures(few, splitting.contract_for(few, np.ones(4)), method, 0.0)


def figures(edges, contract, method, started):
    if method not in BUFFERS:
        part, seconds = splitting.by_evener(edges, contract, method, started)
        return splitting.figures_of(edges, contract, part, seconds)
    buffer, *shuffled = method.removeprefix("stream/").split()
    order = np.arange(edges.m)
    if shuffled:
        np.random.default_rng(splitting.SEED).shuffle(order)
    ordered = EdgeList(edges.n, edges.tails[order], edges.heads[order])
    began = splitting.cpu_seconds()
    size = -(-edges.m // int(buffer))
    partition = buffered(ordered, contract, "default", splitting.SEED, size=size).partition
    return splitting.figures_of(ordered, contract, partition.part, splitting.cpu_seconds() - began)


def table(lines):
    """Geometric means over graphs and numbers of blocks; all: both kinds together."""
    kinds = splitting.KINDS | {"all": "MP"}
    return markdown([HEAD, *splitting.rows_of(lines, METHODS, AGAINST, kinds)])


if __name__ == "__main__":
    main()
