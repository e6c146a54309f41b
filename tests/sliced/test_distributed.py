"""Graphs whose rows lie on ranks: the same graph whoever holds them, and errors on all ranks."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evener as ev
from evener.errors import InputError, UsageError
from evener.running.comm import run_threads
from evener.sliced.curve_order import along_curve
from evener.sliced.distributed import DistributedGraph
from evener.sliced.rows import Changed, Known
from tests.sliced.rank_rows import expected, put_together, random_graph, ranges_of, rows_of


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("kind", ["plain", "weighted"])
def test_every_rank_has_the_rows_of_its_slices(ranks, kind):
    whole = random_graph(150, 400, 3, weighted=kind == "weighted", coords=kind == "weighted")
    for vtxdist in (ranges_of(150, ranks), ranges_of(150, ranks, np.random.default_rng(ranks))):

        def work(comm, vtxdist=vtxdist):
            given = rows_of(whole, range(vtxdist[comm.rank], vtxdist[comm.rank + 1]))
            graph = DistributedGraph.from_local(comm, **given, vtxdist=vtxdist)
            assert (graph.n, graph.arcs) == (150, 2 * whole.m)
            assert graph.edges_weigh == (kind == "weighted")
            own = np.arange(graph.first, graph.first + graph.n_own)
            assert (graph.back(own) == range(*vtxdist[comm.rank : comm.rank + 2])).all()
            return put_together(comm, graph)

        for found in run_threads(ranks, work):
            assert found == expected(whole)


@given(n=st.integers(0, 90), ranks=st.integers(1, 6), seed=st.integers(0, 999))
def test_rows_of_arbitrary_vertices_are_dealt_and_results_brought_back(n, ranks, seed):
    rng = np.random.default_rng(seed)
    whole = random_graph(n, 2 * n, seed, weighted=seed % 2 == 1, coords=seed % 3 == 1)
    holder = rng.integers(0, ranks, n)
    held = [rng.permutation(np.flatnonzero(holder == rank)) for rank in range(ranks)]

    def work(comm):
        given = rows_of(whole, held[comm.rank])
        graph = DistributedGraph.from_local(comm, **given, numbers=held[comm.rank])
        own = np.arange(graph.first, graph.first + graph.n_own)
        assert (graph.back(np.stack([own, own], 1)) == held[comm.rank][:, None]).all()
        return put_together(comm, graph)

    assert run_threads(ranks, work)[0] == expected(whole)


def test_rows_in_any_order_and_types_that_callers_have():
    whole = random_graph(40, 80, 5, weighted=True)

    def work(comm):
        given = rows_of(whole, range(20 * comm.rank, 20 * comm.rank + 20))
        for r in range(20):
            span = slice(given["xadj"][r], given["xadj"][r + 1])
            for name in ("adjncy", "adjwgt"):
                given[name][span] = given[name][span][::-1]
        kept = given["adjncy"].copy()
        graph = DistributedGraph.from_local(
            comm,
            given["xadj"].astype(np.int32),
            given["adjncy"].astype(np.int64 if comm.rank else np.int32),
            vwgt=given["vwgt"].astype(np.float32),
            adjwgt=given["adjwgt"].tolist(),
        )
        assert (given["adjncy"] == kept).all()
        return put_together(comm, graph)

    assert run_threads(2, work)[1] == expected(whole)


@pytest.mark.parametrize(("n", "ranks"), [(0, 1), (0, 3), (1, 2), (5, 8), (100, 70)])
def test_ranks_with_nothing(n, ranks):
    whole = random_graph(n, 3 * n, 1)

    def work(comm):
        mine = range(n if comm.rank == ranks - 1 else 0)
        graph = DistributedGraph.from_local(comm, **rows_of(whole, mine))
        return put_together(comm, graph)

    assert run_threads(ranks, work)[0] == expected(whole)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.float32, np.complex128])
def test_ghosts_are_told_values_of_any_type(dtype):
    whole = random_graph(60, 200, 2)
    right = (np.arange(60) % 7).astype(dtype)

    def work(comm):
        mine = range(20 * comm.rank, 20 * comm.rank + 20)
        graph = DistributedGraph.from_local(comm, **rows_of(whole, mine))
        values = np.zeros(graph.n_local, dtype)
        values[: graph.n_own] = right[graph.first : graph.first + graph.n_own]
        before = graph.sent
        graph.fill(values)
        assert (values[graph.n_own :] == right[graph.ghosts]).all()
        return graph.sent - before, graph.ghosts.size * np.dtype(dtype).itemsize

    sent, came = np.array(run_threads(3, work)).T
    assert sent.sum() == came.sum()


@pytest.mark.parametrize("ranks", [2, 5])
def test_ghosts_are_told_of_some_slices_alone(ranks):
    whole = random_graph(200, 600, 2)
    chosen = [0, 7, 8, 30, 63]

    def work(comm):
        mine = range(200 * comm.rank // ranks, 200 * (comm.rank + 1) // ranks)
        graph = DistributedGraph.from_local(comm, **rows_of(whole, mine))
        values = np.full(graph.n_local, -1)
        values[: graph.n_own] = np.arange(graph.first, graph.first + graph.n_own)
        before = graph.sent
        graph.fill(values, chosen)
        told = np.isin(graph.ghosts, [v for i in chosen for v in range(*graph.ends[i : i + 2])])
        assert (values[graph.n_own :] == np.where(told, graph.ghosts, -1)).all()
        return graph.sent - before, 8 * told.sum(), told.all()

    sent, came, everything = np.array(run_threads(ranks, work)).T
    assert sent.sum() == came.sum() > 0
    assert not everything.any()


def failing(ranks, change, kind=InputError, whole=None, **fields):
    """Return what ranks say, the same on all, where change(rank, arguments) makes them wrong."""
    whole = whole or random_graph(40, 100, 4, weighted=True, coords=True)
    bounds = ranges_of(whole.n, ranks)

    def work(comm):
        given = rows_of(whole, range(bounds[comm.rank], bounds[comm.rank + 1])) | fields
        change(comm.rank, given)
        with pytest.raises(kind) as error:
            DistributedGraph.from_local(comm, **given)
        return str(error.value)

    said = run_threads(ranks, work)
    assert len(set(said)) == 1
    return said[0]


def on(rank, name, index, value):
    def change(own, given):
        if own == rank:
            given[name][index] = value

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (on(1, "adjncy", 3, 40), "rank 1: vertex 20 has neighbour 40, which does not exist"),
        (on(0, "adjncy", 0, -1), r"rank 0: vertex 0 has neighbour -1, which does not exist"),
        (on(1, "adjncy", 0, 20), "rank 1: vertex 20 is its own neighbour"),
        (on(1, "vwgt", 2, -1), "rank 1: vwgt must not be negative; entry 2 is"),
        (on(1, "coords", (0, 0), np.nan), "rank 1: coords must be finite"),
        (on(0, "adjwgt", 0, 77), "rank 0: the edge between vertices 0 .* weighs 77 in the row"),
        (lambda r, g: g.update(adjwgt=g["adjwgt"][1:]), "rank 0: adjwgt has .* entries for"),
        (lambda r, g: g.update(adjwgt=g["adjwgt"] * np.inf), "rank 0: adjwgt must be finite"),
        (lambda r, g: g.update(vwgt=g["vwgt"][1:]), "rank 0: vwgt has 19 entries for 20 rows"),
        (lambda r, g: r and g.update(vwgt=None), "rank 0 passes vwgt, but rank 1 does not"),
        (lambda r, g: r or g.update(adjwgt=None), "rank 1 passes adjwgt, but rank 0 does not"),
        (lambda r, g: r and g.update(coords=np.ones((20, 3))), "rank 1: coords has 3 columns"),
        (lambda r, g: g.update(xadj=g["xadj"][::-1]), "rank 0: xadj must run from 0 to"),
        (lambda r, g: g.update(xadj=[]), "rank 0: xadj is empty"),
        (lambda r, g: g.update(adjncy=g["adjncy"] + 0.5), "rank 0: adjncy must hold whole"),
        (lambda r, g: g.update(vtxdist=[0, 19, 40]), "rank 0: xadj has 20 rows, but vtxdist"),
        (lambda r, g: g.update(vtxdist=[0, 20, 41]), "rank 1: .* vertices 20 to 41 - 1"),
        (lambda r, g: g.update(vtxdist=[1, 21, 41]), "vtxdist must begin with 0, not 1"),
        (lambda r, g: g.update(vtxdist=[0, 40]), "vtxdist has 2 entries, not"),
        (lambda r, g: g.update(vtxdist=[0, 20 + r, 40]), "rank 1: vtxdist differs from rank 0's"),
        (lambda r, g: g.update(numbers=np.arange(20)), "vertex 0 is on rank 0 and rank 1"),
        (lambda r, g: g.update(numbers=np.arange(20) + 21 * r), "row 19 is for vertex 40"),
        (lambda r, g: r and g.update(numbers=np.arange(20)), "rank 1 passes numbers, but rank 0"),
    ],
)  # fmt: skip
def test_bad_rows_are_refused_on_all_ranks(change, words):
    assert re.search(words, failing(2, change))


def test_more_bad_rows():
    def both(rank, given):
        given.update(vtxdist=[0, 20, 40], numbers=np.arange(20) + 20 * rank)

    assert "not both" in failing(2, both, UsageError)

    def repeated(rank, given):
        if rank == 1:
            given["adjncy"][1] = given["adjncy"][0]

    assert re.search("rank 1: vertex 20 has neighbour .* more than once", failing(2, repeated))


@given(ranks=st.integers(1, 5), seed=st.integers(0, 9999))
def test_an_edge_seen_from_one_end_alone_is_named(ranks, seed):
    rng = np.random.default_rng(seed)
    whole = random_graph(30, 60, seed, weighted=seed % 2 == 1)
    edge = rng.integers(0, whole.adjncy.size)
    tail = np.searchsorted(whole.xadj, edge, side="right") - 1
    head = whole.adjncy[edge]
    bounds = ranges_of(30, ranks, rng)
    is_cut = seed % 4 < 2

    def change(rank, given):
        given.update(rows_of(whole, range(bounds[rank], bounds[rank + 1])), vtxdist=bounds)
        first, last = whole.xadj[bounds[rank]], whole.xadj[bounds[rank + 1]]
        if not first <= edge < last:
            return
        if is_cut or "adjwgt" not in given:
            given["xadj"][tail - bounds[rank] + 1 :] -= 1
            for name in {"adjncy", "adjwgt"} & set(given):
                given[name] = np.delete(given[name], edge - first)
        else:
            given["adjwgt"][edge - first] += 1

    said = failing(ranks, change, whole=whole)
    assert str(tail) in said
    assert str(head) in said
    if is_cut or seed % 2 == 0:
        assert f"vertex {min(tail, head)} " in said


@given(ranks=st.integers(1, 4), seed=st.integers(0, 99999))
def test_rows_changed_at_random_are_a_graph_or_refused_on_all_ranks(ranks, seed):
    """Entries, offsets, weights and numbers of one rank or of all: no other error, and no hang."""
    rng = np.random.default_rng(seed)
    whole = random_graph(24, 50, seed, weighted=seed % 2 == 1, coords=seed % 3 == 0)
    bounds = ranges_of(24, ranks, rng)
    numbered, guilty = seed % 5 == 0, rng.integers(0, ranks)
    odd = [-1, 0, 1, 5, 23, 24, 2**31, 2**40, np.nan, np.inf]
    name = rng.choice(["xadj", "adjncy", "vwgt", "adjwgt", "coords", "numbers", "vtxdist"])
    value, way, at = odd[rng.integers(0, len(odd))], rng.integers(0, 3), rng.random()

    def work(comm):
        mine = np.arange(bounds[comm.rank], bounds[comm.rank + 1])
        given = rows_of(whole, mine)
        given |= {"numbers": mine} if numbered else {"vtxdist": bounds}
        if name in given and comm.rank == guilty:
            array = np.array(given[name], float if name != "adjncy" else None)
            if way == 0:
                array = array[:-1]
            elif way == 1:
                array = np.concatenate([array, array[:1]])
            elif array.size and np.isfinite(value):
                array.reshape(-1)[int(at * array.size)] = min(value, 2**31 - 1)
            given[name] = array
        try:
            DistributedGraph.from_local(comm, **given)
        except (InputError, UsageError) as error:
            return str(error)
        return "a graph"

    assert len(set(run_threads(ranks, work, timeout=20))) == 1


@pytest.mark.parametrize("ranks", [1, 3])
def test_rows_that_callers_hold_in_another_way_have_the_values_of_their_vertices(ranks):
    whole = random_graph(200, 500, 4, coords=True)
    held = np.random.default_rng(ranks).permutation(whole.n)
    bounds = ranges_of(whole.n, ranks)

    def work(comm):
        mine = range(bounds[comm.rank], bounds[comm.rank + 1])
        graph = DistributedGraph.from_local(comm, **rows_of(whole, mine))
        for one in (graph, along_curve(graph)):
            now = held[comm.rank :: ranks]
            moved = one.held_as(now)
            assert moved.rows_given == now.size
            assert one.rows_given == len(mine)
            there = moved.there(10.0 * now)
            assert (moved.back(there) == 10.0 * now).all()
            assert (one.back(there) == 10.0 * np.array(mine)).all()

    run_threads(ranks, work)


@pytest.mark.parametrize("slices", [None, [0, 7, 8, 30, 63]])
@pytest.mark.parametrize("ranks", [2, 5])
def test_ghosts_are_told_of_some_vertices_alone(ranks, slices):
    whole = random_graph(200, 600, 2)
    marked = np.random.default_rng(3).random(200) < 0.3

    def work(comm):
        mine = range(200 * comm.rank // ranks, 200 * (comm.rank + 1) // ranks)
        graph = DistributedGraph.from_local(comm, **rows_of(whole, mine))
        own = range(graph.first, graph.first + graph.n_own)
        known = np.concatenate([marked[own], marked[graph.ghosts]])
        ends = [graph.ends[i : i + 2] for i in (range(64) if slices is None else slices)]
        listed = np.isin(np.arange(200), [v for pair in ends for v in range(*pair)])
        for which, told in (
            (Known(known), marked),
            (Changed(marked[own], slices), marked & listed),
            (Changed(np.zeros(graph.n_own, np.bool_)), np.zeros(200, np.bool_)),
        ):
            values = np.full(graph.n_local, -1)
            values[: graph.n_own] = own
            graph.fill(values, which)
            right = np.where(told[graph.ghosts], graph.ghosts, -1)
            assert (values[graph.n_own :] == right).all()
            assert (values[: graph.n_own] == own).all()
        assert known[graph.n_own :].any()

    run_threads(ranks, work)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([[2], [], [3], [0, 2]], "rank 0: vertex 0 has neighbour 2, but vertex 2 does not have"),
        ([[], [], [3], [0, 2]], "rank 0: vertex 3 has neighbour 0, but vertex 0 does not have"),
        ([[], [], [3], [2, 4]], "which does not exist: all ranks have 4 vertices"),
        ([[1], [0], [2], []], "rank 1: vertex 2 is its own neighbour"),
        ([[1, 1], [0, 0], [], []], "rank 0: vertex 0 has neighbour 1 more than once"),
    ],
)
def test_the_first_edge_is_named(rows, words):
    def work(comm):
        own = rows[2 * comm.rank : 2 * comm.rank + 2]
        xadj = np.concatenate([[0], np.cumsum([len(row) for row in own])])
        with pytest.raises(InputError, match=words):
            DistributedGraph.from_local(comm, xadj, [v for row in own for v in row])

    run_threads(2, work)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("suffix", ["ecsr", "graph"])
@pytest.mark.parametrize("weighted", [False, True])
def test_ranks_read_their_rows(tmp_path, ranks, suffix, weighted):
    whole = random_graph(90, 200, 4, weighted=weighted, coords=suffix == "ecsr")
    file = tmp_path / f"x.{suffix}"
    ev.write_graph(file, whole.with_(bytes_per_vertex=7.0) if suffix == "ecsr" else whole)

    def work(comm):
        graph = ev.DistributedGraph.from_file(comm, file)
        assert graph.bytes_per_vertex == (7 if suffix == "ecsr" else 24)
        return put_together(comm, graph)

    assert run_threads(ranks, work)[-1] == expected(whole)


def test_options_of_reading_are_for_files_read_as_a_whole(tmp_path):
    ev.write_graph(tmp_path / "x.graph", random_graph(20, 40, 1))

    def work(comm):
        return ev.DistributedGraph.from_file(
            comm, tmp_path / "x.graph", bytes_per_edge=3.0
        ).bytes_per_edge

    assert run_threads(2, work) == [3.0, 3.0]


def test_bytes_are_no_reason_to_read_a_binary_file_as_a_whole(tmp_path):
    whole = random_graph(90, 200, 4)
    ev.write_graph(tmp_path / "x.ecsr", whole)
    (tmp_path / "w.txt").write_text("1\n" * 90)

    def work(comm):
        ranged = ev.DistributedGraph.from_file(comm, tmp_path / "x.ecsr", bytes_per_vertex=5)
        read = ev.DistributedGraph.from_file(comm, tmp_path / "x.ecsr", weights=tmp_path / "w.txt")
        assert ranged.bytes_per_vertex == 5.0
        return put_together(comm, ranged), ranged.notes, read.notes

    found, of_ranges, of_whole = zip(*run_threads(2, work), strict=True)
    assert found[-1] == expected(whole)
    assert of_ranges == ((), ())
    assert of_whole == (("x.ecsr was read on rank 0 as a whole, because of weights",), ())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data[:300], "cut short"),
        (lambda data: b"", "x.ecsr"),
        (lambda data: data[:2000] + b"\xff\xff\xff\x7f" + data[2004:], "but there are 90 vertices"),
    ],
)
def test_bad_files_are_refused_on_all_ranks(tmp_path, change, words):
    file = tmp_path / "x.ecsr"
    ev.write_graph(file, random_graph(90, 200, 4))
    file.write_bytes(change(file.read_bytes()))

    def work(comm):
        with pytest.raises(InputError, match=words) as error:
            ev.DistributedGraph.from_file(comm, file)
        return str(error.value)

    assert len(set(run_threads(2, work))) == 1
    file.unlink()

    def missing(comm):
        with pytest.raises(InputError, match=r"x\.ecsr"):
            ev.DistributedGraph.from_file(comm, file)

    run_threads(2, missing)


def test_the_line_of_a_text_that_rank_0_reads(tmp_path):
    file = tmp_path / "a.graph"
    file.write_text("3 2\n2\n1 3\n1\n")

    def work(comm):
        with pytest.raises(InputError, match="not the other way round") as raised:
            ev.DistributedGraph.from_file(comm, file)
        return raised.value.where, "rank" in raised.value.message

    assert run_threads(2, work) == [(f"{file}:4", False)] * 2
