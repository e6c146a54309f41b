"""`evener info`: the facts, the oddities, the JSON object, and what is refused."""

import json

import numpy as np
import pytest

from evener.cli import main
from evener.graphs.graph import Graph
from evener.io import write_graph


@pytest.fixture
def info(capsys):
    """Run `evener info`; returns exit code, stdout and stderr."""

    def run(*words):
        code = main(["info", *[str(word) for word in words]])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def tail(tmp_path):
    """A triangle 1-2-3 with a tail 3-4, weights and coordinates, and a vertex by itself."""
    path = tmp_path / "tail.graph"
    path.write_text("5 4 11\n7 2 1 3 5\n8 1 1 3 1\n9 1 5 2 1 4 2\n0 3 2\n1\n")
    (tmp_path / "tail.graph.xyz").write_text("0 0\n1 0\n0.5 1\n0.5 2\n0.5 2\n")
    return path


def test_json(info, tail):
    code, shown, _ = info(tail, "--json")
    assert code == 0
    facts = json.loads(shown)
    assert facts["format"] == "metis"
    assert (facts["n"], facts["m"]) == (5, 4)
    assert facts["degree"] == {"min": 0, "mean": 1.6, "max": 3}
    assert (facts["components"], facts["largest_component"]) == (2, 4)
    assert facts["bandwidth"] == 2
    assert facts["vertex_weights"] == [{"min": 0, "mean": 5.0, "max": 9, "total": 25}]
    assert facts["edge_weights"] == {"min": 1, "mean": 2.25, "max": 5}
    assert facts["coordinates"] == {"dimensions": 2, "min": [0, 0], "max": [1, 2]}
    assert facts["bytes"] == 5 * 24 + 8 * 12
    assert facts["mesh"] is None
    assert facts["odd"] == [
        "1 vertex has no neighbour",
        "1 vertex has the coordinates of another vertex",
    ]
    assert facts["notes"] == ["Coordinates are from tail.graph.xyz."]
    assert sorted(facts["inputs"]) == ["tail.graph", "tail.graph.xyz"]


def test_text(info, tail):
    code, shown, said = info(tail)
    assert code == 0
    lines = shown.splitlines()
    assert lines[0] == f"{tail}: metis"
    facts = {line[2:17].strip(): line[17:] for line in lines[1:]}
    assert facts["vertices"] == "5"
    assert facts["degree"] == "0 to 3, mean 1.60"
    assert facts["components"] == "2, the largest of 4 vertices"
    assert facts["vertex weight"] == "0 to 9, mean 5.00, total 25"
    assert facts["edge weight"] == "1 to 5, mean 2.25"
    assert facts["coordinates"] == "[0, 1] x [0, 2]"
    assert shown.count("odd ") == 2
    assert said == "note: Coordinates are from tail.graph.xyz.\n"


def test_quiet(info, tail):
    assert info(tail, "--quiet") == (0, "", "")


def test_bandwidth_beside_the_definition(info, tmp_path):
    rng = np.random.default_rng(19)
    u, v = rng.integers(0, 200, (2, 300))
    write_graph(tmp_path / "g.graph", Graph.from_edges(200, u, v))
    facts = json.loads(info(tmp_path / "g.graph", "--json")[1])
    assert facts["bandwidth"] == np.abs(u - v).max()


def test_several_weights(info, tmp_path):
    path = tmp_path / "g.graph"
    path.write_text("2 1 010 2\n1 0 2\n3 0 1\n")
    facts = json.loads(info(path, "--json")[1])
    assert [weight["total"] for weight in facts["vertex_weights"]] == [4, 0]
    assert facts["odd"] == ["vertex weight 1 is zero everywhere"]
    assert "3 each" not in info(path, "--constraint", 0)[1]


def test_oddities(info, tmp_path):
    """A star beside a pair, one heavy vertex, all on a line."""
    n = 2000
    u = np.concatenate((np.zeros(n - 3, int), [n - 2]))
    v = np.concatenate((np.arange(1, n - 2), [n - 1]))
    weights = np.ones(n, int)
    weights[5] = 500
    coords = np.column_stack((np.arange(n), np.full(n, 7.0)))
    write_graph(tmp_path / "g.npz", Graph.from_edges(n, u, v, vwgt=weights, coords=coords))
    odd = json.loads(info(tmp_path / "g.npz", "--json")[1])["odd"]
    assert odd == [
        "the graph has 2 components",
        "one vertex has 1,997 neighbours, the mean is 2.0",
        "the vertex weight of a single vertex is 20.0 % of the total",
        "all vertices have the same y",
    ]


def test_a_mesh(info, tmp_path):
    path = tmp_path / "m.su2"
    path.write_text(
        "NDIME= 2\nNELEM= 2\n5 0 1 2 0\n5 1 3 2 1\nNPOIN= 4\n0 0 0\n1 0 1\n0 1 2\n1 1 3\nNMARK= 0\n"
    )
    facts = json.loads(info(path, "--json")[1])
    assert (facts["n"], facts["m"]) == (2, 1)
    assert facts["mesh"]["cell_types"] == {"triangles": 2}
    assert (facts["mesh"]["points"], facts["mesh"]["dimension"]) == (4, 2)
    assert "2 triangles, 2-D" in info(path)[1]
    shown = info(path, "--by", "points")[1]
    assert "4, the mesh's points" in shown


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (
            ["nowhere.graph"],
            3,
            "evener: nowhere.graph: cannot be read: No such file or directory\n",
        ),
        ([], 2, "required"),
        (["--bytes-per-vertex", "x", "a"], 2, "is not a number"),
    ],
)
def test_refused(info, words, code, said):
    found, shown, error = info(*words)
    assert (found, shown) == (code, "")
    assert said in error


def test_refused_with_its_line(info, tmp_path):
    path = tmp_path / "bad.graph"
    path.write_text("3 2\n2\n1 9\n2\n")
    code, shown, said = info(path, "--json")
    assert (code, shown) == (3, "")
    assert said.splitlines() == [
        f"evener: {path}:3: 9 is out of range: vertices are numbered 1 to 3",
        "Read as metis because of its suffix .graph; --format NAME overrides it.",
    ]


@pytest.mark.parametrize("value", ["-1", "nan", "inf"])
def test_a_cost_that_is_none(info, tail, value):
    code, _, said = info(tail, f"--bytes-per-vertex={value}")
    assert code in (2, 3)
    assert "bytes_per_vertex" in said


def test_directed(info, tmp_path):
    (tmp_path / "a.edges").write_text("0 1\n1 0\n0 2\n3 2\n")
    code, shown, _ = info(tmp_path / "a.edges", "--directed")
    assert code == 0
    assert "arcs           4, 2 of them with a reverse arc" in shown
    assert "out-degree     0 to 2, mean 1.00" in shown
    assert "in-degree      0 to 2, mean 1.00" in shown
    facts = json.loads(info(tmp_path / "a.edges", "--directed", "--json")[1])
    assert (facts["directed"], facts["m"], facts["both_ways"]) == (True, 4, 2)
    assert facts["components"] == 1
    assert "directed" not in json.loads(info(tmp_path / "a.edges", "--json")[1])
