"""The memory needed to divide a graph in slices, and what fits within a limit.

The sizes of arrays are computed: vertices, entries of the largest slice, clusters, vertices near
borders. Constants give the additional memory of Evener's partitioner and of libraries: measured
peaks of resident memory (VmHWM) on x86-64 Linux, CPython 3.11 to 3.13, rounded up. So the same
limit gives the same blocks, whatever memory is free.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from evener.errors import MemoryShortError
from evener.sliced.contraction_kernels import FULLEST, LEAST_PLACES
from evener.sliced.rows import N_SLICES

IMPORTS = 168e6  # bytes: Python, libraries, all kernels loaded, tables of a platform: 163 MB seen
# The same once plans of least seconds are searched for: libraries of sparse matrices are 25 MiB
# then, and slabs across two directions 8 MB.
SEARCH_IMPORTS = IMPORTS + 34e6
OF_BLOCKS = 48.0  # bytes for each pair of blocks: tables of borders and of what blocks exchange
A_CLUSTER_NUMBER = 4.0  # bytes a vertex: its cluster, later its number in its group
# Bytes a vertex, where seconds are lowered: its cluster, its blocks in the best plan and in the one
# that goes on, and the one it is to have.
KEPT_BESIDE = 16.0
CERTIFIED = 8.0  # bytes a vertex while blocks are counted: its block and its piece
UNEVEN = 9.0  # bytes a vertex of graphs of uneven degrees: block, when it is due, a phase's blocks
# Bytes a row and an entry of the slice that is shrunk: 11 and 17 an entry in all were measured on
# triangulated and 3-D grids of 4 and 27 million vertices.
SHRUNK_ROW, SHRUNK_ARC = 40.0, 16.0
# Bytes a vertex and an entry while Evener's partitioner divides a graph, besides the graph itself:
# 88 and 14.5 fit triangulated and 3-D grids of 1e5 to 3e5 clusters (6.0 and 10.9 entries each).
DIVIDED_VERTEX, DIVIDED_ARC = 95.0, 16.0
# Bytes an entry where entries hardly fall as the graph is shrunk, so that levels have about as many
# each: with coordinates at most; and without, those for each level from which on clusters are all
# joined, and besides, by label propagation alone, and where levels stay in memory meanwhile.
# Measured on random graphs (Erdős-Rényi, mean degrees 3 to 40, weighted and not) and grids with a
# third of random edges, of 3e5 to 3.4e6 entries: 46 at 1.5 levels, 74 to 76 at 2.6, 97 at 3.7; 106
# where entries are few; and 93 at 2.7, 131 at 3.7 where levels stay.
DIVIDED_ARC_RANDOM = 60.0
LABELLED_ARC, LABELLED_LEVEL, MOST_LABELLED = 34.0, 17.5, 110.0
CLUSTERED_ARC, CLUSTERED_LEVEL, MOST_CLUSTERED = 20.0, 32.0, 140.0
LEVEL_SHRINKS_BY = 3.0  # as SHRINK_BY in clusters.py
CLUSTERED_BLOCKS = 5  # number of blocks from which levels may stay in memory during propagation
SEARCHED_VERTEX = 150.0  # bytes a cluster, besides those: plans that the search for seconds keeps
# Bytes a vertex and an entry of the graph of a group, from its rows to its refined blocks; of an
# entry where entries hardly fall: 48, 64 and 99 were measured, on random graphs of 40, 8 and 5
# neighbours; the last are divided by label propagation.
IN_GROUP, IN_GROUP_ARC, IN_GROUP_ARC_RANDOM = 130.0, 24.0, 108.0
# The same of a window, most of whose vertices have neighbours outside.
IN_WINDOW, IN_WINDOW_ARC, IN_WINDOW_ARC_RANDOM = 180.0, 36.0, 90.0
# Powers of the number of vertices by which entries fall as a graph is shrunk: from MESH on it takes
# what meshes take, up to RANDOM what random graphs take, between them a part of both. Measured at 9
# to 32 vertices a cluster: meshes 0.87 to 1.4, grids with a twentieth of random edges 0.7 to 0.8,
# with a third 0.4 to 0.5, random graphs 0.03 to 0.45.
MESH, RANDOM = 0.85, 0.5
ESTIMATED = 1.1  # times the entries of sampled clusters: what all may have
OF_HEAVIEST = 0.75  # of the vertices that a cluster may have: the mean, at least
OF_CELL = 0.9  # of the vertices that a cluster across slices is to have: the mean, at least
ACROSS_CLUSTER = 560.0  # bytes a cluster across slices at most: tables while rows are summed
MOST_IN_CLUSTER = 256.0  # maximum vertices of a cluster if memory does not suffice
MOST_IN_CELL = 150.0  # mean vertices of clusters across slices, at most
MOST_ENTRIES = 20.0  # assumed for a cluster until they are known
FOR_CLUSTERS = 0.95  # of what vertices leave free: the graph of clusters while it is divided
KEPT_SHARE = 0.35  # of what vertices leave free: the clusters at most, while borders are refined
LABELS = 17.0  # bytes per vertex of the graph while clusters are made by labels
# Bytes a vertex and an entry of a graph that one process divides as a whole, the graph itself
# included: measured on uneven degrees, others take half; and bytes a vertex of clusters of three or
# more, besides their entries.
WHOLE_VERTEX, WHOLE_ARC, LABELLED_CLUSTERS = 95.0, 120.0, 37.0
MOST_SMALL = 1 << 23  # entries of a graph of clusters of a graph of uneven degrees
MOST_GROUPS = 16  # times the least number, before rows are read for each group anew
LEAST_WINDOW = 1000  # single vertices that are refined together, at least
OF_ROOM = 0.9  # of what is left: what lists take while they are joined is not counted one by one
UNEQUAL = 1.15  # times the mean: the first guess of the largest group


class SliceSizes(NamedTuple):
    """Sizes that determine the memory needed to read a graph in slices.

    n, arcs: vertices and adjacency entries of all slices; rows, row_arcs: the largest number of
    each in a slice. row_bytes, arc_bytes: bytes of buffers and copies per row and per entry.
    dimension: number of coordinates. weighted: whether edges have weights. imports [B]: loaded
    libraries; a_cluster [B]: memory for dividing, per cluster, without its entries.
    """

    n: int
    arcs: int
    rows: int
    row_arcs: int
    row_bytes: float = 20.0
    arc_bytes: float = 4.5
    dimension: int = 0
    weighted: bool = False
    imports: float = IMPORTS
    a_cluster: float = DIVIDED_VERTEX

    def searched(self) -> SliceSizes:
        """Return the sizes with the memory that a search for plans of least seconds adds."""
        return self._replace(imports=SEARCH_IMPORTS, a_cluster=DIVIDED_VERTEX + SEARCHED_VERTEX)

    @classmethod
    def even(cls, n: int, arcs: int) -> SliceSizes:
        """Return the sizes of a graph without edge weights whose slices are equally large."""
        return cls(n, arcs, -(-n // N_SLICES), -(-arcs // N_SLICES))

    @property
    def read_bytes(self) -> float:
        """Bytes needed to read the largest slice."""
        return self.rows * self.row_bytes + self.row_arcs * self.arc_bytes


def least_bytes(sizes: SliceSizes, k: int, clusters: float = 0.0) -> float:
    """Return the memory [B] that suffices for k blocks of a mesh of these sizes.

    clusters: minimum number of clusters from which blocks are made. For graphs other than meshes,
    the memory is known only after clustering.
    """
    read, numbers = sizes.read_bytes, A_CLUSTER_NUMBER * sizes.n
    count = min(max(sizes.n / (OF_CELL * MOST_IN_CELL), clusters), float(sizes.n))
    arcs = min(MOST_ENTRIES * count, sizes.arcs)
    graph = ClusterGraph(math.ceil(count), arcs, MESH, across=True, k=k)
    steps = (
        CERTIFIED * sizes.n,  # rows are read in small pieces
        0.0 if sizes.dimension else UNEVEN * sizes.n + read,
        numbers + read + _shrunk(sizes),
        numbers + read + ACROSS_CLUSTER * count,
        numbers + max(_contracting(sizes, graph), _dividing(sizes, graph)),
    )
    return sizes.imports + OF_BLOCKS * k * k + max(steps)


def _shrunk(sizes: SliceSizes) -> float:
    return SHRUNK_ROW * sizes.rows + (SHRUNK_ARC + 4.0 * sizes.weighted) * sizes.row_arcs


class ClusterGraph(NamedTuple):
    """Facts of a graph of clusters.

    clusters, arcs: number of clusters and of adjacency entries. falling: exponent p; merging
    vertices by a factor f divides the number of entries by f^p. across: whether clusters have
    vertices of several slices. k: number of blocks to divide it into. uneven: whether its degrees
    are so uneven that it is divided only by label propagation.
    """

    clusters: int
    arcs: float
    falling: float
    across: bool
    k: int
    uneven: bool = False


def randomness(falling: float) -> float:
    """Return 0 if the exponent `falling` is that of a mesh, up to 1 if that of a random graph."""
    return min(max((MESH - falling) / (MESH - RANDOM), 0.0), 1.0)


def divided_bytes(sizes: SliceSizes, entries: float, each: float = DIVIDED_ARC) -> float:
    """Return the bytes [B] of a cluster with `entries` entries while the clusters are divided.

    each: bytes per entry for dividing; by default the value for a mesh.
    """
    own = 16.0 + 8.0 * sizes.dimension
    return own + sizes.a_cluster + entries * (_entry(sizes) + each)


def cluster_memory(sizes: SliceSizes, graph: ClusterGraph) -> float:
    """Return the peak memory [B] of a process until the graph of clusters is divided."""
    most = max(_contracting(sizes, graph), _dividing(sizes, graph))
    return sizes.imports + A_CLUSTER_NUMBER * sizes.n + most


def _dividing(sizes: SliceSizes, graph: ClusterGraph) -> float:
    each = _between(DIVIDED_ARC, _random_arc(sizes, graph), graph.falling)
    if graph.uneven and sizes.dimension == 0:
        each = _random_arc(sizes, graph)
    own = divided_bytes(sizes, graph.arcs / max(graph.clusters, 1), each) * graph.clusters
    return own + OF_BLOCKS * graph.k * graph.k


def _random_arc(sizes: SliceSizes, graph: ClusterGraph) -> float:
    """Return the bytes [B] per entry of a graph of clusters that clustering hardly thins out."""
    if sizes.dimension:
        return DIVIDED_ARC_RANDOM
    share = max(graph.arcs, 1.0) / max(float(graph.clusters) ** 2, 1.0)
    levels = 1 - min(math.log(share), 0.0) / (2 * math.log(LEVEL_SHRINKS_BY))
    if graph.uneven or graph.k < CLUSTERED_BLOCKS:
        return min(LABELLED_ARC + LABELLED_LEVEL * levels, MOST_LABELLED)
    return min(CLUSTERED_ARC + CLUSTERED_LEVEL * levels, MOST_CLUSTERED)


def _contracting(sizes: SliceSizes, graph: ClusterGraph) -> float:
    """Return the bytes of tables and lists during contraction; see contraction.py."""
    place, pair = (16.0, 12.0) if sizes.weighted else (12.0, 8.0)
    slices = 1 if graph.across else N_SLICES
    pairs = UNEQUAL * graph.arcs / (2 * slices) if slices > 1 else graph.arcs / 2
    begun = max(LEAST_PLACES, _places(4 * graph.clusters / slices))
    places = max(begun, _places(pairs))
    table = place * (places if places == begun else 1.5 * places)  # with the one before
    lists = pair * graph.arcs + 16.0 * graph.clusters
    kept = pair * graph.arcs / 2 if slices > 1 else 0.0
    sums = 8.0 * (2 + sizes.dimension) * graph.clusters
    # Edges taken from a table of all edges need less than the table.
    listed = lists + (place * places if slices == 1 else kept)
    return sums + max(table + kept + sizes.read_bytes, listed)


def _places(used: float) -> float:
    """Return the number of slots of a hash table of `used` pairs: a power of two."""
    return float(1 << int(used / FULLEST).bit_length())


def _between(mesh: float, random: float, falling: float) -> float:
    return mesh + randomness(falling) * (random - mesh)


def kept_bytes(sizes: SliceSizes, entries: float) -> float:
    """Return the bytes [B] of a cluster with `entries` entries while borders are refined."""
    return 30.0 + entries * _entry(sizes)


def _entry(sizes: SliceSizes) -> float:
    """Return the bytes per entry of the graph of clusters: its other end and its weight [B]."""
    return 12.0 if sizes.weighted else 8.0


def vertices_in_cluster(memory: float, sizes: SliceSizes, wished: float, entries: float) -> float:
    """Return the number of vertices per cluster, at least `wished`, that fits in `memory` [B].

    entries: mean number of entries of a cluster in the graph of clusters.
    """
    n, free = sizes.n, _free(memory, sizes)
    least = divided_bytes(sizes, entries) * n / (OF_HEAVIEST * FOR_CLUSTERS * free)
    later = KEPT_SHARE * max(free - n, 1.0)  # a byte a vertex: its block
    least = max(least, kept_bytes(sizes, entries) * n / (OF_HEAVIEST * later))
    return min(max(wished, least), max(wished, MOST_IN_CLUSTER))


def vertices_in_cell(memory: float, sizes: SliceSizes, wished: float) -> float:
    """Return the mean number of vertices, at least `wished`, of clusters across slices.

    Larger clusters need less memory; the number is chosen so that they fit in `memory` [B].
    """
    each = max(ACROSS_CLUSTER, divided_bytes(sizes, MOST_ENTRIES))
    free = max(_free(memory, sizes) - sizes.read_bytes, 1.0)
    return min(max(wished, each * sizes.n / (OF_CELL * free)), max(wished, MOST_IN_CELL))


def _free(memory: float, sizes: SliceSizes) -> float:
    """Return the memory [B] left by libraries and the clusters' numbers of vertices; at least 1."""
    return max(memory - sizes.imports - A_CLUSTER_NUMBER * sizes.n, 1.0)


