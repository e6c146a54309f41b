"""Memory transactions of kernels on a GPU, counted by a model: plain against staged in blocks.

    python benchmarks/transactions.py [--inputs delaunay16,rmat14] [--threads 64,1024]

No GPU is needed, and none was used: papers.spac.memory counts the sectors of 32
bytes that each warp touches. product: SpMV with float64. plain: what any kernel by rows touches at
least; rows, runs, path: those of rows_cuda_kernels (a thread a row, CUSP's rule, merge-based).
staged: blocks of ENTRIES_OF_THREAD entries a thread by split-and-connect (`fast`), x and y staged;
laid_out: the same with data by first use; cached: the same, x through a cache of 24 KiB, two blocks
at once, instead (Table 5 of [SPAC]).
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
from evener.running.locality.staging import Multiprocessor, StagedBlocks
from papers.spac.memory import (
    Cache,
    cached_product,
    plain_interactions,
    plain_product,
    product_by_path,
    product_by_rows,
    product_by_runs,
    staged_interactions,
    staged_product,
)

RESULTS = Path(__file__).parent / "results" / "transactions.jsonl"
INPUTS = ["delaunay16", "shuffled-delaunay16", "cube36", "shuffled-cube36", "rmat14",
          "shuffled-rmat14"]  # fmt: skip
ENTRIES_OF_THREAD = 10  # as the random column of the paper's Figure 4 suggests, of 1,024 threads
TABLE_5 = 256, 512, 1024
TEXTURE = Cache(24 * 1024, 32, 24)  # of a Titan X's multiprocessor (Table 2)
VALUES = 4
BY_ROWS = {"plain": plain_product, "rows": product_by_rows, "runs": product_by_runs,
           "path": product_by_path}  # fmt: skip


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
    counted = {name: count(edges, n, threads) for name, count in BY_ROWS.items()}
    k = -(-edges.m // (threads * ENTRIES_OF_THREAD))
    made = split(edges, k, SplitOptions("spac", "fast"))
    blocks = StagedBlocks.of_matrix(edges, made.partition, n)
    rows, columns = (one.renumbered(one.by_first_use()) for one in (blocks.outputs, blocks.inputs))
    laid_out = StagedBlocks(blocks.starts, blocks.edges, rows, columns)
    counted |= {"staged": staged_product(blocks), "laid_out": staged_product(laid_out),
                "cached": cached_product(laid_out, TEXTURE)}  # fmt: skip
    found = {}
    for name, one in counted.items():
        found |= {f"{name}_reads": one.reads, f"{name}_x": one.gathered,
                  f"{name}_writes": one.writes}  # fmt: skip
    n_bytes, on = blocks.largest_bytes(8, 8), Multiprocessor()
    return {
        "entries": edges.m, "k": k, "copies": made.metrics.copies, "loads": blocks.loads,
        "cpu_seconds": round(made.cpu_seconds, 2), **found,
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
    return markdown(products(lines)) + "\n\n" + markdown(fluxes(lines))


def products(lines):
    """Ours against kernels by rows, each at its own best; y alone staged against both."""
    rows = [["input", "rows at least (1,000 sectors)", "staged / that", "laid out / that",
             "/ a thread a row", "/ CUSP's rule", "/ merge", "x staged / x plain",
             *(f"x cached / staged, {threads}" for threads in TABLE_5), "occupancy"]]  # fmt: skip
    for own in by_input(lines):
        moved = best(own, "laid_out")
        at = min(own, key=lambda line: line["laid_out_reads"] + line["laid_out_writes"])
        texture = [whole(line, "cached") / whole(line, "laid_out")
                   for line in own if line["threads"] in TABLE_5]  # fmt: skip
        plain = best(own, "plain")
        ratios = [best(own, "staged") / plain, *(moved / best(own, name) for name in BY_ROWS),
                  at["laid_out_x"] / at["plain_x"], *texture, at["occupancy"]]  # fmt: skip
        rows.append([own[0]["input"], round(plain / 1000), *(round(one, 2) for one in ratios)])
    return rows


def fluxes(lines):
    """Reads of staged fluxes against plain ones, each at its own best, and at the same threads."""
    rows = [["input", "flux: staged / plain", "laid out / plain", "at the same threads, from",
             "to"]]  # fmt: skip
    for own in by_input(lines):
        plain, staged, moved = (
            min(line[f"flux_{how}_reads"] for line in own)
            for how in ("plain", "staged", "laid_out")
        )
        same = [line["flux_laid_out_reads"] / line["flux_plain_reads"] for line in own]
        ratios = staged / plain, moved / plain, min(same), max(same)
        rows.append([own[0]["input"], *(round(one, 2) for one in ratios)])
    return rows


def by_input(lines):
    names = dict.fromkeys(line["input"] for line in lines)
    return [[line for line in lines if line["input"] == name] for name in names]


def whole(line, name):
    return line[f"{name}_reads"] + line[f"{name}_writes"]


def best(lines, name):
    """Return the least reads and writes together."""
    return min(whole(line, name) for line in lines)


if __name__ == "__main__":
    main()
