"""Graphs that ranks read: of binary files each its range, of others all at rank 0."""

import pytest

import evener as ev
from evener.errors import InputError
from evener.running.comm import run_threads
from tests.sliced.rank_rows import expected, put_together, random_graph


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
    assert of_whole == (("x.ecsr was read as a whole at rank 0, for weights",), ())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data[:300], "cut short"),
        (lambda data: b"", "x.ecsr"),
        (lambda data: data[:2000] + b"\xff\xff\xff\x7f" + data[2004:], "no such one among 90"),
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