def most_whole(memory: float, n: int) -> float:
    """Return how many entries a graph may have to be divided as a whole.

    n: its number of vertices; memory [B]: of the single process that divides it.
    """
    return (memory - IMPORTS - (UNEVEN + WHOLE_VERTEX) * n) / WHOLE_ARC


def most_small(memory: float, n: int) -> float:
    """Return how many entries a graph of clusters made by labels may have within `memory` [B]."""
    return min(MOST_SMALL, (memory - IMPORTS - (LABELS + LABELLED_CLUSTERS) * n) / WHOLE_ARC)


class BorderMemory(NamedTuple):
    """How borders are refined within the memory limit.

    groups: initial number of groups of blocks; keep: whether all rows are stored; room [B]: maximum
    memory of the graph of a group. window: number of single vertices that are refined together; 0:
    refine groups of blocks, not windows. falling: see ClusterGraph.
    """

    groups: int
    keep: bool = True
    room: float = math.inf
    window: int = 0
    falling: float = 1.0


class BorderSizes(NamedTuple):
    """Sizes of borders, from which their memory is computed.

    singles: number of single vertices; clusters, cluster_arcs: of the graph of clusters;
    block_bytes: bytes to store the block of a vertex; falling: see ClusterGraph.
    """

    singles: int
    clusters: int
    cluster_arcs: int
    block_bytes: int
    falling: float = 1.0


