"""Edge partitions in files of other programs: read back, they are the same."""

import json

import numpy as np
import pytest

from evener.errors import InputError, UsageError
from evener.graphs.edge_list import EdgeList
from evener.io.plans import kinds
from evener.io.plans.edge_exports import EDGE_EXPORTS, EdgeEnds, write_edge_part
from evener.io.plans.edge_plan import read_edge_part, write_edge_plan
from evener.planning.split import split

EDGES = EdgeList(4, [0, 0, 1, 1, 2], [1, 2, 2, 3, 3], [3, 1, 1, 2, 2])
NAMES = np.array(["a", "b c", 'd"', "=e"])
ENDS = EdgeEnds((NAMES[EDGES.tails], NAMES[EDGES.heads]), EDGES.weights)


@pytest.fixture(scope="module")
def plan():
    return split(EDGES, 2, epsilon=0.5)


@pytest.mark.parametrize("to", EDGE_EXPORTS)
def test_blocks_are_read_back(plan, tmp_path, to):
    path = tmp_path / "x"
    assert write_edge_part(path, plan, to) == [str(path)]
    assert read_edge_part(path, 5).tolist() == plan.partition.part.tolist()
    assert kinds.kind_in(path) == kinds.VERTICES


def test_tables_hold_the_ends(plan, tmp_path):
    write_edge_part(tmp_path / "x.csv", plan, "csv", ends=ENDS)
    lines = (tmp_path / "x.csv").read_text().splitlines()
    b = plan.partition.part
    assert lines[0] == "u,v,block,device"
    assert lines[1] == f"a,b c,{b[0]},dev{b[0]}"
    assert lines[5] == f'"d""",\'=e,{b[4]},dev{b[4]}'
    write_edge_part(tmp_path / "x.json", plan, "json")
    assert json.loads((tmp_path / "x.json").read_text())["devices"] == ["dev0", "dev1"]


def test_a_list_for_each_device(plan, tmp_path):
    names = write_edge_part(tmp_path / "lists", plan, "lists", ends=ENDS)
    assert [name.split("/")[-1] for name in names] == ["0.edges", "1.edges"]
    found = [(tmp_path / "lists" / f"{b}.edges").read_text().splitlines() for b in range(2)]
    spelled = ["a", '"b c"', '"d"""', "=e"]
    for b in range(2):
        own = np.flatnonzero(plan.partition.part == b)
        assert found[b] == [
            f"{spelled[EDGES.tails[e]]} {spelled[EDGES.heads[e]]} {EDGES.weights[e]}" for e in own
        ]


def test_what_cannot_be_written_is_refused(plan, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    for to, ends, path, reason in (
        ("vtu", None, "x", "edges cannot be exported to 'vtu'"),
        ("lists", None, "x", "need the graph"),
        ("lists", ENDS, "full", "already exists"),
    ):
        with pytest.raises(UsageError, match=reason):
            write_edge_part(tmp_path / path, plan, to, ends=ends)
    with pytest.raises(InputError, match="5 edges, not 1"):
        write_edge_part(tmp_path / "x", plan, "csv", ends=EdgeEnds((NAMES[:1], NAMES[:1])))


def test_files_of_another_length_are_refused_in_the_words_of_edges(plan, tmp_path):
    (tmp_path / "x.part").write_text("0\n1\n")
    with pytest.raises(InputError, match="blocks of 2 edges; 5 are needed"):
        read_edge_part(tmp_path / "x.part", 5)
    write_edge_plan(tmp_path / "x.plan", plan)
    assert kinds.kind_in(tmp_path / "x.plan") == kinds.EDGES
    assert kinds.kind_in(tmp_path / "none") == kinds.VERTICES
