"""`evener replay`: identical, or what differs and why; reads the graph as the plan says."""

import io
import json
import zipfile

import numpy as np
import pytest

from evener.io.write import write_graph
from tests.assertions import grid

SQUARE = """NDIME= 2
NELEM= 4
5 0 1 4
5 1 5 4
5 1 2 5
5 2 3 5
NPOIN= 6
0 0
1 0
2 0
3 0
1 1
2 1
NMARK= 0
"""


@pytest.fixture
def mesh_file(tmp_path):
    file = tmp_path / "mesh.su2"
    file.write_text(SQUARE)
    return file


def changed(file, edit):
    """Rewrite a plan's manifest."""
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    data = json.loads(str(np.lib.format.read_array(io.BytesIO(members["manifest.npy"]))))
    edit(data)
    content = io.BytesIO()
    np.lib.format.write_array(content, np.array(json.dumps(data)))
    members["manifest.npy"] = content.getvalue()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in members.items():
            archive.writestr(name, member)


def test_identical(evener, grid_file, tmp_path):
    evener("plan", grid_file, "--speeds", "1,2", "-o", tmp_path / "x.plan", "--seed", 11)
    said = evener("replay", tmp_path / "x.plan", grid_file)
    assert said.code == 0
    assert said.out.startswith("Identical: ")
    said = evener("replay", tmp_path / "x.plan", grid_file, "--json")
    assert json.loads(said.out) == {"identical": True, "differences": []}


def test_another_graph(evener, grid_file, tmp_path):
    evener("plan", grid_file, "--k", 2, "-o", tmp_path / "x.plan")
    grid_file.write_text(grid_file.read_text().replace("\n", " \n", 1))
    said = evener("replay", tmp_path / "x.plan", grid_file, "--json")
    assert said.code == 3
    assert json.loads(said.out)["identical"] is False
    assert "the input files differ (SHA-256)" in said.err
    smaller = tmp_path / "two.graph"
    smaller.write_text("3 2\n2\n1 3\n2\n")
    said = evener("replay", tmp_path / "x.plan", smaller)
    assert said.code == 3
    assert "120 vertices then, 3 now" in said.err


def test_another_result(evener, grid_file, tmp_path):
    evener("plan", grid_file, "--k", 2, "-o", tmp_path / "x.plan", "--with", "rcb")
    changed(tmp_path / "x.plan", lambda data: data["options"].update(tool="hilbert"))
    said = evener("replay", tmp_path / "x.plan", grid_file, "--json")
    assert said.code == 5
    assert any(
        "vertices are in another block" in why for why in json.loads(said.out)["differences"]
    )


def test_another_version(evener, grid_file, tmp_path):
    evener("plan", grid_file, "--k", 2, "-o", tmp_path / "x.plan")
    changed(tmp_path / "x.plan", lambda data: data["versions"].update(numpy="1.0"))
    said = evener("replay", tmp_path / "x.plan", grid_file)
    assert said.code == 5
    assert "numpy 1.0 then, " in said.err


@pytest.mark.parametrize("by", ["cells", "points"])
def test_reads_by_cells_or_points_as_then(evener, mesh_file, tmp_path, by):
    evener("plan", mesh_file, "--k", 2, "-o", tmp_path / "x.plan", "--by", by)
    assert len(np.load(tmp_path / "x.plan")["part"]) == {"cells": 4, "points": 6}[by]
    assert evener("replay", tmp_path / "x.plan", mesh_file).code == 0