def group_bytes(vertices: float, entries: float, falling: float = 1.0) -> float:
    """Return the memory [B] of a group's graph while it is refined."""
    return IN_GROUP * vertices + _between(IN_GROUP_ARC, IN_GROUP_ARC_RANDOM, falling) * entries


def border_memory(
    memory: float, sizes: SliceSizes, borders: BorderSizes, k: int, least: int, *, across: bool
) -> BorderMemory:
    """Return how borders of k blocks are refined within `memory` [B], in at least `least` groups.

    across: whether clusters have vertices of several slices. If not, windows are used instead of
    more groups. If memory does not suffice, the number of groups is the largest possible; groups
    that turn out too large are not refined.
    """
    most, falling = max(k // 2, 1), borders.falling
    entries = borders.singles * sizes.arcs / max(sizes.n, 1)
    free = memory - sizes.imports - OF_BLOCKS * k * k
    free -= (A_CLUSTER_NUMBER + borders.block_bytes) * sizes.n
    free -= kept_bytes(sizes, borders.cluster_arcs / max(borders.clusters, 1)) * borders.clusters
    graphs = UNEQUAL * group_bytes(
        borders.singles + borders.clusters, entries + borders.cluster_arcs, falling
    )
    room = OF_ROOM * (free - kept_rows(sizes, borders.singles, entries))
    if room > 0 and graphs / room <= min(least * (MOST_GROUPS if across else 1), most):
        groups = min(max(least, math.ceil(graphs / room)), most)
        return BorderMemory(groups, room=room, falling=falling)
    room = max(OF_ROOM * (free - sizes.read_bytes), 0.0)
    if not across:
        arc = _between(IN_WINDOW_ARC, IN_WINDOW_ARC_RANDOM, falling)
        each = IN_WINDOW + arc * entries / max(borders.singles, 1)
        return BorderMemory(
            least, keep=False, room=room, window=max(int(room / each), LEAST_WINDOW)
        )
    groups = math.ceil(graphs / room) if room > 0 else most
    return BorderMemory(min(max(least, groups), most), keep=False, room=room, falling=falling)


def kept_rows(sizes: SliceSizes, singles: float, entries: float) -> float:
    """Return the memory [B] of the rows of single vertices while pieces are concatenated."""
    weights = 8.0 if sizes.weighted else 0.0
    return 21.0 * singles + (4.0 + weights) * entries + max(4.0, weights) * entries


def whole_border_memory(sizes: SliceSizes, borders: BorderSizes) -> float:
    """Return the memory [B] of a process while all borders are one graph.

    Does not count blocks and clusters that are overwritten, nor those that are stored.
    """
    entries = borders.singles * sizes.arcs / max(sizes.n, 1)
    own = (KEPT_BESIDE + A_CLUSTER_NUMBER + borders.block_bytes) * sizes.n
    each = 24.0 + divided_bytes(sizes, borders.cluster_arcs / max(borders.clusters, 1))
    graphs = group_bytes(
        borders.singles + borders.clusters, entries + borders.cluster_arcs, borders.falling
    )
    return sizes.imports + own + each * borders.clusters + sizes.read_bytes + graphs


def too_little(what: str, needed: float, allowed: float) -> MemoryShortError:
    """Return the error that states the memory that would suffice; what: its subject and verb."""
    least = mebibytes(needed)
    error = MemoryShortError(
        f"{what} {least} MiB of memory, libraries included, but --memory allows "
        f"{math.floor(allowed / 2**20)} MiB",
        hint=f"Set --memory to at least {least}MiB.",
    )
    error.needed = needed
    return error


def mebibytes(needed: float) -> int:
    """Return bytes as MiB, rounded up."""
    return math.ceil(needed / 2**20)
