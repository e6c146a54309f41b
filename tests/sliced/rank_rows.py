"""Graphs dealt to ranks as programs hold them: rows by ranges, or of arbitrary vertices."""

import numpy as np

from evener.graphs.graph import Graph
from evener.sliced.rows import slice_ends


def random_graph(n, m, seed, *, weighted=False, coords=False):
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, max(n, 1), (2, m if n > 1 else 0))
    fields = {"coords": rng.random((n, 2))} if coords else {}
    if weighted:
        fields["vwgt"] = rng.integers(1, 9, n)
    weights = rng.integers(1, 5, u.size) if weighted else None
    return Graph.from_edges(n, u, v, weights=weights, **fields)


def rows_of(graph, vertices):
    """Return the arguments of `from_local` for these vertices of a graph."""
    spans = [range(graph.xadj[v], graph.xadj[v + 1]) for v in vertices]
    entries = np.array([e for span in spans for e in span], np.int64)
    given = {
        "xadj": np.concatenate([[0], np.cumsum([len(span) for span in spans])]).astype(np.int64),
        "adjncy": graph.adjncy[entries],
    }
    vertices = np.asarray(vertices, np.int64)
    for name, index in (("vwgt", vertices), ("coords", vertices), ("adjwgt", entries)):
        if getattr(graph, name) is not None:
            given[name] = getattr(graph, name)[index]
    return given


def ranges_of(n, ranks, rng=None):
    """Return vtxdist (ranks + 1,), at random where a generator is given."""
    if rng is None:
        return np.arange(ranks + 1) * n // ranks
    return np.concatenate([[0], np.sort(rng.integers(0, n + 1, ranks - 1)), [n]])


def put_together(comm, graph):
    """Return the whole graph's rows as (vertex, neighbours, weights, vertex weight, point)."""
    numbers = np.concatenate([np.arange(graph.first, graph.first + graph.n_own), graph.ghosts])
    filled = np.full(graph.n_local, -1, np.int64)
    filled[: graph.n_own] = numbers[: graph.n_own]
    graph.fill(filled)
    assert (filled == numbers).all()
    assert list(graph.ends) == list(slice_ends(graph.n))
    found = []
    for i in graph.own_slices:
        rows = graph.rows(i)
        assert rows.first == graph.ends[i] - graph.first
        assert rows.xadj.size - 1 == graph.ends[i + 1] - graph.ends[i]
        assert (rows.xadj.dtype, rows.adjncy.dtype) == (np.int64, np.int32)
        points = graph.points(i)
        for r in range(rows.xadj.size - 1):
            span = slice(rows.xadj[r], rows.xadj[r + 1])
            entries = rows.adjncy[span]
            found.append((
                int(graph.ends[i] + r),
                numbers[entries].tolist(),
                (rows.adjwgt[span] if rows.adjwgt.size else np.ones(entries.size)).tolist(),
                rows.vwgt[r] if rows.vwgt.size else 1,
                points[r].tolist(),
            ))  # fmt: skip
    return [one for part in comm.allgather(found) for one in part]


def expected(graph):
    adjwgt = np.ones(graph.adjncy.size) if graph.adjwgt is None else graph.adjwgt
    return [
        (
            v,
            graph.adjncy[(s := slice(graph.xadj[v], graph.xadj[v + 1]))].tolist(),
            adjwgt[s].tolist(),
            1 if graph.vwgt is None else graph.vwgt[v],
            [] if graph.coords is None else graph.coords[v].tolist(),
        )
        for v in range(graph.n)
    ]