@pytest.mark.slow
def test_finds_coordinates_and_weights_beside_the_graph(evener, grid_file, tmp_path, monkeypatch):
    (tmp_path / "w.csv").write_text("a,b\n" + "".join(f"1,{v % 3 + 1}\n" for v in range(120)))
    (tmp_path / "far.xyz").write_text("".join(f"{v % 12} {v // 12} 5\n" for v in range(120)))
    options = ["--weights", tmp_path / "w.csv:b", "--coords", tmp_path / "far.xyz"]
    words = ["--k", 3, "--with", "rcb", "-o", tmp_path / "x.plan", "--bytes-per-vertex", 100]
    made = evener("plan", grid_file, *words, *options)
    assert made.code == 0, made.err
    said = evener("replay", tmp_path / "x.plan", grid_file)
    assert said.code == 0, said.err
    # From another folder too, and by a relative name.
    monkeypatch.chdir(tmp_path)
    said = evener("replay", "x.plan", "grid.graph")
    assert said.code == 0, said.err
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("w.csv", "far.xyz"):
        (tmp_path / name).rename(elsewhere / name)
    assert evener("replay", tmp_path / "x.plan", grid_file).code == 3
    given = ["--weights", elsewhere / "w.csv:b", "--coords", elsewhere / "far.xyz"]
    assert evener("replay", tmp_path / "x.plan", grid_file, *given).code == 0


@pytest.mark.parametrize(
    "options",
    [
        {"reading": {"by": 7}},
        {"reading": {"constraint": "first"}},
        {"reading": {"debug": True}},
        {"seed": "x"},
        {"epsilon": 7},
        {"threads": 1e300},
        {"workload": "spmv"},
        {"workload": {"name": "x", "bytes_per_edge": -1}},
    ],
)
def test_odd_options_in_a_plan_are_bad_input(evener, grid_file, tmp_path, options):
    evener("plan", grid_file, "--k", 2, "-o", tmp_path / "x.plan")
    changed(tmp_path / "x.plan", lambda data: data["options"].update(options))
    said = evener("replay", tmp_path / "x.plan", grid_file)
    assert said.code == 3
    assert any(f"x.plan: {verb}" in said.err for verb in ("has an invalid", "holds", "contains"))


def test_a_plan_of_an_evener_without_workloads_is_replayed(evener, grid_file, tmp_path):
    evener("plan", grid_file, "--k", 2, "--with", "rcb", "-o", tmp_path / "x.plan")

    def age(data):
        for name in ("contention", "fixed", "overlapped", "interior"):
            del data["prediction"][name]
        del data["options"]["workload"]
        data["options"]["bytes_per_value"] = 8.0
        for stage in data["stages"]:
            del stage["seconds"]

    changed(tmp_path / "x.plan", age)
    assert evener("replay", tmp_path / "x.plan", grid_file).code == 0


def test_an_odd_option_of_an_older_plan_is_bad_input(evener, grid_file, tmp_path):
    evener("plan", grid_file, "--k", 2, "-o", tmp_path / "x.plan")
    old = {"bytes_per_value": 2**2000}
    changed(tmp_path / "x.plan", lambda data: data["options"].update(old))
    said = evener("replay", tmp_path / "x.plan", grid_file)
    assert said.code == 3
    assert "x.plan: bytes_per_value of kernel 'weights'" in said.err


def test_no_plan(evener, grid_file):
    said = evener("replay", grid_file, grid_file)
    assert said.code == 3
    assert "is not a plan file" in said.err


@pytest.fixture(scope="module")
def forgeable(tmp_path_factory):
    """A plan for a machine with links beside a rival, and its graph: the record has everything."""
    from evener.cli import main

    folder = tmp_path_factory.mktemp("forgeable")
    write_graph(folder / "g.graph", grid(10, 12).with_(coords=None))
    assert main(["machine", "tree", "--shape", "2x2", "--fast", "1",
                 "-o", str(folder / "m.toml"), "--quiet"]) == 0  # fmt: skip
    words = ["plan", str(folder / "g.graph"), "--machine", str(folder / "m.toml"), "--quiet"]
    words += ["--objective", "cut", "--with", "evener", "--versus", "metis"]
    assert main([*words, "-o", str(folder / "x.plan")]) == 0
    return folder


