"""Memory transactions of kernels on a GPU, counted by a model: plain against staged in blocks.

    python benchmarks/transactions.py [--inputs delaunay16,rmat14] [--threads 64,1024]

No GPU is needed, and none was used: evener.running.locality.transactions counts the sectors of 32
bytes that each warp touches. product: SpMV with float64, entries by rows, against blocks of
ENTRIES_OF_THREAD entries a thread by split-and-connect (`fast`), x and y staged; with and without
data laid out by first use. through_cache: x through a cache of 24 KiB, two blocks at once, instead.
flux: four values a vertex, edges in the order of their ends, against blocks of as many edges.
occupancy: of a multiprocessor with 164 KiB of shared memory; fits: whether two blocks do.
shuffled-...: vertices numbered at random. Writes a JSON line for each input and count of threads to
results/transactions.jsonl; the table takes each side at its own best count.
"""

from pathlib import Path

import numpy as np
from locality import graph_of, shuffled
from records import answer, markdown, parser, words

from evener.graphs.edge_list import EdgeList
from evener.planning.split import SplitOptions, split
from evener.running.locality.caches import Cache
from evener.running.locality.staging import Multiprocessor, StagedBlocks
from evener.running.locality.transactions import (
    plain_interactions,
    plain_product,
    reads_through_cache,
    staged_interactions,
    staged_product,
)

RESULTS = Path(__file__).parent / "results" / "transactions.jsonl"
INPUTS = ["delaunay16", "shuffled-delaunay16", "cube36", "shuffled-cube36", "rmat14",
          "shuffled-rmat14"]  # fmt: skip
ENTRIES_OF_THREAD = 10  # as the random column of the paper's Figure 4 suggests, of 1,024 threads
TEXTURE = Cache(24 * 1024, 32, 24)  # of a Titan X's multiprocessor (Table 2)
VALUES = 4


def main():
    made = parser(__doc__, RESULTS)
    made.add_argument("--inputs", type=words, default=INPUTS)
    made.add_argument("--threads", type=words, default=["64", "128", "256", "384", "512", "1024"])
    made.when_small(inputs=["shuffled-delaunay10"], threads=["64"])
    answer(made.parse_args(), measured, table)


def measured(args):
    for name in args.inputs:
        base = name.removeprefix("shuffled-")
        graph = graph_of(base) if base == name else shuffled(graph_of(base))
        for threads in map(int, args.threads):
            given = {"input": name, "rows": graph.n, "threads": threads}
            yield given | product(graph, threads) | flux(graph, threads)


def product(graph, threads):
    n = graph.n
    arcs = EdgeList.of_arcs(graph)
    edges = EdgeList(2 * n, arcs.tails, n + arcs.heads)
    plain = plain_product(edges, n, threads)
    k = -(-edges.m // (threads * ENTRIES_OF_THREAD))
    made = split(edges, k, SplitOptions("spac", "fast"))
    blocks = StagedBlocks.of_matrix(edges, made.partition, n)
    rows, columns = (one.renumbered(one.by_first_use()) for one in (blocks.outputs, blocks.inputs))
    laid_out = StagedBlocks(blocks.starts, blocks.edges, rows, columns)
    staged, moved, on = staged_product(blocks), staged_product(laid_out), Multiprocessor()
    n_bytes = blocks.largest_bytes(8, 8)
    return {
        "entries": edges.m, "k": k, "copies": made.metrics.copies, "loads": blocks.loads,
        "cpu_seconds": round(made.cpu_seconds, 2),
        "plain_reads": plain.reads, "plain_x": plain.gathered, "plain_writes": plain.writes,
        "staged_reads": staged.reads, "staged_x": staged.gathered, "staged_writes": staged.writes,
        "laid_out_reads": moved.reads, "laid_out_x": moved.gathered,
        "laid_out_writes": moved.writes, "through_cache_x": reads_through_cache(laid_out, TEXTURE),
        "shared_bytes": n_bytes, "fits": n_bytes <= on.room(),
        "occupancy": round(on.occupancy(n_bytes, threads), 3),
    }  # fmt: skip


def flux(graph, threads):
    edges = EdgeList.of_graph(graph)
    plain = plain_interactions(edges, np.arange(edges.m), threads, VALUES)
    made = split(edges, max(-(-edges.m // threads), 2), SplitOptions("spac", "fast"))
    blocks = StagedBlocks.of_interactions(edges, made.partition)
    ends = blocks.outputs.renumbered(blocks.outputs.by_first_use())
    laid_out = StagedBlocks(blocks.starts, blocks.edges, ends, ends)
    return {
        "edges": edges.m, "flux_blocks": blocks.k, "flux_plain_reads": plain.reads,
        "flux_staged_reads": staged_interactions(blocks, VALUES).reads,
        "flux_laid_out_reads": staged_interactions(laid_out, VALUES).reads,
    }  # fmt: skip


def table(lines):
    head = ["input", "staged / plain", "laid out / plain", "x staged / x plain",
            "x through a cache / x staged", "occupancy", "flux: staged / plain", "laid out / plain",
            "flux at the same threads, from", "to"]  # fmt: skip
    rows = []
    for name in dict.fromkeys(line["input"] for line in lines):
        own = [line for line in lines if line["input"] == name]
        plain = best(own, "plain_reads", "plain_writes")
        staged = best(own, "staged_reads", "staged_writes")
        moved = best(own, "laid_out_reads", "laid_out_writes")
        at = min(own, key=lambda line: line["laid_out_reads"] + line["laid_out_writes"])
        same = [line["flux_laid_out_reads"] / line["flux_plain_reads"] for line in own]
        fluxes = [best(own, f"flux_{how}_reads") for how in ("plain", "staged", "laid_out")]
        ratios = [staged / plain, moved / plain, at["laid_out_x"] / at["plain_x"],
                  at["through_cache_x"] / at["laid_out_x"], at["occupancy"],
                  fluxes[1] / fluxes[0], fluxes[2] / fluxes[0], min(same), max(same)]  # fmt: skip
        rows.append([name, *(round(ratio, 3) for ratio in ratios)])
    return markdown([head, *rows])


def best(lines, *names):
    """Return the least sum of these numbers among lines."""
    return min(sum(line[name] for name in names) for line in lines)


if __name__ == "__main__":
    main()
