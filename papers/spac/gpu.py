"""Sections 4 and 5 of [SPAC]_ without a GPU: memory transactions by the model, nothing in seconds.

memory.py counts the sectors of 32 bytes that each warp touches. Blocks
are those of split-and-connect with the ring, ten entries a thread; what they stage is laid out by
first use (section 4).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.delaunay import tetrahedron_dual
from evener.running.locality.staging import Multiprocessor, StagedBlocks
from evener.splitting.methods import split_with
from papers.findings import Criterion, Finding, Row
from papers.spac.memory import (
    Cache,
    plain_interactions,
    plain_product,
    reads_through_cache,
    staged_interactions,
    staged_product,
)
from papers.spac.setup import (
    ENTRIES_OF_THREAD,
    PAPER,
    SEED,
    PaperMatrix,
    contract_of,
    in_runs,
)

Rows = Sequence[Row]

THREADS = (256, 512, 1024)  # Table 5
FLUX_THREADS = (64, 128, 192, 256, 384, 512, 1024)
DEFAULT = 1024  # threads, section 5.2
# A multiprocessor of the Titan X (Table 2): its texture cache, of lines as long as a sector, and
# its shared memory, of which a block may have a half.
TEXTURE = Cache(24 * 1024, 32, 24)
TITAN_X = Multiprocessor(96 * 1024, 48 * 1024, 0)
VALUES = 4  # of a fluid element that are read: Listing 1
GAINED = 0.9  # times, relative: those of Table 4 are below 0.78 or above 1.01
# The largest time of a matrix by shared memory over its least, block sizes 256 to 1,024: Table 5,
# circuit5M (2,976 / 2,798).
SPREAD = 2976 / 2798
AT_LEAST_AS_GOOD = 22 / 24  # of the cases of Table 5: all but cop20k_A at 256 and 1,024 threads
ORDERS = {"curve": "along a curve", "shuffled": "shuffled"}  # of a mesh's cells
NO_GPU = "by the model, no GPU"


def products(matrix: PaperMatrix, threads: Sequence[int] = THREADS) -> list[Row]:
    """Return a row for each block size: the transactions of a product, plain and staged."""
    edges, n_rows, rows = matrix.edges, matrix.reading.rows, list[Row]()
    for count in threads:
        k = max(-(-edges.m // (count * ENTRIES_OF_THREAD)), 2)
        part = split_with("spac-ring", edges, contract_of(edges, k), seed=SEED).partition
        blocks = _laid_out(StagedBlocks.of_matrix(edges, part, n_rows))
        plain, staged = plain_product(edges, n_rows, count), staged_product(blocks)
        n_bytes = blocks.largest_bytes(8, 8)
        rows.append({
            "matrix": matrix.name, "threads": count, "k": k,
            "plain": plain.reads + plain.writes, "staged": staged.reads + staged.writes,
            "plain_x": plain.gathered, "staged_x": staged.gathered,
            "texture_x": reads_through_cache(blocks, TEXTURE, max(2048 // count, 1)),
            "shared_bytes": n_bytes,
            "occupancy": round(TITAN_X.occupancy(n_bytes, count), 3),
        })  # fmt: skip
    return rows


def _laid_out(blocks: StagedBlocks) -> StagedBlocks:
    """Return the blocks with rows and columns numbered by first use."""
    outputs = blocks.outputs.renumbered(blocks.outputs.by_first_use())
    if blocks.inputs is blocks.outputs:
        return StagedBlocks(blocks.starts, blocks.edges, outputs, outputs)
    inputs = blocks.inputs.renumbered(blocks.inputs.by_first_use())
    return StagedBlocks(blocks.starts, blocks.edges, outputs, inputs)


def fluxes(n_points: int, threads: Sequence[int] = FLUX_THREADS) -> list[Row]:
    """Return a row for each order and block size: reads of a flux between cells of a mesh.

    The original takes interactions by the cells' numbers, which lie along a curve or are shuffled.
    """
    along = EdgeList.of_graph(tetrahedron_dual(n_points, SEED))
    number = in_runs(along.n, 1, np.random.default_rng(SEED))
    ends = np.sort(number[[along.tails, along.heads]], axis=0)
    ends = ends[:, np.lexsort(ends[::-1])]
    rows = list[Row]()
    for order, edges in zip(ORDERS, (along, EdgeList(along.n, *ends)), strict=True):
        for count in threads:
            k = max(-(-edges.m // count), 2)
            part = split_with("spac-ring", edges, contract_of(edges, k), seed=SEED).partition
            blocks = _laid_out(StagedBlocks.of_interactions(edges, part))
            plain = plain_interactions(edges, np.arange(edges.m), count, VALUES)
            rows.append({"order": order, "threads": count, "interactions": edges.m, "k": k,
                         "original_reads": plain.reads,
                         "spac_reads": staged_interactions(blocks, VALUES).reads})  # fmt: skip
    return rows


def _of(rows: Rows, matrix: str, threads: int = DEFAULT) -> Row:
    return next(row for row in rows if row["matrix"] == matrix and row["threads"] == threads)


def transactions_follow_time(rows: Rows) -> Finding:
    """Figure 13, beside Table 4."""
    ratio = {name: float(_of(rows, name)["staged"]) / float(_of(rows, name)["plain"])
             for name in PAPER}  # fmt: skip
    gained = [name for name, figures in PAPER.items() if figures.time < GAINED]
    others = [name for name in PAPER if name not in gained]
    return Finding(
        "5.2, Figure 13: transactions",
        "profiled read and write transactions of SpMV by cuSPARSE, CUSP and SPAC, eight matrices",
        "reduced significantly for all matrices except cant and Ga41As41H72; the reduction maps "
        "well to the performance",
        f"{NO_GPU}: a thread for each entry by rows, in place of cuSPARSE, against blocks of "
        f"{DEFAULT:,} threads; performance is the paper's Table 4",
        "staged / plain: " + ", ".join(f"{name} {value:.2f}" for name, value in ratio.items())
        + "; the paper's time: "
        + ", ".join(f"{name} {figures.time:.2f}" for name, figures in PAPER.items()),
        [
            Criterion("fewer on each of the five but cant",
                      all(value < 1 for name, value in ratio.items() if name != "cant")),
            Criterion(f"not significantly on cant: at least {GAINED}", ratio["cant"] >= GAINED,
                      own=True),
            Criterion(f"fewer where time fell ({', '.join(gained)}) than where it did not "
                      f"({', '.join(others)})",
                      max(ratio[name] for name in gained) < min(ratio[name] for name in others)),
        ],
        "a model; no seconds here; Ga41As41H72, cop20k_A and mac_econ_fwd500 left out",
    )  # fmt: skip


def shared_or_texture(rows: Rows) -> Finding:
    """Table 5: x in shared memory or through the texture cache."""
    span: dict[str, list[float]] = {}
    for row in rows:
        share = float(row["texture_x"]) / float(row["staged_x"])
        span.setdefault(str(row["matrix"]), []).append(share)
    no_more = sum(share >= 1 for own in span.values() for share in own)
    return Finding(
        "5.2, Table 5: shared memory or texture",
        "SpMV with x through the texture cache, or in shared memory, block sizes 256 to 1,024",
        "shared memory outperforms the texture cache for almost all matrices, by a small "
        "percentage",
        f"{NO_GPU}: sectors of x that are read, through 24 KiB shared by the resident blocks, or "
        "once to stage it",
        f"no more in {no_more} of {len(rows)} cases; texture / shared: "
        + ", ".join(f"{name} {min(own):.2f} to {max(own):.2f}" for name, own in span.items()),
        [Criterion(f"shared memory reads no more in {AT_LEAST_AS_GOOD:.0%} of the cases, as in its "
                   f"table", no_more >= AT_LEAST_AS_GOOD * len(rows))],
        "a model: latencies, and what other arrays evict, are not in it",
    )  # fmt: skip


def block_sizes(rows: Rows) -> Finding:
    """Table 5: SpMV at three block sizes."""
    names = dict.fromkeys(str(row["matrix"]) for row in rows)
    own = {name: [float(row["staged"]) for row in rows if row["matrix"] == name] for name in names}
    spread = {name: max(values) / min(values) for name, values in own.items()}
    return Finding(
        "5.2, Table 5: block sizes",
        "SpMV by SPAC with blocks of 256, 512 and 1,024 threads",
        f"the performance at different block sizes is similar: within {SPREAD - 1:.1%} for each "
        "matrix by its table",
        f"{NO_GPU}: transactions, reads and writes",
        "most over least: " + ", ".join(f"{name} {value:.3f}" for name, value in spread.items()),
        [Criterion(f"{name}: within {SPREAD - 1:.1%}", value <= SPREAD)
         for name, value in spread.items()],
        "a model: transactions in the place of seconds",
    )  # fmt: skip


def relative_reads(rows: Rows) -> dict[str, list[float]]:
    """Return the reads of a flux relative to the original's at the same block size, by order."""
    found: dict[str, list[float]] = {}
    for row in rows:
        share = float(row["spac_reads"]) / float(row["original_reads"])
        found.setdefault(f"cells {ORDERS[str(row['order'])]}", []).append(share)
    return found


