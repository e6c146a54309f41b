"""`evener fits`: yes or no, on which devices not, and by how much."""

import json

import numpy as np
import pytest

from evener.graphs.generating.random_graphs import barabasi_albert
from evener.io import write_graph
from evener.sizing.memory_capped import target_sizes

GRID_BYTES = 120 * 24 + 2 * (10 * 11 + 9 * 12) * 12


def machine(tmp_path, *rows):
    file = tmp_path / "m.toml"
    file.write_text("\n".join(f"[[device]]\n{row}\n" for row in rows))
    return file


def test_it_fits(evener, grid_file, tmp_path):
    file = machine(tmp_path, 'name = "gpu"\nspeed = 8.0\nmemory_units = 40',
                   'name = "cpu"\nspeed = 1.0')  # fmt: skip
    said = evener("fits", grid_file, "--machine", file, "--json")
    assert said.code == 0
    found = json.loads(said.out)
    assert found["fits"] is True
    assert found["vertices"] == 120
    assert found["needed_bytes"] == GRID_BYTES
    assert found["memory_bytes"] is None
    gpu, cpu = found["devices"]
    assert gpu["by_speed"] == pytest.approx(120 * 8 / 9)
    assert sum(device["by_speed"] for device in found["devices"]) == pytest.approx(120)
    assert (gpu["capacity"], cpu["capacity"]) == (40, None)
    assert gpu["short"] == pytest.approx(120 * 8 / 9 - 40)
    assert gpu["short_bytes"] == pytest.approx(gpu["short"] * GRID_BYTES / 120)
    assert (cpu["short"], cpu["short_bytes"]) == (0, 0)
    assert (gpu["target"], cpu["target"]) == (40, 80)
    assert (gpu["saturated"], cpu["saturated"]) == (True, False)
    assert found["seconds"] == 80


def test_memory_in_bytes_holds_whole_vertices(evener, grid_file, tmp_path):
    file = machine(tmp_path, 'name = "gpu"\nspeed = 8.0\nmemory_GiB = 1e-6',
                   'name = "cpu"\nspeed = 1.0\nmemory_GiB = 1')  # fmt: skip
    found = json.loads(evener("fits", grid_file, "--machine", file, "--json").out)
    assert found["devices"][0]["capacity"] == 2**30 * 1e-6 // (GRID_BYTES / 120)
    assert found["memory_bytes"] == pytest.approx(2**30 * (1 + 1e-6))
    targets = target_sizes([8, 1], 120, memory_units=[13, 120]).targets
    if found["devices"][0]["capacity"] == 13:
        assert [device["target"] for device in found["devices"]] == targets.tolist()


def test_it_does_not_fit(evener, grid_file, small_machine):
    said = evener("fits", grid_file, "--machine", small_machine, "--json")
    assert said.code == 4
    found = json.loads(said.out)
    assert found["fits"] is False
    assert "20 units short" in found["reason"]
    assert "20 units short" in said.err
    assert [device["capacity"] for device in found["devices"]] == [50, 50]
    assert [device["short"] for device in found["devices"]] == pytest.approx([0, 30])


def test_for_people(evener, grid_file, small_machine):
    said = evener("fits", grid_file, "--machine", small_machine)
    assert said.code == 4
    assert said.out.splitlines()[1].split() == ["d1", "80", "50", "30", "1.98", "KiB"]
    said = evener("fits", grid_file, "--k", 3)
    assert said.code == 0
    assert said.out.startswith("It fits: 120 vertices, ")


def test_a_vertex_too_heavy_for_any_device(evener, grid_file, tmp_path):
    (tmp_path / "w.txt").write_text("1\n" * 7 + "1000\n" + "1\n" * 112)
    weights = ("--weights", tmp_path / "w.txt")
    assert evener("fits", grid_file, "--k", 2, *weights).code == 0  # it has a block of its own
    file = machine(tmp_path, 'name = "s"\ncount = 3\nspeed = 1.0\nhigh_units = 600')
    said = evener("fits", grid_file, "--machine", file, *weights, "--json")
    assert said.code == 4
    assert json.loads(said.out)["fits"] is False
    assert "vertex 7 weighs 1,000 units, more than any block may hold" in said.err


def test_many_devices_short_are_summarised(evener, grid_file, tmp_path):
    file = machine(tmp_path, 'name = "s"\ncount = 12\nspeed = 1.0\nmemory_units = 5',
                   'name = "big"\nspeed = 1.0')  # fmt: skip
    said = evener("fits", grid_file, "--machine", file)
    assert said.code == 0
    assert "... and 4 more" in said.out


