"""What blocks of edges and better orders save an interaction on one core: fluxes along edges.

    python benchmarks/locality_fluxes.py [--graphs shuffled-delaunay18]

Graphs as of locality.py; an edge is an interaction of its ends, which have four values and four
sums each. given: edge after edge, by tails, vertices by their numbers. swapped: edges block after
block, by split-and-connect (`fast`), in the least number of blocks whose vertices fit into half a
cache; laid_out: the same with vertices by first use; staged: the same, values copied to a buffer
for each block; ordered: vertices by locality_order, edges by tails, no blocks. They take turns; CPU
ms, medians. making: CPU ms of all partitions that were made. Writes a JSON line a graph to
results/locality_fluxes.jsonl.
"""

import time
from pathlib import Path

import numpy as np
from locality import HALF_A_CACHE, SEED, part_of, taking_turns
from records import answer, markdown, parser, words

from evener.graphs.edge_list import EdgeList
from evener.planning.split import SplitOptions, split
from evener.running.locality.fluxes import BlockFluxes, fluxes
from evener.running.locality.ordering import locality_order
from evener.running.locality.staging import StagedBlocks, fewest_blocks

RESULTS = Path(__file__).parent / "results" / "locality_fluxes.jsonl"
GRAPHS = ["delaunay18", "shuffled-delaunay18", "shuffled-cube64", "shuffled-rmat16"]
VERTEX = 2 * 4 * 8  # bytes of four values and four sums
WAYS = "given", "swapped", "laid_out", "staged", "ordered"


def main():
    made = parser(__doc__, RESULTS)
    made.add_argument("--graphs", type=words, default=GRAPHS)
    made.add_argument("--rounds", type=int, default=9)
    made.when_small(graphs=["shuffled-delaunay12"], rounds=2)
    answer(made.parse_args(), measured, table)


def measured(args):
    for name in args.graphs:
        yield {"graph": name, **compared(part_of(name), args.rounds)}


def compared(part, rounds):
    offsets, ends, _ = part.out
    tails = np.repeat(np.arange(part.n_owned), np.diff(offsets.astype(np.int64)))
    heads = ends.astype(np.int64)
    edges = by_tails(part.n_owned, tails, heads)
    split(edges, 2, SplitOptions("spac", "fast"))  # kernels are brought from files
    tried, began = [], time.process_time()

    def make(k):
        tried.append(k)
        partition = split(edges, k, SplitOptions("spac", "fast")).partition
        return StagedBlocks.of_interactions(edges, partition)

    blocks = fewest_blocks(make, max(VERTEX * edges.n // HALF_A_CACHE, 2), HALF_A_CACHE, VERTEX, 0)
    making = time.process_time() - began
    numbers = blocks.outputs.by_first_use()
    moved_ends = blocks.outputs.renumbered(numbers)
    laid_out = StagedBlocks(blocks.starts, blocks.edges, moved_ends, moved_ends)
    moved = EdgeList(edges.n, numbers[edges.tails], numbers[edges.heads])
    order = locality_order(part)
    places = np.empty(edges.n, np.int64)
    places[order] = np.arange(edges.n)
    ordered = by_tails(edges.n, places[tails], places[heads])
    rng = np.random.default_rng(SEED)
    areas, values = rng.random(edges.m), 1 + rng.random((edges.n, 4))
    at_first_use, in_order = np.empty_like(values), values[order]
    at_first_use[numbers] = values
    staged = BlockFluxes(laid_out, areas)
    # Job swapping with areas laid out by the schedule as well.
    own, rising = areas[blocks.edges], np.arange(edges.m)
    listed = EdgeList(edges.n, moved.tails[blocks.edges], moved.heads[blocks.edges])
    calls = {
        "given": lambda: fluxes(edges, areas, values),
        "swapped": lambda: fluxes(edges, areas, values, blocks.edges),
        "laid_out": lambda: fluxes(listed, own, at_first_use, rising),
        "staged": lambda: staged(at_first_use),
        "ordered": lambda: fluxes(ordered, areas, in_order),
    }
    expected = calls["given"]()
    for name in ("swapped", "laid_out", "staged"):
        found = calls[name]()
        found = found if name == "swapped" else found[numbers]
        assert np.allclose(found, expected, atol=1e-9), name
    seconds = taking_turns(calls, rounds)
    return {
        "edges": edges.m, "blocks": blocks.k, "tried": tried, "loads": staged.loads,
        **{f"{name}_ms": round(1e3 * found, 2) for name, found in seconds.items()},
        "making_ms": round(1e3 * making, 1),
    }  # fmt: skip


def by_tails(n, tails, heads):
    """Return the edges of a graph's arcs, sorted."""
    once = tails < heads
    tails, heads = tails[once], heads[once]
    order = np.lexsort((heads, tails))
    return EdgeList(n, tails[order], heads[order])


def table(lines):
    ways = [f"given / {name.replace('_', ' ')}" for name in WAYS[1:]]
    rows = [["graph", "edges", "blocks", "partitions made", "given (ms)", *ways, "making (ms)"]]
    for line in lines:
        ratios = [round(line["given_ms"] / line[f"{name}_ms"], 2) for name in WAYS[1:]]
        rows.append([line["graph"], line["edges"], line["blocks"], len(line["tried"]),
                     line["given_ms"], *ratios, line["making_ms"]])  # fmt: skip
    return markdown(rows)


if __name__ == "__main__":
    main()