def flux_reads(rows: Rows) -> Finding:
    """Figure 16: read transactions of cfd."""
    ratio = relative_reads(rows)
    return Finding(
        "5.3, Figure 16: read transactions",
        "profiled L2 reads of b+tree, cfd, gaussian and particlefilter, each block size",
        "memory transactions are reduced significantly",
        f"{NO_GPU}: a flux of {VALUES} values between cells of tetrahedra, as cfd's, at "
        f"{', '.join(map(str, dict.fromkeys(row['threads'] for row in rows)))} threads",
        "staged / original: "
        + ", ".join(f"{cells} {min(own):.2f} to {max(own):.2f}" for cells, own in ratio.items()),
        [Criterion(f"fewer at every block size, {cells}", max(own) < 1)
         for cells, own in ratio.items()],
        "a model; one of the four programs, on a generated mesh",
    )  # fmt: skip


def seconds_of_programs() -> Finding:
    """Figures 14 and 15: what needs a GPU."""
    return Finding(
        "5.3, Figures 14 and 15: 2.40 times",
        "seconds of four programs of Rodinia at each block size, on two GPUs",
        "at most 2.40 times as fast (particlefilter, 128 threads); with each side at its best "
        "block size never slower",
        "nothing: a statement about seconds of GPUs",
        "",
        lacking="a GPU; Rodinia's programs and inputs",
    )


def seconds_of_products() -> Finding:
    """Table 4, Figures 11 and 12: what needs a GPU."""
    return Finding(
        "5.2, Table 4, Figures 11 and 12: SpMV in CG",
        "seconds of all products of CG by cuSPARSE, CUSP, SPAC, and SPAC-adapt, whose blocks are "
        "made meanwhile",
        "SPAC is faster than both in most cases, marginally slower for cant; SPAC-adapt has almost "
        "no slowdown",
        "nothing: a statement about seconds of GPUs",
        "on CPUs staged blocks do not pay, and an order of vertices, made meanwhile, does: "
        "docs/locality.md has these seconds",
        lacking="a GPU, cuSPARSE and CUSP",
    )