def test_weights_count(evener, grid_file, tmp_path):
    np.savetxt(tmp_path / "w.txt", np.full(120, 0.25))
    said = evener("fits", grid_file, "--k", 2, "--weights", tmp_path / "w.txt", "--json")
    found = json.loads(said.out)
    assert [device["target"] for device in found["devices"]] == [15, 15]


@pytest.mark.parametrize("epsilon", ["-0.1", "1", "nan"])
def test_refused_as_usage(evener, grid_file, epsilon):
    assert evener("fits", grid_file, "--k", 2, "--epsilon", epsilon).code == 2


MEMORIES = (
    'name = "cpu"\nspeed = 1.0\nmemory_GiB = {0}',
    'name = "gpu"\nkind = "cuda"\ncount = 2\nspeed = 4.0\nmemory_GiB = {1}',
)


def app_machine(tmp_path, cpu, gpu):
    return machine(tmp_path, *(row.format(cpu, gpu) for row in MEMORIES))


def test_a_program_fits_a_plan_made_with_the_bytes_that_are_said(evener, tmp_path):
    write_graph(tmp_path / "g.graph", barabasi_albert(4000, 8, 3))
    file = app_machine(tmp_path, 0.001, 0.00018)
    graph = tmp_path / "g.graph"
    said = evener("fits", graph, "--machine", file, "--app", "pagerank", "--json")
    assert said.code == 0
    found = json.loads(said.out)
    assert found["fits"] is True
    gpu = found["devices"][1]
    assert gpu["total"] == gpu["graph"] + gpu["arrays"] + gpu["halo"] <= gpu["memory_bytes"]
    assert found["needed_bytes"] == sum(device["total"] for device in found["devices"])
    assert [one["kind"] for one in found["least"]] == ["cpu", "cuda"]
    assert found["least"][0]["devices"] == 1
    assert found["least"][1]["devices"] >= 2
    per = [f"--bytes-per-{one}={found[f'bytes_per_{one}']}" for one in ("vertex", "edge")]
    plan = tmp_path / "g.plan"
    assert evener("plan", graph, "--machine", file, *per, "-o", plan).code == 0
    assert evener("run", plan, graph, "--app", "pagerank").code in (0, 4)  # another preset


def test_a_program_that_does_not_fit_is_refused_by_fits_and_by_run(evener, tmp_path):
    graph, file = tmp_path / "g.graph", app_machine(tmp_path, 0.0001, 0.00003)
    write_graph(graph, barabasi_albert(4000, 8, 3))
    said = evener("fits", graph, "--machine", file, "--app", "bfs", "--json")
    assert said.code == 4
    found = json.loads(said.out)
    assert found["fits"] is False
    assert "too little" in said.err
    gpu = found["devices"][1]
    assert gpu["short_bytes"] == gpu["total"] - gpu["memory_bytes"] > 0
    plan = tmp_path / "g.plan"
    per = ["--bytes-per-vertex", "1", "--bytes-per-edge", "0"]
    assert evener("plan", graph, "--machine", file, *per, "-o", plan).code == 0
    said = evener("run", plan, graph, "--app", "bfs")
    assert said.code == 4
    assert "too little" in said.err
    assert said.out == ""


def test_devices_need_not_be_here(evener, grid_file):
    words = ["fits", grid_file, "--k", "3", "--app", "bfs", "--json", "--devices"]
    found = json.loads(evener(*words, "cpu:900-901,cpu:900,cuda:77").out)["devices"]
    assert len(found) == 3


def test_more_cores_need_more_buffers(evener, tmp_path, grid_file, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2})
    words = ["fits", grid_file, "--k", "2", "--app", "bfs", "--json", "--devices"]
    one, two = (
        json.loads(evener(*words, cores).out)["devices"]
        for cores in ("cpu:0,cpu:1", "cpu:0-1,cpu:2")
    )
    assert two[0]["arrays"] > one[0]["arrays"]
    assert two[1] == one[1]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--devices", "cpu:0"], "--devices works with --app"),
        (["--app", "bsf"], "did you mean bfs?"),
        (["--app", "bfs", "--program", "x.py"], "either --app or --program"),
        (
            ["--app", "bfs", "--devices", "cpu:0"],
            "--devices names 1 devices, but the machine has 2",
        ),
    ],
)
def test_wrong_words_about_programs(evener, grid_file, words, reason):
    said = evener("fits", grid_file, "--k", "2", *words)
    assert said.code == 2
    assert reason in said.err
