"""evener distribute: a folder of parts for the graph of a plan, or a refusal and no folder."""

import json

import pytest

import evener as ev
from tests.assertions import grid
from tests.running.test_distributing import same


@pytest.fixture
def planned(place, evener):
    """g.graph and g.plan, of three devices."""
    return place


def test_parts_are_those_of_python(planned, evener):
    said = evener("distribute", "g.plan", "g.graph", "-o", "parts")
    assert said.code == 0, said.err
    assert said.out.splitlines()[-1] == "Written: parts: 3 devices"
    graph, plan = ev.read("g.graph").graph, ev.read_plan("g.plan")
    for part in ev.distribute(graph, plan):
        read = ev.read_distributed("parts", part.rank)
        assert read.owned.tolist() == part.owned.tolist()
        assert read.out.ends.tolist() == part.out.ends.tolist()
    index = json.loads((planned / "parts" / "index.json").read_text())
    assert [device["name"] for device in index["devices"]] == plan.platform.names
    assert index["inputs"] == dict(plan.inputs)


def test_json(planned, evener):
    said = json.loads(evener("distribute", "g.plan", "g.graph", "-o", "parts", "--json").out)
    assert (said["written"], said["vertices"], said["directed"]) == ("parts", 72, False)
    assert sum(device["owned"] for device in said["devices"]) == 72
    assert sum(device["arcs"] for device in said["devices"]) == said["arcs"] == 2 * grid(8, 9).m


def test_without_the_graph_in_memory_parts_are_the_same(planned, evener):
    assert evener("distribute", "g.plan", "g.graph", "-o", "parts").code == 0
    said = evener("distribute", "g.plan", "g.graph", "-o", "pieces", "--out-of-core")
    assert said.code == 0, said.err
    for rank in range(3):
        assert same(*(ev.read_distributed(folder, rank) for folder in ("parts", "pieces")))
    index = json.loads((planned / "pieces" / "index.json").read_text())
    assert index["inputs"].items() <= dict(ev.read_plan("g.plan").inputs).items()
    ev.write_graph("h.graph", grid(9, 8))
    said = evener("distribute", "g.plan", "h.graph", "-o", "other", "--out-of-core")
    assert "h.graph: is not the file the plan was made from" in said.err
    said = evener("distribute", "g.plan", "g.graph", "-o", "other", "--out-of-core", "--by", "x")
    assert said.code == 2
    (planned / "k.gr").write_text("p edge 2 1\ne 1 2\n")
    said = evener("distribute", "g.plan", "k.gr", "-o", "other", "--out-of-core")
    assert (
        "k.gr cannot be read in pieces: Evener reads the format dimacs only as a whole" in said.err
    )
    assert not (planned / "other").exists()


def test_another_graph_is_refused(planned, evener):
    ev.write_graph("h.graph", grid(9, 8))
    said = evener("distribute", "g.plan", "h.graph", "-o", "parts")
    assert said.code == 3
    assert "h.graph: is not the file the plan was made from" in said.err
    assert not (planned / "parts").exists()


def test_an_existing_folder_is_replaced_only_if_asked_for(planned, evener):
    words = ["distribute", "g.plan", "g.graph", "-o", "parts"]
    assert evener(*words).code == 0
    before = (planned / "parts" / "index.json").read_bytes()
    said = evener(*words)
    assert (said.code, said.out) == (2, "")
    assert "parts already exists\nUse --force to replace it." in said.err
    assert evener(*words, "--force").code == 0
    assert (planned / "parts" / "index.json").read_bytes() == before
    (planned / "parts" / "mine.txt").write_text("")
    assert evener(*words, "--force").code == 3


def test_names_in_the_wrong_place_are_refused(planned, evener):
    said = evener("distribute", "g.graph", "g.plan", "-o", "parts")
    assert said.code == 3
    assert not (planned / "parts").exists()
    assert evener("distribute", "g.plan", "g.graph", "-o", "g.plan").code == 3
    assert evener("distribute", "g.plan", "g.graph", "-o", "no/parts").code == 3
