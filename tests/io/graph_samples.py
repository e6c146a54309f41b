"""Small good files of every graph format, by name; what the fuzzer mutates."""

import gzip
import io
import lzma

import numpy as np
import scipy.io
import scipy.sparse as sp
import zstandard

from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.io.formats import format_named

METIS = b"% a\n4 4\n2 3\n1 3\n1 2 4\n3\n"
LINES = b"".join(b"%d %d\n" % (i, (7 * i + 1) % 50) for i in range(50))


def _own() -> bytes:
    graph = Graph(
        [0, 1, 3, 4],
        [1, 0, 2, 1],
        vwgt=[1, 2, 3],
        adjwgt=[7, 7, 8, 8],
        coords=np.arange(6.0).reshape(3, 2),
        labels=np.array(["a", "bb", "c"]),
    )
    return format_named("npz").write(graph)[0]


def _binary_csr() -> bytes:
    graph = Graph(
        [0, 1, 3, 4],
        [1, 0, 2, 1],
        vwgt=[[1, 2], [2, 5], [3, 1]],
        adjwgt=[0.5, 0.5, 8, 8],
        coords=np.arange(6.0).reshape(3, 2),
        labels=np.array([3, 5, 9]),
    )
    return format_named("ecsr").write(graph)[0]


def _directed() -> bytes:
    graph = DirectedGraph.from_arcs(3, [0, 1, 2], [1, 0, 1], weights=[1, 2, 3], vwgt=[1.5, 0, 2])
    return format_named("npz").write(graph)[0]


def _saved(matrix, *, compressed: bool) -> bytes:
    out = io.BytesIO()
    sp.save_npz(out, matrix, compressed=compressed)
    return out.getvalue()


def _array(array) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def _harwell_boeing(matrix) -> bytes:
    out = io.StringIO()
    scipy.io.hb_write(out, sp.csc_matrix(matrix))
    return out.getvalue().encode()


_MATRIX = sp.random_array((12, 12), density=0.2, rng=np.random.default_rng(3))
_BANNER = b"%%MatrixMarket matrix "

GRAPHS = {
    "plain.graph": METIS,
    "weighted.graph": b"3 2 111 2\n9 1 2 2 5\n9 3 4 1 5 3 6\n9 5 6 2 6\n",
    "real.graph": b"2 1 11\n0.5 2 1e-3\n2 1 0.001\n",
    "plain.grf": b"0\n4\t8\n0\t000\n2\t1\t2\n2\t0\t2\n3\t0\t1\t3\n1\t2\n",
    "labels.grf": b"0\n3 4\n0 111\n50 7 1 5 40\n40 8 2 5 50 6 9\n9 9 1 6 40\n",
    "pattern.mtx": _BANNER + b"coordinate pattern symmetric\n% c\n4 4 4\n2 1\n3 1\n3 2\n4 3\n",
    "complex.mtx": _BANNER + b"coordinate complex general\n3 3 2\n1 2 1.5 -2e3\n2 3 0 1\n",
    "array.mtx": _BANNER + b"array real general\n2 2\n1\n2.5\n0\n-4\n",
    "skew.mtx": _BANNER + b"array integer skew-symmetric\n3 3\n1\n2\n0\n",
    "a.rua": _harwell_boeing(_MATRIX),
    "own.npz": _own(),
    "own.ecsr": _binary_csr(),
    "csr.npz": _saved(_MATRIX.tocsr(), compressed=True),
    "coo.npz": _saved(_MATRIX.tocoo(), compressed=False),
    "snap.txt": b"# FromNodeId\tToNodeId\n" + LINES.replace(b" ", b"\t"),
    "names.csv": b'source,target,weight\nann,"b, c",2\n"b, c",dan,0.5\ndan,ann,1\n',
    "numbers.csv": b"u,v,w\n10,20,2\n20,-30,5\n",
    "a.triplet": b"0 0 4.5\n1 0 -1e3\n2 1 7\n",
    "nx.edgelist": b"1 2 {}\n2 3 {}\n",
    "weights.edgelist": b"1 2 {}\n2 3 {'weight': 4}\n",
    "packed.graph.gz": gzip.compress(LINES, mtime=0),
    "packed.graph.xz": lzma.compress(METIS),
    "packed.graph.zst": zstandard.ZstdCompressor().compress(METIS),
    "plain.graphml": (
        b'<graphml><key id="w" for="edge" attr.name="weight"><default>2</default></key>\n'
        b'<key id="l" for="node" attr.name="weight"/><graph edgedefault="undirected">\n'
        b'<node id="a"><data key="l">1.5</data></node><node id="b"><data key="l">3</data></node>'
        b'<edge source="a" target="b"/>\n<edge source="b" target="a"><data key="w">4</data></edge>'
        b"</graph></graphml>\n"
    ),
}

# To be read with directed=True; the first alone is refused without it.
DIRECTED = {
    "arcs.graphml": (
        b'<graphml><graph edgedefault="directed"><node id="1"/><node id="2"/><node id="3"/>\n'
        b'<edge source="1" target="2"/><edge source="3" target="2" directed="false"/>'
        b"</graph></graphml>\n"
    ),
    "real.mtx": _BANNER
    + b"coordinate real general\n% c\n4 4 5\n2 1 .5\n1 2 3\n3 1 1e-3\n4 4 2\n4 3 7\n",
    "integer.mtx": _BANNER + b"coordinate integer symmetric\n3 3 3\n2 1 5\n3 2 7\n3 3 1\n",
    "arcs.npz": _directed(),
    "csc.npz": _saved(_MATRIX.tocsc(), compressed=True),
    "values.ijv": b"1 2 4.5\n2 1 1e3\n3 1 7\n2 1 2\n",
    "arcs.edges": b"0 1 2.5\n1 0 3\n4 2 1\n",
}

# For a graph of three vertices.
COORDINATES = {
    "plain.xyz": b"0.5 -1\n2 3.25\n1e-3 4e5\n",
    "scotch.xyz": b"2\n3\n0 0.5 -1\n1 2 3.25\n2 1e-3 4e5\n",
    "fesom.out": b"3\n1 0.5 -1 0\n2 2 3.25 1\n3 1e-3 4e5 0\n",
    "dense.mtx": _BANNER + b"array real general\n3 2\n.5\n2\n1e-3\n-1\n3.25\n4e5\n",
    "c.npy": _array(np.arange(9.0).reshape(3, 3)),
}
WEIGHTS = {
    "w.txt": b"5\n0.5\n7e1\n",
    "w.csv": b"cells,work\n1,2\n3,4\n5,6\n",
    "w.npy": _array(np.arange(3)),
}
