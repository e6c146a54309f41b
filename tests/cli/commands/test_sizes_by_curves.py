"""`evener sizes --speeds FILE`: the table, the JSON object, and what is refused."""

import json

import pytest

CURVES = """
[[device]]
name = "gpu"
samples = [[10, 1.0], [100, 1.5], [400, 3.0]]
capacity = 450
[[device]]
name = "cpu"
samples = [[10, 0.2], [100, 2.2], [400, 12.0]]
[[device]]
name = "old"
samples = [[10, 20.0]]
model = "constant"
"""

MACHINE = """
[[level]]
name = "site"
[[level]]
name = "node"
[[level]]
name = "device"
[[device]]
name = "gpu0"
speed = 1
at = "a/x"
[[device]]
name = "gpu1"
speed = 1
at = "a/x"
memory_GiB = 0.000001
[[device]]
name = "cpu"
speed = 1
at = "a/y"
[[device]]
name = "old"
speed = 1
at = "b/x"
"""


@pytest.fixture
def curves(tmp_path):
    file = tmp_path / "speeds.toml"
    file.write_text(CURVES)
    return file


@pytest.mark.parametrize("method", ["auto", "exact", "constant", "gpa", "npa"])
def test_json(evener, curves, method):
    said = evener("sizes", "--speeds", curves, "--n", 500, "--method", method, "--json")
    assert said.code == 0
    found = json.loads(said.out)
    assert found["devices"] == ["gpu", "cpu", "old"]
    assert all(isinstance(size, int) for size in found["sizes"])
    assert sum(found["sizes"]) == 500
    assert found["makespan"] == max(found["seconds"])
    assert found["method"] == ("exact" if method == "auto" else method)
    assert found["converged"]
    if method in ("auto", "exact"):
        assert found["makespan"] == found["bound"]


def test_table(evener, curves):
    said = evener("sizes", "--speeds", curves, "--n", 500)
    lines = [line.split() for line in said.out.splitlines()]
    assert lines[0] == ["device", "size", "speed", "capacity", "time"]
    assert [line[0] for line in lines[1:4]] == ["gpu", "cpu", "old"]
    assert "500 units on 3 devices: all done after" in said.out
    said = evener("sizes", "--speeds", curves, "--n", 3)
    assert "3 units on 1 device, 2 get nothing" in said.out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--n", 500, "--method", "best"], 2, "There are: auto, constant"),
        (["--n", 500, "--k", 3], 2, "--k does not work with"),
        (["--n", 500, "--edges", 3], 2, "capacities"),
        (["--n", 0], 2, "--n must be above zero"),
        (["--n", "1e18"], 2, "is above 2^53"),
        (["--n", "nan"], 2, "is not a whole number"),
        ([], 2, "give the load by either --n N or --graph FILE"),
    ],
)
def test_refused_as_usage(evener, curves, words, code, message):
    said = evener("sizes", "--speeds", curves, *words)
    assert (said.code, said.out) == (code, "")
    assert message in said.err


def test_loads_that_nobody_measured_are_named(evener, curves):
    said = evener("sizes", "--speeds", curves, "--n", 500)
    assert "outside the measured range" not in said.out
    notes = json.loads(evener("sizes", "--speeds", curves, "--n", 10**12, "--json").out)["notes"]
    assert any("cpu gets" in note and "measured from 10 to 400" in note for note in notes)


def test_limits(evener, curves):
    words = ["sizes", "--speeds", curves, "--n", 500, "--json"]
    found = json.loads(evener(*words, "--low", "0,200,0", "--high", 299).out)
    assert found["sizes"] == [299, 200, 1]
    said = evener(*words, "--high", 100)
    assert said.code == 4
    assert "200 units short" in said.err
    for wrong in ("1.5", "1,2", "-3", "many"):
        said = evener(*words, f"--low={wrong}")
        assert said.code == 2
        assert "--low takes" in said.err


def test_too_little_room(evener, curves):
    text = curves.read_text().replace('"cpu"', '"cpu"\ncapacity = 20').replace(
        '"old"', '"old"\ncapacity = 7.5'
    )  # fmt: skip
    curves.write_text(text)
    said = evener("sizes", "--speeds", curves, "--n", 500)
    assert said.code == 4
    assert "23 units short: all devices together hold 477 units, but the load is 500" in said.err


def test_a_missing_file_and_a_method_without_curves(evener, tmp_path):
    said = evener("sizes", "--speeds", tmp_path / "none.toml", "--n", 5)
    assert said.code == 3
    said = evener("sizes", "--speeds", "1,2", "--n", 5, "--method", "exact")
    assert said.code == 2
    assert "--method works only with --speeds FILE" in said.err


def test_what_taking_part_costs(evener, curves):
    words = ["sizes", "--speeds", curves, "--n", 500, "--explain"]
    said = evener(*words, "--fixed-seconds", "0,0,3")
    assert "its fixed time alone is 3.00 s; the others finish after 2.92 s" in said.out
    assert "2 of 3 devices are worth using" in said.out
    found = json.loads(evener(*words, "--shared-seconds", "0,0,3", "--json").out)
    assert found["sizes"][2] == 0
    assert found["reasons"][2] == "not worth the 3.00 s that it costs all others"
    assert 0.3 < found["gain"] < 0.6
    assert evener(*words, "--shared-seconds", 0.1).code == 0
    # With a unit for each all are in use, and all wait 0.5 + 2 s beyond the 2.92 s.
    said = evener(*words, "--low", 1, "--shared-seconds", "0.5,0,2")
    assert "With the time that devices cost all others: 5.42 s an iteration" in said.out


