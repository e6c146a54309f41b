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
    assert lines[0] == ["device", "size", "speed", "capacity", "seconds"]
    assert [line[0] for line in lines[1:4]] == ["gpu", "cpu", "old"]
    assert "500 units on 3 devices: all done after" in said.out
    said = evener("sizes", "--speeds", curves, "--n", 3)
    assert "3 units on 1 device, 2 get nothing" in said.out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--n", 500, "--method", "best"], 2, "a method is one of auto, constant"),
        (["--n", 500, "--k", 3], 2, "--machine and --k do not go along"),
        (["--n", 500, "--edges", 3], 2, "capacities"),
        (["--n", 0], 2, "--n must be above zero"),
        ([], 2, "the load is --n N"),
    ],
)
def test_refused_as_usage(evener, curves, words, code, message):
    said = evener("sizes", "--speeds", curves, *words)
    assert (said.code, said.out) == (code, "")
    assert message in said.err


def test_loads_that_nobody_measured_are_named(evener, curves):
    said = evener("sizes", "--speeds", curves, "--n", 500)
    assert "beyond the samples" not in said.out
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
    assert "23 units short: all devices together hold 477 units, 500 are asked" in said.err


def test_a_missing_file_and_a_method_without_curves(evener, tmp_path):
    said = evener("sizes", "--speeds", tmp_path / "none.toml", "--n", 5)
    assert said.code == 3
    said = evener("sizes", "--speeds", "1,2", "--n", 5, "--method", "exact")
    assert said.code == 2
    assert "--method goes with --speeds FILE" in said.err


def test_what_taking_part_costs(evener, curves):
    words = ["sizes", "--speeds", curves, "--n", 500, "--explain"]
    said = evener(*words, "--fixed-seconds", "0,0,3")
    assert "taking part costs it 3 s; all is done after 2.924 s" in said.out
    assert "2 of 3 devices are worth using" in said.out
    found = json.loads(evener(*words, "--shared-seconds", "0,0,3", "--json").out)
    assert found["sizes"][2] == 0
    assert found["reasons"][2] == "not worth the 3 s that it costs all"
    assert 0.3 < found["gain"] < 0.6
    assert evener(*words, "--shared-seconds", 0.1).code == 0


@pytest.mark.parametrize("seconds", ["-1", "1,2", "soon", "nan"])
def test_costs_that_are_none(evener, curves, seconds):
    said = evener("sizes", "--speeds", curves, "--n", 5, f"--fixed-seconds={seconds}")
    assert (said.code, said.out) == (2, "")
    assert "--fixed-seconds takes" in said.err