def leaves(value, path=()):
    """Every path to a plain value in a record."""
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in leaves(inner, (*path, key))]
    if isinstance(value, list):
        return leaves(value[0], (*path, 0)) if value else []
    return [path]


def edited(data, path):
    """Change the value at `path` a little; returns the data."""
    table = data
    for key in path[:-1]:
        table = table[key]
    old = table[path[-1]]
    if isinstance(old, bool):
        table[path[-1]] = not old
    elif isinstance(old, int | float):
        table[path[-1]] = old + 1
    elif old is None:
        table[path[-1]] = 5.0
    else:
        table[path[-1]] = f"{old}."
    return data


@pytest.mark.slow
def test_every_forged_entry_is_found(evener, forgeable, tmp_path):
    """Whatever a record says is compared with what is made anew; nothing passes."""
    said = evener("replay", forgeable / "x.plan", forgeable / "g.graph")
    assert said.code == 0, said.err
    with zipfile.ZipFile(forgeable / "x.plan") as archive:
        stored = np.lib.format.read_array(io.BytesIO(archive.read("manifest.npy")))
    paths = leaves(json.loads(str(stored)))
    told = {path[0] for path in paths}
    assert {"verdict", "certificate", "prediction", "metrics", "rival", "mapping"} <= told
    forged = tmp_path / "x.plan"
    passed = []
    for path in paths[::3]:  # all of them pass, and take a minute
        if path[0] == "platform" or path[:2] == ("options", "reading"):
            continue  # what is made anew is made for those: the plan itself is another
        forged.write_bytes((forgeable / "x.plan").read_bytes())
        changed(forged, lambda data, path=path: edited(data, path))
        if evener("replay", forged, forgeable / "g.graph").code not in (2, 3, 4, 5):
            passed.append(path)
    # The label of a rank in a list of options, or a limit of time, has no part in the result.
    assert passed == [] or {path[0] for path in passed} == {"options"}, passed


@pytest.mark.parametrize("name", ["sender", "receiver", "values"])
def test_a_forged_exchange(evener, forgeable, tmp_path, name):
    with zipfile.ZipFile(forgeable / "x.plan") as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    array = np.lib.format.read_array(io.BytesIO(members[f"{name}.npy"]))
    array[0] = 3 - array[0] if name != "values" else array[0] + 1
    content = io.BytesIO()
    np.lib.format.write_array(content, array)
    members[f"{name}.npy"] = content.getvalue()
    with zipfile.ZipFile(tmp_path / "x.plan", "w") as archive:
        for member, data in members.items():
            archive.writestr(member, data)
    said = evener("replay", tmp_path / "x.plan", forgeable / "g.graph")
    assert said.code == 5
    assert f"exchange.{name}[0] is {array[0]}" in said.err


def test_what_follows_from_the_rest_is_compared_as_it_stands(evener, forgeable, tmp_path):
    forged = tmp_path / "x.plan"
    forged.write_bytes((forgeable / "x.plan").read_bytes())
    changed(forged, lambda data: data.update(verdict="All is well.", more=1))
    said = evener("replay", forged, forgeable / "g.graph", "--json")
    assert said.code == 5
    first, second = json.loads(said.out)["differences"]
    assert first.startswith('verdict differs: "All is well." then, ')
    assert second.startswith("more differs")


def test_a_plan_of_ranks_is_refused_in_a_line(evener, forgeable, tmp_path):
    of_ranks = tmp_path / "x.plan"
    of_ranks.write_bytes((forgeable / "x.plan").read_bytes())
    changed(of_ranks, lambda data: data["options"].update(sliced={}))  # as ranks record it
    said = evener("replay", of_ranks, forgeable / "g.graph")
    assert said.code == 2
    first, hint = said.err.splitlines()
    assert first.endswith("x.plan: was made on ranks of mpiexec; replay runs in one process "
                          "and cannot repeat it")  # fmt: skip
    assert "mpiexec -n 2 evener plan" in hint
