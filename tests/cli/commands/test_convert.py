"""`evener convert`: the graph arrives, what does not is said, nothing half-written stays."""

import json

import numpy as np
import pytest

from evener.cli import main
from evener.graphs.graph import Graph
from evener.io import read_graph, write_graph
from evener.io.dataflow.reading import read_stream_graph


@pytest.fixture
def convert(capsys):
    """Run `evener convert`; returns exit code, stdout and stderr."""

    def run(*words):
        code = main(["convert", *[str(word) for word in words]])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def grid(tmp_path):
    graph = Graph.from_edges(6, [0, 1, 3, 4, 0, 1, 2], [1, 2, 4, 5, 3, 4, 5])
    graph = graph.with_(vwgt=np.arange(6), coords=np.arange(12.0).reshape(6, 2))
    write_graph(tmp_path / "grid.graph", graph)
    return tmp_path / "grid.graph"


@pytest.mark.parametrize("name", ["b.grf", "b.mtx.gz", "b.npz", "b.csv.zst", "b.metis.xz"])
def test_the_graph_arrives(convert, grid, tmp_path, name):
    code, shown, said = convert(grid, tmp_path / name)
    assert code == 0
    assert "6 vertices, 7 edges" in shown
    again = read_graph(tmp_path / name)
    assert np.array_equal(again.adjncy, read_graph(grid).adjncy)
    assert np.array_equal(again.coords, np.arange(12.0).reshape(6, 2))
    assert ("does not store vertex weights" in said) == (again.vwgt is None)


def test_json(convert, grid, tmp_path):
    code, shown, _ = convert(grid, tmp_path / "b.mtx", "--json")
    assert code == 0
    assert json.loads(shown) == {
        "file": "b.mtx",
        "format": "matrixmarket",
        "from": "metis",
        "n": 6,
        "m": 7,
        "notes": [
            "Coordinates are from grid.graph.xyz.",
            "This format does not store vertex weights.",
            "Coordinates are in b.mtx.xyz.",
        ],
    }


def test_the_format_may_be_named(convert, grid, tmp_path):
    assert convert(grid, tmp_path / "b.dat", "--to", "scotch", "--quiet") == (0, "", "")
    assert (tmp_path / "b.dat").read_bytes().startswith(b"0\n6 14\n0 001\n")


def test_the_output_is_an_option_too(convert, grid, tmp_path):
    assert convert(grid, "-o", tmp_path / "b.grf", "--quiet") == (0, "", "")
    assert read_graph(tmp_path / "b.grf").m == 7
    for words in ([grid], [grid, "a.grf", "-o", "b.grf"]):
        code, _, said = convert(*words)
        assert (code, "give OUTPUT exactly once" in said) == (2, True)


def test_onto_itself(convert, grid):
    before = grid.read_bytes()
    assert convert(grid, grid)[0] == 0
    assert grid.read_bytes() == before


@pytest.mark.parametrize(
    ("target", "code", "words"),
    [
        ("b.vtk", 2, "Evener writes no format with the suffix"),
        ("b", 2, "Evener writes no format with the suffix"),
        ("nowhere/b.graph", 3, "cannot be written"),
        (".", 3, "is a folder"),  # as for every command
    ],
)
def test_refused(convert, grid, tmp_path, target, code, words):
    before = sorted(tmp_path.iterdir())
    found, shown, said = convert(grid, tmp_path / target)
    assert (found, shown) == (code, "")
    assert words in said
    assert sorted(tmp_path.iterdir()) == before


def test_what_a_format_cannot_hold(convert, tmp_path):
    (tmp_path / "a.graph").write_text("2 1 010\n0.5 2\n1 1\n")
    code, _, said = convert(tmp_path / "a.graph", tmp_path / "b.grf")
    assert code == 3
    assert "the format stores only whole numbers, but" in said
    assert not (tmp_path / "b.grf").exists()


