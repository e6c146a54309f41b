"""Small real calls that together use every kernel with all types of arguments.

A kernel is compiled for each combination of argument types, so after a rehearsal all kernels of
such a call are compiled. Types depend on weights (none, integer or real, of vertices and of edges),
on coordinates (none, in 2-D or 3-D) and on a file's format: there is a small file of every format
that a kernel reads or writes, and a small mesh of every kind. Rehearsals do not depend on each
other, so that several processes can share them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import ArrayLike

from evener.arrays import IntArray
from evener.cli.precompile.samples import (
    SPEEDS,
    TYPES,
    machine_of,
    meshes,
    places,
    weighted,
    write_samples,
)
from evener.cli.precompile.sliced_rehearsals import in_slices, rows_on_ranks, rows_that_move
from evener.errors import InfeasibleError, InputError, NotFoundError
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.plans.partition import Contract, Partition
from evener.plans.workload import WORKLOADS, Workload
from evener.platforms.platform import Device, Platform


def _plan(graph: Graph, tool: str = "evener", many: int = 1, **options: str) -> None:
    """Plan for a machine `many` times as large, without mapping, which has its own rehearsal."""
    from evener.planning.in_memory import plan
    from evener.planning.options import PlanOptions

    chosen = PlanOptions(tool=tool, mapping=False, **options)  # type: ignore[arg-type]
    plan(graph, machine_of(many), chosen)


def cut() -> None:
    """Divide meshes, with and without coordinates."""
    for place, graph in enumerate(places()):
        for heavy in weighted(graph, alike=place > 0):
            for many in (1, 2):  # few blocks, and more
                _plan(heavy, many=many)
                _plan(heavy.with_(coords=None), many=many)
    for preset in ("fast", "strong"):
        _plan(graph, preset=preset)
        _plan(graph.with_(coords=None), preset=preset)


def volumes() -> None:
    """Divide meshes for the least communication volume."""
    for graph in places():
        for heavy in (graph, graph.with_(adjwgt=np.full(graph.adjncy.size, 2))):
            for objective in ("total_volume", "max_volume"):
                _plan(heavy, objective=objective)


def seconds() -> None:
    """Move vertices to make the slowest block faster."""
    from evener.partitioning.makespan.refine_seconds import refine_seconds
    from evener.plans.costs import costs_of

    graph = next(places())
    part = (np.arange(graph.n) * len(SPEEDS) // graph.n).astype(np.int32)
    refine_seconds(graph, part, np.ones(graph.n), costs_of(machine_of()))


def propagation() -> None:
    """Divide graphs of very uneven degrees."""
    from evener.graphs.generating.random_graphs import rmat

    for place, graph in enumerate((rmat(9, 3, 8), rmat(10, 3, 8, 0.4, 0.2, 0.2))):
        for heavy in weighted(graph, alike=place > 0):
            _plan(heavy)
        for objective in ("total_volume", "max_volume"):
            _plan(graph, preset="fast", objective=objective)


def tree() -> None:
    """Divide along a machine's tree, and refine the result."""
    from evener.graphs.generating.random_graphs import rmat
    from evener.partitioning.refine import refine

    for place, graph in enumerate((*places(), rmat(9, 3, 8))):
        part = Partition((np.arange(graph.n) * 4 // graph.n).astype(np.int32), 4)
        for heavy in weighted(graph, alike=place > 0):
            _plan(heavy, "hierarchical", many=4)
            _plan(heavy.with_(coords=None), "hierarchical")
            refine(heavy, part)
            refine(heavy.with_(coords=None), part, fixed=np.arange(graph.n) % 5 == 0)
        for objective in ("total_volume", "max_volume"):
            _plan(graph, "hierarchical", objective=objective)
            refine(graph, part, objective=objective)


def mapping() -> None:
    """Map few blocks, and many, onto a machine's devices."""
    from evener.partitioning.mapping.blocks import map_blocks

    graph = next(places())
    for many in (1, 2):
        platform = machine_of(many)
        k = platform.k
        part = Partition((np.arange(graph.n) * k // graph.n).astype(np.int32), k)
        targets = np.full(k, graph.n / k)
        map_blocks(graph, part, platform, Contract(targets, 0.5 * targets, 2 * targets))


def contracts() -> None:
    """Repair partitions that break their contract in every way, and evaluate them."""
    from evener.partitioning.enforce import enforce
    from evener.planning.evaluate import evaluate
    from evener.plans import metrics

    rng = np.random.default_rng(7)
    for graph in places():
        n, k = graph.n, len(SPEEDS)
        platform = Platform(tuple(Device(f"d{b}", s, memory=1e9) for b, s in enumerate(SPEEDS)))
        targets = np.array(SPEEDS) * n / sum(SPEEDS)
        caps = np.full(k, 1.2 * graph.total_bytes)
        contract = Contract(targets, 0.97 * targets, 1.03 * targets, caps)
        for heavy in weighted(graph):
            everywhere = Partition(rng.integers(0, k, n).astype(np.int32), k)
            kept = enforce(heavy, everywhere, contract, connected=True)
            for overlap in (False, True):
                workload = Workload("rehearsed", overlap=overlap)
                evaluate(heavy, kept.partition, machine_of(), contract, workload=workload)
                metrics.predicted_seconds(heavy, kept.partition, machine_of(), workload)
            metrics.block_components(heavy, kept.partition)
        evaluate(graph, kept.partition, platform, contract, workload=WORKLOADS["spmv"])
    _many_blocks(graph)
    for heaviest in (3, 400):
        _pack(rng.integers(1, heaviest, 60), rng)
    # Nothing small enough can be handed to the empty block but a vertex that its own one lacks.
    _repair([5, 3, 3, 6, 3], [1, 1, 0, 0, 1], low=[14, 2, 3], high=[15, 3, 3])


def _many_blocks(graph: Graph) -> None:
    """Repair partitions with more blocks than a table of all pairs supports."""
    k = 4100
    part = np.arange(graph.n) * k // graph.n
    part[part == 7] = 8
    _repair(None, part, low=np.zeros(k), high=np.full(k, 5.0), graph=graph)


def _pack(weights: IntArray, rng: np.random.Generator) -> None:
    """Repair a path of heavy vertices with few possible moves."""
    mean = float(weights.sum()) / 5
    for part in (np.zeros(60), rng.integers(0, 5, 60)):
        _repair(weights, part, low=np.full(5, mean - 1), high=np.full(5, mean + 1))


def _repair(
    weights: ArrayLike | None,
    part: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    graph: Graph | None = None,
) -> None:
    """Repair blocks of a graph, or of a path with these weights; ignore infeasible repairs."""
    from evener.partitioning.enforce import enforce

    part, low, high = np.asarray(part, np.int32), np.asarray(low, float), np.asarray(high, float)
    if graph is None:
        n = part.size
        graph = Graph.from_edges(n, np.arange(n - 1), np.arange(1, n), vwgt=weights)
    given, contract = Partition(part, low.size), Contract((low + high) / 2, low, high)
    with suppress(InfeasibleError, NotFoundError):  # trying is all that compiling needs
        enforce(graph, given, contract)


def others() -> None:
    """Divide with every other installed partitioner that runs in this process."""
    from evener.partitioning.tools import TOOLS

    rehearsed = ("evener", "hierarchical")
    own = [name for name, tool in TOOLS.items() if tool.family != "external"]
    here = [name for name in own if name not in rehearsed and TOOLS[name].available() is None]
    for graph in places():
        for name in here:
            _plan(graph, name)
            _plan(graph.with_(adjwgt=np.full(graph.adjncy.size, 2)), name)


def several() -> None:
    """Divide vertices with several weights, and repair blocks that are not balanced."""
    from evener.partitioning.enforce import enforce
    from evener.planning.options import PlanOptions

    rng, platform = np.random.default_rng(5), Platform.flat(SPEEDS)
    for graph in places():
        second = rng.integers(1, 9, graph.n) * (np.arange(graph.n) > graph.n // 3)
        weights = np.column_stack([np.ones(graph.n, np.int64), second])
        for heavy in (graph.with_(vwgt=weights), graph.with_(vwgt=weights / 2)):
            _plan(heavy)
            _plan(heavy.with_(coords=None, adjwgt=np.full(graph.adjncy.size, 2)))
        contract, _ = PlanOptions().contract(heavy, platform)
        lopsided = rng.integers(0, len(SPEEDS), graph.n).astype(np.int32)
        with suppress(InfeasibleError, NotFoundError):
            enforce(heavy, Partition(lopsided, len(SPEEDS)), contract)
    # Heavy vertices, of which only swaps bring the blocks within all limits.
    path = Graph.from_edges(60, np.arange(59), np.arange(1, 60), vwgt=rng.integers(1, 400, (60, 2)))
    contract, _ = PlanOptions(epsilon=0.01).contract(path, Platform.flat([1.0] * 5))
    with suppress(InfeasibleError, NotFoundError):
        enforce(path, Partition(rng.integers(0, 5, 60).astype(np.int32), 5), contract)


def building() -> None:
    """Build graphs from pairs, sorted or not, and meshes of every kind."""
    from evener.graphs.generating.random_graphs import barabasi_albert

    barabasi_albert(64, 3)
    u, v = np.array([0, 2, 1, 0]), np.array([1, 1, 0, 2])
    for weights in TYPES:
        given = None if weights is None else np.ones(4, weights)
        DirectedGraph.from_arcs(3, u, v, weights=given).undirected()
        graph = Graph.from_edges(3, u, v, weights=given)
        graph.components()
        turned = graph.adjncy.reshape(3, 2)[:, ::-1].ravel()  # lists that are not in order
        graph.with_(adjncy=turned)
    for mesh in meshes():
        mesh.dual_graph()
        mesh.nodal_graph()
        if mesh.dim == 3:
            mesh.boundary_faces()


def policies() -> None:
    """Run the policies that place vertices one by one, on machines of CPUs and GPUs."""
    from evener.partitioning.policies.families import policy_blocks

    for policy in ("C-PG", "C-LDG"):
        policy_blocks(next(places()), machine_of(), policy)


def splitting() -> None:
    """Divide edges by every method, weighted and not."""
    from evener.graphs.edge_list import EdgeList
    from evener.graphs.generating.grid import grid
    from evener.planning.split import SplitOptions, edge_contract, split
    from evener.planning.split_file import StreamOptions, split_file
    from evener.splitting.expanding import ranked_neighbourhoods
    from evener.splitting.from_files import STREAMS
    from evener.splitting.methods import METHODS, NEEDS_MORE

    edges = EdgeList.of_graph(grid([90, 90]))
    for method in METHODS.keys() - NEEDS_MORE:
        split(edges, 2, SplitOptions(method, "fast"))
    star = EdgeList(400, np.zeros(399, np.int32), np.arange(1, 400))  # with a hub
    for one in (edges, star):
        split(one, 4, SplitOptions("spac", "default", 0.01))
    ranked_neighbourhoods(star, edge_contract(star, machine_of()), "fast", 7)
    with TemporaryDirectory() as name:
        lines = Path(name) / "lines.npy"
        np.save(lines, np.stack([edges.tails, edges.heads], axis=1))
        for method in STREAMS:
            split_file(lines, 2, StreamOptions(method))
        shuffled = np.random.default_rng(1).permutation(edges.m)
        np.save(lines, np.stack([edges.tails[shuffled], edges.heads[shuffled]], axis=1))
        split_file(lines, 2, StreamOptions("stream", buffer=edges.m // 8))


def stream_programs() -> None:
    """Run an iteration of each stream program in the package."""
    from evener.running.streams.apps.registry import STREAM_APPS
    from evener.running.streams.in_turn import run_in_turn

    for app in STREAM_APPS.values():
        run_in_turn(app.make(), 1)


def streams() -> None:
    """Map the filters of a random stream graph by the greedy method, and by search."""
    from evener.planning.stream import MapOptions, map_filters
    from evener.streams.generating import GraphParameters, random_machine, random_stream_graph
    from evener.streams.methods import MethodOptions, placed_by
    from evener.streams.period import StreamProblem
    from evener.streams.search import SearchLimits

    machine = random_machine(4, "A", 1)
    graph = random_stream_graph(GraphParameters(1100, ratio=0.1), machine, 1)  # enough for levels
    map_filters(graph, machine, MapOptions("greedy"))
    placed_by("ours", StreamProblem.of(graph, machine), MethodOptions(SearchLimits(100)))


def locality() -> None:
    """Arrange blocks of edges for locality, and multiply with them."""
    from scipy.sparse import csr_array

    from evener.graphs.edge_list import EdgeList
    from evener.plans.edge_partition import EdgePartition
    from evener.running.locality.staging import BlockProduct, StagedBlocks

    edges = EdgeList.of_matrix(csr_array(np.eye(4)))
    blocks = StagedBlocks.of_matrix(edges, EdgePartition.of([0, 0, 1, 1], 2), 4)
    BlockProduct(blocks, np.ones(4))(np.ones(4))
    path = EdgeList.of_graph(Graph.from_edges(4, [0, 1, 2], [1, 2, 3]))
    StagedBlocks.of_interactions(path, EdgePartition.of([0, 0, 1], 2))


def files() -> None:
    """Read and write every format."""
    from evener.io import read
    from evener.io.converting.convert import convert_to_csr
    from evener.io.converting.generated import grid_to_csr
    from evener.io.csr.csr_file import CsrFile
    from evener.io.write import write_graph, write_mesh

    with TemporaryDirectory() as name:
        folder = Path(name)
        graphs, mesh_files = write_samples(folder)
        for path in graphs:
            read(path)
        with suppress(InputError):
            read(folder / "one_way.graph")
        for path in mesh_files:
            for by in ("cells", "points"):
                read(path, by=by)
        read(folder / "plain.graph", weights=str(folder / "plain.graph.xyz"))
        for number, graph in enumerate(weighted(read(folder / "plain.graph").undirected)):
            for suffix in (".graph", ".grf", ".csv", ".mtx"):
                if number == 0 or (graph.vwgt is not None and graph.vwgt.dtype == np.int64):
                    write_graph(folder / f"out{suffix}", graph)
        write_graph(folder / "out.ecsr", read(folder / "whole.graph").undirected)
        with CsrFile(folder / "out.ecsr") as file:
            file.check()
        (folder / "gaps.csv").write_text("0,2,1.5\n2,5,1\n")
        for converted in ("plain.graph", "one_way.graph", "real.graph", "gaps.csv", "pattern.mtx"):
            with suppress(InputError):
                convert_to_csr(folder / converted, folder / "out.ecsr")
        grid_to_csr(folder / "out.ecsr", (3, 4), triangulated=True)
        for mesh in meshes():
            write_mesh(folder / "out.su2", mesh)


def distributing() -> None:
    """Make the parts of graphs for all devices, and for one device; solve systems on them.

    Ghosts' values, of 4 and of 8 bytes, are sent to owners.
    """
    from evener.graphs.directed import DirectedGraph
    from evener.plans.edge_partition import EdgePartition
    from evener.running.apps import kcore, laplacian, spmv, triangles
    from evener.running.comm import run_threads
    from evener.running.distributing import distribute, local_graph
    from evener.running.edge_shares import DividedEdges, edge_shares
    from evener.running.executing import run_program
    from evener.running.halos import Halo
    from evener.running.locality.ordering import lines_read, locality_order, renumbered

    u, v = np.arange(39), np.arange(1, 40)
    partition = Partition((np.arange(40) % 3).astype(np.int32), 3)
    for weights in TYPES:
        given = None if weights is None else np.ones(39, weights)
        for graph in (
            Graph.from_edges(40, u, v, weights=given),
            DirectedGraph.from_arcs(40, u, v, weights=given),
        ):
            distribute(graph, partition, want="both", threads=1)
            local_graph(graph, partition, 1, want="both", threads=1)
            edge_shares(graph, DividedEdges(EdgePartition.of(v % 3, 3)))
        edges = Graph.from_edges(40, u, v, weights=given)
        for solver in (laplacian.CG, laplacian.JACOBI, spmv.SPMV):
            run_program(solver, edges, partition, most=2)
        part = local_graph(edges, partition, 1)
        lines_read(part)
        renumbered(part, locality_order(part))
    star = Graph.from_edges(40, 0 * v, v)  # its triangles are counted by falling degree
    run_program(kcore.KCORE, star, partition)
    run_program(triangles.TRIANGLES, star, partition)
    run_threads(1, lambda comm: [Halo(comm, 1, {}, {}).sparse_of(of) for of in ("i4", "f8")])


def slicing() -> None:
    """Read files in pieces, in all formats that allow it: edges and arcs, weighted or not."""
    from evener.io import write_graph
    from evener.io.streaming import open_stream
    from evener.running.comm import run_threads
    from evener.running.slicing import read_parts

    partition = Partition((np.arange(40) % 3).astype(np.int32), 3)
    u, v = np.append(np.arange(39), 0), np.append(np.arange(1, 40), 2)
    with TemporaryDirectory() as name:
        for weights in TYPES:
            given = None if weights is None else np.ones(40, weights)
            kinds = Graph.from_edges, DirectedGraph.from_arcs
            for graph in (make(40, u, v, weights=given) for make in kinds):
                for suffix in (".npz", ".mtx", ".csv", ".graph")[: 4 if graph.symmetric else 3]:
                    file = Path(name) / f"g{suffix}"
                    if suffix != ".graph" or weights is not np.float64:
                        write_graph(file, graph)
                    stream = open_stream(file, 40, {"directed": not graph.symmetric})
                    run_threads(1, partial(read_parts, stream, partition))


# Ordered so that two processes end at about the same time: while one runs "cut", the other compiles
# kernels that "cut" does not use; kernels that "cut" and "propagation" share are then in the cache
# before "propagation" begins.
REHEARSALS: dict[str, Callable[[], None]] = {
    "cut": cut,
    "files": files,
    "mapping": mapping,
    "others": others,
    "building": building,
    "policies": policies,
    "propagation": propagation,
    "several": several,
    "tree": tree,
    "contracts": contracts,
    "volumes": volumes,
    "seconds": seconds,
    "distributing": distributing,
    "slicing": slicing,
    "in slices": in_slices,
    "rows on ranks": rows_on_ranks,
    "rows that move": rows_that_move,
    "splitting": splitting,
    "locality": locality,
    "streams": streams,
    "stream programs": stream_programs,
}
