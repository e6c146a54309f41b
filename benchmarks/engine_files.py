"""Graphs in files of the GAP benchmark suite, .sg without and .wsg with weights, all undirected.

Needs NumPy alone: read by benchmarks/engine_peers.py, too, which other Pythons run.
"""

import numpy as np

MOST_WEIGHT = 255  # as the suite draws them


def written(graph, plain, weighted):
    """Write a graph as the suite does: whether directed, arcs, vertices, offsets, entries."""
    ends = graph.adjncy.astype(np.int32)
    tails = np.repeat(np.arange(graph.n, dtype=np.int32), np.diff(graph.xadj))
    mixed = np.minimum(ends, tails).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ np.maximum(ends, tails).astype(np.uint64)) * np.uint64(0xBF58476D1CE4E5B9)
    weights = ((mixed >> np.uint64(33)) % np.uint64(MOST_WEIGHT)).astype(np.int32) + 1
    for path, entries in ((plain, ends), (weighted, np.column_stack([ends, weights]))):
        with path.open("wb") as file:
            file.write(b"\0")
            for part in (np.array([ends.size, graph.n]), graph.xadj.astype(np.int64), entries):
                np.ascontiguousarray(part).tofile(file)


def arrays(path):
    """Return offsets (n + 1,) int64, ends (arcs,) uint32, weights (arcs,) int32 or None."""
    with path.open("rb") as file:
        assert file.read(1) == b"\0"  # undirected
        _, n = (int(number) for number in np.fromfile(file, np.int64, 2))
        offsets = np.fromfile(file, np.int64, n + 1)
        entries = np.fromfile(file, np.uint32)
    if path.suffix == ".sg":
        return offsets, entries, None
    ends, weights = (np.ascontiguousarray(part) for part in entries.reshape(-1, 2).T)
    return offsets, ends, weights.view(np.int32)
