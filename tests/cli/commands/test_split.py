"""`evener split`: the file, the figures, what is refused."""

import json

import numpy as np
import pytest

from evener.cli import main
from evener.graphs.generating.random_graphs import barabasi_albert
from evener.io.write import write_graph


@pytest.fixture
def graph(tmp_path):
    write_graph(tmp_path / "web.graph", barabasi_albert(300, 3, 1))
    return str(tmp_path / "web.graph")


def test_blocks_and_figures(graph, tmp_path, capsys):
    output = str(tmp_path / "web.plan")
    assert main(["split", graph, "--speeds", "1,3", "-o", output, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    part = np.load(output)["part"]
    assert np.bincount(part).tolist() == found["loads"]
    assert found["copies"] == sum(found["vertices"]) - 300
    assert found["smallest"] >= 0.97
    assert found["largest"] <= 1.03
    assert found["replication"] == pytest.approx(1 + found["copies"] / 300)


def test_each_arc_once_or_each_edge_once(graph, tmp_path, capsys):
    output = str(tmp_path / "web.plan")
    sizes = []
    for kind in ("graph", "arcs"):
        assert (
            main(["split", graph, "--k", "2", "--as", kind, "-o", output, "--preset", "fast"]) == 0
        )
        sizes.append(np.load(output)["part"].size)
    assert sizes[1] == 2 * sizes[0]
    assert "Every block keeps its contract" in capsys.readouterr().out


def test_entries_of_a_matrix_with_values_as_work(tmp_path, capsys):
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.random(40, 90, 0.1, random_state=1, format="csr")
    sparse.save_npz(tmp_path / "a.npz", matrix)
    words = ["split", str(tmp_path / "a.npz"), "--k", "3", "--as", "matrix", "--weighted"]
    output = str(tmp_path / "a.plan")
    assert main([*words, "--preset", "fast", "-o", output, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    loads = np.bincount(np.load(output)["part"], matrix.data)
    assert found["loads"] == pytest.approx(loads.tolist())
    assert sum(found["edges"]) == found["n_edges"] == matrix.nnz
    assert found["largest"] <= 1.03


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (["--k", "2", "--method", "spak"], 2, "did you mean spac"),
        (["--k", "2", "-o", "GRAPH"], 2, "is also an input"),
        (["--k", "2", "--epsilon", "x"], 2, "--epsilon"),
        ([], 2, "machine"),
    ],
)
def test_wrong_words_are_refused(graph, capsys, words, code, reason):
    assert main(["split", graph, *[graph if word == "GRAPH" else word for word in words]]) == code
    assert reason in capsys.readouterr().err


def test_a_list_is_divided_as_it_is_read(tmp_path, capsys):
    lines, output = tmp_path / "lines.edges", str(tmp_path / "x.plan")
    np.savetxt(lines, np.random.default_rng(1).integers(0, 50, (400, 2)), fmt="%d")
    words = ["split", str(lines), "--stream", "--speeds", "1,3", "-o", output]
    assert main([*words, "--buffer", "90", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["of"], found["method"], found["holds"]) == ("file", "stream", True)
    assert np.bincount(np.load(output)["part"]).tolist() == found["edges"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lines.edges", "x.plan"]
    for more, reason in (
        *(
            (more.split(), f"does not work with {more.split()[0]}\n")
            for more in (
                "--as arcs",
                "--weighted",
                "--preset fast",
                "--order degree",
                "--by points",
                "--weights x",
                "--coords x",
                "--constraint 1",
                "--bytes-per-vertex 9",
                "--format metis",
                "--directed",
                "--no-couplings",
                "--together x",
            )
        ),
        (["--method", "ne"], "stream"),
    ):
        assert main([*words, *more]) == 2
        assert reason in capsys.readouterr().err
    assert main(["split", str(lines), "--k", "2", "--buffer", "9"]) == 2