@pytest.mark.parametrize("seconds", ["-1", "1,2", "soon", "nan"])
def test_costs_that_are_none(evener, curves, seconds):
    said = evener("sizes", "--speeds", curves, "--n", 5, f"--fixed-seconds={seconds}")
    assert (said.code, said.out) == (2, "")
    assert "--fixed-seconds takes" in said.err


def test_curves_on_a_machine(evener, curves, tmp_path):
    machine = tmp_path / "m.toml"
    machine.write_text(MACHINE)
    words = ["sizes", "--speeds", curves, "--machine", machine, "--n", "5e2"]
    found = json.loads(evener(*words, "--json").out)
    assert found["devices"] == ["gpu0", "gpu1", "cpu", "old"]
    # 1e-6 GiB hold 44 vertices of 24 bytes.
    assert (sum(found["sizes"]), found["sizes"][1]) == (500, 44)
    assert "full: at its capacity" in evener(*words, "--explain").out
    assert json.loads(evener(*words, "--bytes-per-vertex", 12, "--json").out)["sizes"][1] == 89


def test_level_by_level(evener, curves, tmp_path):
    machine = tmp_path / "m.toml"
    machine.write_text(MACHINE)
    words = ["sizes", "--speeds", curves, "--machine", machine, "--n", 500, "--hierarchical"]
    found = json.loads(evener(*words, "--json").out)
    sizes = dict(zip(found["devices"], found["sizes"], strict=True))
    assert [(place["name"], place["size"]) for place in found["places"]] == [
        ("a", sizes["gpu0"] + sizes["gpu1"] + sizes["cpu"]),
        ("a/x", sizes["gpu0"] + sizes["gpu1"]),
        ("a/y", sizes["cpu"]),
        ("b", sizes["old"]),
        ("b/x", sizes["old"]),
    ]
    assert sum(found["sizes"]) == 500
    assert found["at_once_makespan"] <= found["makespan"] <= 1.06 * found["at_once_makespan"]
    said = evener(*words).out
    assert "level by level: all done after" in said
    assert evener("sizes", "--speeds", curves, "--n", 5, "--hierarchical").code == 2
    assert evener(*words, "--explain").code == 2


def test_fixed_seconds_of_the_file_and_flat_curves(evener, curves):
    curves.write_text(CURVES.replace('name = "old"', 'name = "old"\nfixed_seconds = 3'))
    said = evener("sizes", "--speeds", curves, "--n", 500, "--explain")
    assert "its fixed time alone is 3.00 s" in said.out
    assert evener("sizes", "--speeds", curves, "--n", 9, "--fixed-seconds", 0).code == 0
    flat = [f'[[device]]\nname = "d{i}"\nsamples = [[10, {i + 1}.0]]\n' for i in range(2)]
    curves.write_text("".join(flat))
    found = json.loads(evener("sizes", "--speeds", curves, "--n", 30, "--json").out)
    assert (found["sizes"], found["method"]) == ([20, 10], "constant")
    assert found["notes"][0] == "auto: every speed is constant"
    assert found["bound"] == found["makespan"]


def test_a_matrix_over_nodes(evener, curves, tmp_path):
    machine = tmp_path / "m.toml"
    machine.write_text(MACHINE)
    words = ["sizes", "--speeds", curves, "--machine", machine, "--hierarchical", "--matrix", 320]
    found = json.loads(evener(*words, "--block", 16, "--json").out)
    assert found["devices"] == ["gpu0", "gpu1", "cpu", "old"]
    assert [node["name"] for node in found["nodes"]] == ["a", "b"]
    assert sum(node["height"] * node["width"] for node in found["nodes"]) == 20 * 20
    areas = [(end - top) * (right - left) for top, end, left, right in found["spans"]]
    assert sum(areas) == 320 * 320
    assert areas[0] > areas[2] > areas[3]
    assert found["makespan"] == max(found["seconds"])
    said = evener(*words)
    assert said.code == 0
    assert "320 x 320 entries in blocks of 64 on 2 nodes: a step takes" in said.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--matrix", 64], "--matrix works with --hierarchical"),
        (["--matrix", 64, "--hierarchical", "--n", 5], "--n does not work with --matrix"),
        (["--matrix", 64, "--hierarchical", "--low", 1], "--low does not work with --matrix"),
        (["--matrix", 64, "--hierarchical", "--epsilon", 0], "an --epsilon above zero"),
        (["--matrix", 9, "--hierarchical"], "a matrix of side 9 has no blocks of side 64"),
        (["--matrix", 64, "--hierarchical"], "no device has a place"),
        (["--block", 9, "--n", 5], "--block works with --measure"),
    ],
)
def test_a_matrix_refused(evener, curves, words, message):
    said = evener("sizes", "--speeds", curves, *words)
    assert (said.code, message in said.err) == (2, True)