def test_arcs_arrive_where_the_format_has_them(convert, tmp_path):
    (tmp_path / "a.edges").write_text("0 1 2\n1 0 5\n2 1 7\n")
    code, shown, _ = convert("--directed", tmp_path / "a.edges", tmp_path / "b.mtx")
    assert code == 0
    assert "3 vertices, 3 arcs" in shown
    again = read_graph(tmp_path / "b.mtx", directed=True)
    assert (again.adjncy.tolist(), again.adjwgt.tolist()) == ([1, 0, 1], [2, 5, 7])
    code, _, said = convert("--directed", tmp_path / "a.edges", tmp_path / "b.graph")
    assert code == 2
    assert "metis stores edges without direction" in said


APP = """digraph app { a [scalar=10]; b [scalar=20, vector=4, "needs.ram"=2];
a -> b [bytes=64, tokens=1]; b -> a [bytes=1] }"""


def test_stream_graphs(convert, tmp_path):
    """From DOT to TOML to GraphML, and back to DOT when asked for it."""
    (tmp_path / "a.dot").write_text(APP)
    code, shown, _ = convert(tmp_path / "a.dot", tmp_path / "b.toml", "--json")
    assert code == 0
    assert json.loads(shown) == {
        "file": "b.toml", "format": "toml", "from": "dot", "n": 2, "m": 2, "notes": [],
    }  # fmt: skip
    code, shown, _ = convert(tmp_path / "b.toml", tmp_path / "c.graphml.gz")
    assert code == 0
    assert "c.graphml.gz: graphml, 2 filters, 2 edges" in shown
    assert convert(tmp_path / "c.graphml.gz", tmp_path / "d.dot", "--stream")[0] == 0
    graph = read_stream_graph(tmp_path / "d.dot").graph
    assert graph.needs["ram"].tolist() == [0, 2]
    assert graph.tokens.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a.dot", "b.toml", "--by", "points"], "--by does not apply to stream graphs"),
        (["a.dot", "b.npz", "--stream"], "no format for stream graphs has the suffix"),
        (["a.dot", "b.npz", "--stream", "--to", "npz"], "there is no format 'npz'"),
    ],
)
def test_what_of_stream_graphs_is_refused(convert, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.dot").write_text(APP)
    code, _, error = convert(*words)
    assert code == 2
    assert said in error


LISTS = b"4 4\n2 3\n1 3\n1 2 4\n3\n"


def test_in_pieces_as_whole(convert, tmp_path, monkeypatch):
    """With a bound of memory and without, to a file and to stdout, the same bytes."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.graph").write_bytes(LISTS)
    (tmp_path / "g.graph.xyz").write_text("0 0\n1 0\n0 1\n1 1\n")
    code, said, _ = convert("g.graph", "a.ecsr", "--memory", "64MiB", "--json")
    assert code == 0
    assert json.loads(said) == {
        "file": "a.ecsr",
        "format": "ecsr",
        "from": "metis",
        "n": 4,
        "m": 4,
        "notes": ["Coordinates are from g.graph.xyz."],
    }
    assert convert("g.graph", "b.npz")[0] == convert("b.npz", "b.ecsr")[0] == 0
    assert (tmp_path / "a.ecsr").read_bytes() == (tmp_path / "b.ecsr").read_bytes()
    assert convert("g.graph", "c.ecsr.gz", "--constraint", "0")[0] == 0
    assert convert("c.ecsr.gz", "c.ecsr", "--coords", "g.graph.xyz")[0] == 0
    assert (tmp_path / "a.ecsr").read_bytes() == (tmp_path / "c.ecsr").read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("g.graph o.npz --memory 1GiB", "--memory works with the format ecsr only, not npz"),
        ("g.graph o.ecsr --memory 1KiB", "--memory must be at least 64MiB"),
        ("g.graph o.ecsr --memory much", "'much' is not a size"),
        ("g.graph o.ecsr.gz --memory 1GiB", "--memory does not work with a compressed OUTPUT"),
        ("g.csv o.ecsr --memory 1GiB", "cannot be read in pieces: its ver"),
        ("- o.ecsr --memory 1GiB", "standard input can be read only once"),
    ],
)
def test_bounds_that_cannot_be_kept(convert, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.graph").write_bytes(LISTS)
    (tmp_path / "g.csv").write_text("ann,bob\nbob,cid\n")
    code, _, error = convert(*words.split())
    assert code == 2
    assert said in error
    assert not list(tmp_path.glob("o.*"))
