"""`evener generate`: files by suffix that read back, the JSON object, what is refused."""

import hashlib
import json
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from evener.cli import main
from evener.cli.commands.generate import families
from evener.graphs.generating.families import GENERATORS
from evener.graphs.generating.random_graphs import rmat
from evener.io.dataflow.reading import read_stream_graph
from evener.io.machines.platforms import read_platform
from evener.io.machines.speeds import read_speeds
from evener.io.read import read
from evener.platforms.models.examples import emulated_speeds
from evener.streams.generating import READINGS, GraphParameters, random_machine, random_stream_graph
from tests.choosing import slow_but


@pytest.fixture
def generate(capsys, tmp_path, monkeypatch):
    """Run `evener generate` in an empty folder; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        code = main(["generate", *[str(word) for word in words]])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


GIVEN = {
    "delaunay": "--n 90",
    "graded-delaunay": "--n 90",
    "refined-delaunay": "--n 90 --time 0.25",
    "rgg": "--n 90 --dim 3 --degree 7.5",
    "trace-dual": "--n 60",
    "bubbles-dual": "--n 60",
    "airways": "--n 500",
    "triangle-dual": "--n 60",
    "tetrahedron-dual": "--n 30",
    "triangles": "--n 60",
    "tetrahedra": "--n 30",
    "grid": "--shape 4x5x6",
    "rmat": "--scale 6 --edge-factor 4 --a 0.5",
    "uniform": "--scale 6 --edge-factor 3",
    "barabasi-albert": "--n 50 --degree 2",
    "airfoil": "--n-triangles 4000 --camber 0 --thickness 0.15",
}


@pytest.mark.parametrize("family", GENERATORS)
@pytest.mark.parametrize("suffix", ["graph", "npz", "graph.gz"])
def test_every_family_is_written_and_reads_back(family, suffix, generate):
    file = f"made.{suffix}"
    code, shown, _ = generate(family, *GIVEN[family].split(), "-o", file, "--json")
    assert code == 0
    said = json.loads(shown)
    assert (said["written"], said["family"]) == (file, family)
    graph = read(file).graph
    assert (graph.n, graph.m) == (said["vertices"], said["edges"])
    assert (graph.coords is None) == (family in ("rmat", "uniform", "barabasi-albert"))


@pytest.mark.parametrize("family", [name for name, f in GENERATORS.items() if f.returns == "mesh"])
@pytest.mark.parametrize("suffix", slow_but(["su2", "vtu"]))
def test_meshes_are_written_as_meshes(family, suffix, generate, meshio_here):
    file = f"made.{suffix}"
    code, shown, said = generate(family, *GIVEN[family].split(), "-o", file)
    assert (code, said) == (0, "")
    found = read(file)
    cells, points = found.mesh.n_cells, found.mesh.n_points
    assert shown == f"Written: {file}: {cells:,} cells, {points:,} points\n"
    assert generate(family, *GIVEN[family].split(), "-o", "made.npz")[0] == 0
    assert np.array_equal(read("made.npz").graph.adjncy, found.graph.adjncy)


def test_coordinates_lie_beside_and_are_found(generate):
    code, shown, said = generate("delaunay", "--n", 50, "-o", "d.graph")
    assert (code, said) == (0, "note: Coordinates are in d.graph.xyz.\n")
    assert shown == "Written: d.graph: 50 vertices, 136 edges\n"
    assert generate("delaunay", "--n", 50, "-o", "d.npz")[2] == ""
    assert np.array_equal(read("d.graph").graph.coords, read("d.npz").graph.coords)


def test_parameters_reach_the_generator(generate):
    generate("rmat", "--scale", 7, "--edge-factor", 3, "--b", 0.1, "--seed", 12, "-o", "r.npz")
    expected = rmat(7, 12, 3, b=0.1)
    assert np.array_equal(read("r.npz").graph.adjncy, expected.adjncy)


@pytest.mark.parametrize("suffix", ["su2", "vtu", "npz", "graph"])
def test_same_seed_same_file(suffix, generate):
    def digest(seed):
        generate("triangles", "--n", 200, "--seed", seed, "-o", f"t.{suffix}", "--quiet")
        with open(f"t.{suffix}", "rb") as file:  # noqa: PTH123
            return hashlib.sha256(file.read()).hexdigest()

    assert digest(5) == digest(5)
    assert digest(5) != digest(6)


def test_json_says_what_was_asked(generate):
    _, shown, said = generate("grid", "--shape", "3x4", "-o", "g.npz", "--json")
    assert said == ""
    assert json.loads(shown) == {
        "written": "g.npz",
        "family": "grid",
        "shape": [3, 4],
        "vertices": 12,
        "edges": 17,
        "notes": [],
    }


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("nope -o a.graph", 2, "there is no family 'nope'\nFamilies: delaunay, "),
        ("delaunay -o a.graph", 2, "delaunay needs --n\n--n: number of points."),
        ("delaunay --n 9", 2, "required: -o/--output"),
        ("delaunay --n 0 -o a.graph", 2, "n must be at least 3, not 0"),
        ("delaunay --n -4 -o a.graph", 2, "n must be at least 3, not -4"),
        ("delaunay --n 1e3 -o a.graph", 2, "--n must be a whole number, not '1e3'"),
        ("delaunay --n 2147483648 -o a.graph", 2, "n must be at most 2,147,483,647"),
        ("delaunay --n 9 --degree 3 -o a.graph", 2, "delaunay has no --degree\nIt has --n, --dim."),
        ("rgg --n 9 --degree x -o a.graph", 2, "--degree must be a number, not 'x'"),
        ("rgg --n 9 --degree nan -o a.graph", 2, "degree must lie from 0 to 1000, not nan"),
        ("grid --shape 3x -o a.graph", 2, "--shape must be a shape such as 100x200, not '3x'"),
        ("grid --shape 3x0 -o a.graph", 2, "a side of shape must be at least 1, not 0"),
        ("rmat --scale 31 -o a.graph", 2, "scale must lie from 0 to 30, not 31"),
        ("rmat --scale 5 --seed -1 -o a.graph", 2, "'-1' is not a seed: a whole number from 0"),
        (
            "rmat --scale 5 -o a.su2",
            2,
            "a.su2 would be a mesh file, but this family generates a graph",
        ),
        ("rmat --scale 5 -o a.foo", 2, "Use one of .npz, .ecsr, .mtx, .grf, .graph, .csv."),
        ("airfoil -o a.foo", 2, ".csv, .su2, .vtu."),
        ("airfoil -o no/a.su2", 3, "no/a.su2: cannot be written: folder no does not exist"),
        ("airfoil -o .", 3, ".: is a folder; a file name is needed"),
    ],
)
def test_refuses_before_anything_is_written(words, code, message, generate, tmp_path):
    found, shown, said = generate(*words.split())
    assert (found, shown) == (code, "")
    assert message in said
    assert said.startswith("evener: ")
    assert said.count("\n") <= 3
    assert list(tmp_path.iterdir()) == []


def test_more_than_the_memory_is_refused(generate, monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=8e9))
    code, _, said = generate("delaunay", "--n", 2**31 - 1, "-o", "a.graph")
    assert code == 2
    assert "2,147,483,647 points need about 1,718.0 GB of memory to make" in said


def test_speeds_of_emulated_devices(generate, tmp_path):
    given = ["speeds", "--curves", "cluster2", "--points", "7", "--noise", "0.1"]
    code, shown, _ = generate(*given, "-o", "s.toml", "--json")
    assert code == 0
    assert (json.loads(shown)["devices"], json.loads(shown)["samples"]) == (4, 28)
    assert read_speeds("s.toml") == emulated_speeds("cluster2", 7, 0.1)
    for words, match in (("-o s.graph", "ends in .toml"), ("-o s.toml --n 5", "has no --n")):
        code, _, said = generate(*given, *words.split())
        assert (code, match in said) == (2, True)
    assert generate("speeds", "--curves", "none", "-o", "s.toml")[0] == 2


def test_stream_graphs_and_the_machines_they_are_for(generate):
    code, shown, _ = generate("stream-machine", "--k", 32, "--setting", "B", "-o", "m.toml")
    assert (code, shown) == (0, "Written: m.toml: 32 devices, 52 links\n")
    machine = read_platform("m.toml")
    assert machine == random_machine(32, "B", 7)
    words = "stream-graph --n 60 --machine m.toml --degree 2 --ccr 0.01 --alpha 2 --beta 25"
    words = [*words.split(), "--gamma", 5, "--reading", "literal", "--seed", 3]
    code, shown, _ = generate(*words, "-o", "app.toml", "--json")
    given = GraphParameters(60, 2, 0.01, 2.0, 25, 5)
    wanted = random_stream_graph(given, machine, 3, READINGS["B"])
    said, found = json.loads(shown), read_stream_graph("app.toml").graph
    assert (code, said["filters"], said["edges"]) == (0, 60, wanted.m)
    for key in ("scalar", "vector", "tails", "heads", "nbytes"):
        assert np.array_equal(getattr(found, key), getattr(wanted, key))


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("stream-graph --n 9 -o a.toml", 2, "stream-graph needs --machine"),
        ("stream-graph --n 9 --machine no.toml -o a.toml", 3, "no.toml"),
        ("stream-graph --n 9 --machine no.toml -o a.graph", 2, "a stream graph file ends in .toml"),
        ("stream-graph --n 1 --machine no.toml -o a.toml", 2, "n must be at least 2"),
        ("stream-graph --n 9 --beta 101 --machine m -o a.toml", 2, "the share (beta) must lie"),
        ("stream-graph --n 9 --alpha 0 --machine m -o a.toml", 2, "the shape (alpha) must lie"),
        ("stream-graph --n 9 --reading x --machine m -o a.toml", 2, "unknown reading 'x'"),
        ("stream-machine --k 0 -o a.toml", 2, "k must lie from 1 to 16384, not 0"),
        ("stream-machine --k 4 --setting C -o a.toml", 2, "there is no setting 'C'"),
        (
            "stream-machine --k 4 --seed -1 -o a.toml",
            2,
            "'-1' is not a seed: a whole number from 0",
        ),
    ],
)
def test_stream_graphs_that_cannot_be(words, code, message, generate, tmp_path):
    found, _, said = generate(*words.split())
    assert (found, message in said, list(tmp_path.iterdir())) == (code, True, [])


def test_help_lists_all_families(capsys):
    assert main(["generate", "--help"]) == 0
    shown = capsys.readouterr().out
    for name, family in families().items():
        assert f"{name} " in shown
        assert family.purpose in shown


def test_arcs_are_generated_and_written_where_the_format_has_them(generate):
    words = ("rmat", "--scale", "6", "--directed", "-o")
    code, shown, _ = generate(*words, "made.npz", "--json")
    said = json.loads(shown)
    assert (code, said["directed"]) == (0, True)
    assert read("made.npz", directed=True).graph.m == said["arcs"]
    code, _, error = generate(*words, "made.graph")
    assert code == 2
    assert "metis stores edges without direction" in error
